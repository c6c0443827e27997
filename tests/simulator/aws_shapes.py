"""Checks a request against the API's own shapes: the service models that botocore ships, read from disk.

botocore's own validation knows neither enums nor patterns. Nothing here needs a client, credentials or the network.
"""

import difflib
import re
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any

from botocore.loaders import Loader
from botocore.model import ServiceModel

from simulator.aws_requests import Request

DOCUMENTED_VALUES: Mapping[tuple[str, str, str], tuple[Any, ...]] = {
    ("autoscaling", "Tag", "ResourceType"): ("auto-scaling-group",),
    ("ec2", "IpPermission", "IpProtocol"): ("tcp", "udp", "icmp", "icmpv6", "-1"),
    ("ec2", "LaunchTemplateInstanceNetworkInterfaceSpecificationRequest", "InterfaceType"): ("interface", "efa", "efa-only"),
    ("ec2", "LaunchTemplateTagSpecificationRequest", "ResourceType"): ("instance", "volume", "network-interface", "spot-instances-request"),
    ("eks", "CreateAccessEntryRequest", "type"): (
        "STANDARD", "FARGATE_LINUX", "EC2_LINUX", "EC2_WINDOWS", "EC2", "HYBRID_LINUX", "HYPERPOD_LINUX",
    ),
    ("eks", "EncryptionConfig", "resources"): ("secrets",),
    ("fsx", "CreateFileSystemLustreConfiguration", "PerUnitStorageThroughput"): (12, 40, 50, 100, 125, 200, 250, 500, 1000),
    ("fsx", "CreateFileSystemRequest", "FileSystemTypeVersion"): ("2.10", "2.12", "2.15"),
    ("logs", "PutRetentionPolicyRequest", "retentionInDays"): (
        1, 3, 5, 7, 14, 30, 60, 90, 120, 150, 180, 365, 400, 545, 731, 1096, 1827, 2192, 2557, 2922, 3288, 3653,
    ),
}  # fmt: skip
"""Values that the text of a member lists and its shape does not, by service, structure and member (botocore 1.44.5)."""
BORROWED_ENUMS: Mapping[tuple[str, str, str], tuple[str, str]] = {
    ("eks", "CreateNodegroupRequest", "instanceTypes"): ("ec2", "InstanceType")
}
"""Members that are plain text in one service and an enum in another."""
LISTED_AT_MOST = 30
"""Allowed values that a message spells out; of longer lists it names the nearest."""

Shape = Any
"""A shape of botocore.model, whose attributes carry no types."""

_KINDS: Mapping[str, type | tuple[type, ...]] = {
    "structure": Mapping, "list": list, "map": Mapping, "string": str, "boolean": bool,
    "integer": int, "long": int, "float": (int, float), "double": (int, float),
}  # fmt: skip
_WITH_LENGTH: Mapping[str, str] = {"list": "entries", "map": "entries", "string": "characters"}
# Java's classes of letters, digits and separators; its pairs of surrogates are one character in Python.
_TRANSLATED = {r"\p{L}": r"\w", r"\p{N}": r"\d", r"\p{Z}": r"\s", r"\uD800\uDC00-\uDBFF\uDFFF": r"\U00010000-\U0010FFFF"}


def shape_errors(request: Request) -> list[str]:
    """What AWS would refuse in a request before it looks at the account, one sentence each; empty where nothing is wrong.

    Required and unknown members, types, lengths, ranges, patterns and enums. Each sentence names path, value and what is allowed.
    """
    shape: Shape = service_model(request.service).operation_model(request.operation).input_shape
    return sorted(f"{request.service} {request.operation}: {error}" for error in _errors(request.service, shape, request.parameters, ""))


@cache
def service_model(service: str) -> ServiceModel:
    """The newest model of a service among those botocore ships; models in the user's home directory are left out."""
    loader = Loader(extra_search_paths=[Loader.BUILTIN_DATA_PATH], include_default_search_paths=False)
    return ServiceModel(loader.load_service_model(service, "service-2"), service_name=service)


def _errors(service: str, shape: Shape, value: Any, path: str) -> Iterator[str]:
    kind = shape.type_name
    if not isinstance(value, _KINDS[kind]) or isinstance(value, bool) != (kind == "boolean"):
        yield f"`{path}` is `{value!r}`, allowed: {kind}"
        return
    yield from _limits(shape, value, path)
    if kind == "structure":
        yield from _structure(service, shape, value, path)
    elif kind == "list":
        for index, item in enumerate(value):
            yield from _errors(service, shape.member, item, f"{path}[{index}]")
    elif kind == "map":
        for key, item in value.items():
            yield from _errors(service, shape.key, key, f"{path}: key {key}")
            yield from _errors(service, shape.value, item, f"{path}.{key}")
    elif kind == "string":
        yield from _text(shape, value, path)


def _structure(service: str, shape: Shape, value: Mapping[str, Any], path: str) -> Iterator[str]:
    prefix = f"{path}." if path else ""
    for name in shape.required_members:
        if name not in value:
            yield f"`{prefix}{name}` is missing"
    for name, item in value.items():
        member = shape.members.get(name)
        if member is None:
            close = difflib.get_close_matches(name, list(shape.members), n=1)
            yield f"`{prefix}{name}` is no member of {shape.name}" + (f"; did you mean `{close[0]}`?" if close else "")
            continue
        yield from _errors(service, member, item, f"{prefix}{name}")
        yield from _documented(_documented_values(service, shape.name, name), item, f"{prefix}{name}")


def _documented_values(service: str, structure: str, member: str) -> tuple[Any, ...]:
    """Values known from elsewhere than the member's own shape; empty where there are none."""
    borrowed = BORROWED_ENUMS.get((service, structure, member))
    if borrowed is not None:
        shape: Shape = service_model(borrowed[0]).shape_for(borrowed[1])
        return tuple(shape.enum)
    return DOCUMENTED_VALUES.get((service, structure, member), ())


def _documented(allowed: tuple[Any, ...], value: Any, path: str) -> Iterator[str]:
    if not allowed:
        return
    for item in value if isinstance(value, list) else [value]:
        if item not in allowed:
            yield f"`{path}` is `{item}`, allowed: {_listed(item, allowed)}"


def _limits(shape: Shape, value: Any, path: str) -> Iterator[str]:
    low, high = shape.metadata.get("min"), shape.metadata.get("max")
    counted = _WITH_LENGTH.get(shape.type_name)
    measure = len(value) if counted else value
    if (low is None or measure >= low) and (high is None or measure <= high):
        return
    allowed = f"{low} to {high}" if low is not None and high is not None else f"at least {low}" if high is None else f"at most {high}"
    yield f"`{path}` is `{value}` with {measure} {counted}, allowed: {allowed}" if counted else f"`{path}` is `{value}`, allowed: {allowed}"


def _text(shape: Shape, value: str, path: str) -> Iterator[str]:
    if shape.enum and value not in shape.enum:
        yield f"`{path}` is `{value}`, allowed: {_listed(value, tuple(shape.enum))}"
    pattern = shape.metadata.get("pattern")
    if pattern is not None and _compiled(pattern).fullmatch(value) is None:
        yield f"`{path}` is `{value}`, allowed: text that matches {pattern}"


def _listed(value: Any, allowed: tuple[Any, ...]) -> str:
    if len(allowed) <= LISTED_AT_MOST:
        return ", ".join(str(item) for item in allowed)
    near = difflib.get_close_matches(str(value), [str(item) for item in allowed], n=3, cutoff=0)
    return f"{', '.join(near)} and {len(allowed) - len(near)} more"


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    """A model's pattern for Python. It is meant for the whole text, anchors or not."""
    translated = pattern
    for java, python in _TRANSLATED.items():
        translated = translated.replace(java, python)
    # Java's \w and \d are ASCII; only the classes of letters and digits go beyond.
    # Java takes a flag in the middle, from there on; Python takes it for the whole pattern only.
    case = re.IGNORECASE if "(?i)" in translated else re.NOFLAG
    return re.compile(translated.replace("(?i)", ""), case | (re.NOFLAG if r"\p{" in pattern else re.ASCII))
