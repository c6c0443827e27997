"""The repository as a Pulumi package: the cluster as a component for programs in any language.

Pulumi starts this program as a plug-in, as PulumiPlugin.yaml says, and asks it for its schema or to construct a cluster.
"""

import json
import sys
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pulumi
from pulumi.provider import ConstructResult, Provider
from pulumi.provider.server import main
from pulumi.runtime.settings import get_monitor

from facts.problems import Problem, missing
from stacks.config import is_rehearsal, parse_settings
from stacks.package_schema import COMPONENT, PACKAGE, package_schema
from stacks.problems import ConfigurationError
from stacks.rules import notices
from stacks.trainium_cluster import TrainiumCluster

_ROOT = Path(__file__).parent.parent


class Package(Provider):
    """Constructs clusters."""

    def __init__(self) -> None:
        version = tomllib.loads((_ROOT / "pyproject.toml").read_text())["project"]["version"]
        super().__init__(version, json.dumps(package_schema(version)))

    def construct(
        self, name: str, resource_type: str, inputs: Mapping[str, Any], options: pulumi.ResourceOptions | None = None
    ) -> ConstructResult:
        """A cluster, from the keys of a stack file.

        Raises pulumi.InputPropertiesError with every mistake, in the words that a stack file's get.
        """
        if resource_type != COMPONENT:
            raise ValueError(f"{PACKAGE} has no component {resource_type}, only {COMPONENT}")
        outputs = list(_outputs(inputs))
        if outputs:
            raise _refused(name, outputs)
        try:
            settings = parse_settings(_plain(inputs), pulumi.get_stack(), rehearsal=is_rehearsal())
        except ConfigurationError as error:
            raise _refused(name, error.problems) from None
        for notice in notices(settings):
            pulumi.log.warn(notice)
        cluster = TrainiumCluster(name, settings, options, token=COMPONENT)
        return ConstructResult(cluster.urn, cluster.exports)


def _refused(name: str, problems: Sequence[Problem]) -> pulumi.InputPropertiesError:
    """All that is wrong, as one text. Beside each property that it is told of, Pulumi's engine prints the value, a secret's too
    (pulumi/pulumi pkg/resource/deploy/source_eval.go, errorToMessage). Without a list of them, even an empty one, the SDK fails."""
    body = "\n\n".join(map(str, problems))
    return pulumi.InputPropertiesError(f"{name}: {len(problems)} of its inputs cannot be used; nothing of it was created\n\n{body}", [])


def _outputs(value: Any, path: str = "") -> Iterator[Problem]:
    """Inputs whose value is not known here: outputs of other resources, and secrets. A language without types lets them through."""
    if isinstance(value, pulumi.Output):
        wrong = f"`{path}` is an output of another resource, or a secret, and the plan of the cluster needs the value itself"
        hint = "write the value down, or take it from this program's configuration or from another stack's outputs; no key of the cluster is secret"
        yield missing(path, wrong, hint=hint)
    elif isinstance(value, Mapping):
        for key, item in value.items():
            yield from _outputs(item, f"{path}.{key}" if path else str(key))
    elif isinstance(value, (list, tuple)):
        for index, item in enumerate(value):
            yield from _outputs(item, f"{path}[{index}]")


def is_plugin() -> bool:
    """Whether this process is to serve the package: it gets an engine's address, and no monitor to register resources with."""
    return get_monitor() is None and len(sys.argv) > 1


def serve() -> None:
    """Serve the package until Pulumi ends it; the address of the engine is the first argument."""
    main(Package(), sys.argv[1:])


def _plain(value: Any) -> Any:
    """Inputs as the reader of settings takes them: numbers arrive as floats, keys that are left out as None."""
    if isinstance(value, Mapping):
        return {key: _plain(item) for key, item in value.items() if item is not None}
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    return int(value) if isinstance(value, float) and value.is_integer() else value
