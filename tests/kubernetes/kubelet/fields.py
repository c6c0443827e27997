"""What a pod can learn of itself: `fieldRef` and `resourceFieldRef` (Kubernetes documentation, Downward API)."""

import re
from collections.abc import Mapping
from decimal import ROUND_CEILING

from kubernetes.utils.quantity import parse_quantity

from tests.kubernetes.kubelet.pods import Object

_KEYED = re.compile(r"metadata\.(labels|annotations)\['(.+)'\]")


class UnknownField(ValueError):
    """The pod asks for a field that the downward API does not have."""


def field(pod: Object, path: str, addresses: Mapping[str, str]) -> str:
    """The value of a `fieldPath`; a label or annotation that is not there is empty.

    `addresses`: `podIP` and `hostIP`, which are not in the pod's object when its containers are made. Raises UnknownField.
    """
    metadata, spec = pod["metadata"], pod["spec"]
    if keyed := _KEYED.fullmatch(path):
        return (metadata.get(keyed.group(1)) or {}).get(keyed.group(2), "")
    plain = {
        "metadata.name": metadata["name"],
        "metadata.namespace": metadata["namespace"],
        "metadata.uid": metadata["uid"],
        "spec.nodeName": spec.get("nodeName", ""),
        "spec.serviceAccountName": spec.get("serviceAccountName", "default"),
        "status.podIP": addresses["podIP"],
        "status.podIPs": addresses["podIP"],
        "status.hostIP": addresses["hostIP"],
        "status.hostIPs": addresses["hostIP"],
    }
    if path in ("metadata.labels", "metadata.annotations"):
        return _lines(metadata.get(path.removeprefix("metadata.")) or {})
    if path not in plain:
        raise UnknownField(f"the downward API has no field {path}")
    return plain[path]


def resource(container: Object, name: str, divisor: str | None, allocatable: Mapping[str, str]) -> str:
    """The value of a `resourceFieldRef`, in units of the divisor and rounded up; without a limit, what the node can give."""
    side, _, kind = name.partition(".")
    resources = container.get("resources") or {}
    if side not in ("limits", "requests") or not kind:
        raise UnknownField(f"the downward API has no resource {name}")
    stated = (resources.get(side) or {}).get(kind)
    if stated is None:
        stated = (resources.get("limits") or {}).get(kind) if side == "requests" else allocatable.get(kind)
    unit = parse_quantity(divisor) if divisor and divisor != "0" else 1
    return str(int((parse_quantity(stated or "0") / unit).to_integral_value(rounding=ROUND_CEILING)))


def _lines(values: Mapping[str, str]) -> str:
    """Labels or annotations as a file has them: a line each, quoted, sorted by key."""
    return "\n".join(f'{key}="{_escaped(value)}"' for key, value in sorted(values.items()))


def _escaped(value: str) -> str:
    return value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
