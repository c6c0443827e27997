"""What a cluster keeps from its first day to its last, and the words in which a change of it is refused. Pure.

The program refuses such a change (components/permanent.py), and a rehearsal says the same (simulator/engine/permanent.py).
Sources: EKS user guide, enable-kms; EKS API, UpdateClusterConfig: "You can't change which VPC the subnets are from", and its
InvalidParameterException for another set of zones; hashicorp/terraform-provider-aws internal/service/eks/cluster.go, read 2026-11.
"""

from collections.abc import Mapping
from typing import Any

KEY_OF_STACK = "made by the stack"
"""In place of an ARN: the stack made the key of Kubernetes secrets."""
KEPT = "kept"
"""Output of the component that holds everything: what it keeps, from the day on which the cluster is there."""
NAME, REGION = "clusterName", "region"
"""Which cluster it is: with another of them another cluster takes its place."""


def is_holder(inputs: Mapping[str, Any]) -> bool:
    """Whether these are inputs of the component that holds everything."""
    return NAME in inputs and REGION in inputs and bool(_REFUSALS.keys() & inputs.keys())


def refusals(made: Mapping[str, Any] | None, wanted: Mapping[str, Any] | None) -> list[str]:
    """A sentence for each thing that would change; none where all of it stays, where there is no cluster yet, and for another cluster.

    `made`: what is remembered of a cluster that is there; an earlier version of the program may have said less of it.
    `wanted`: new inputs of the component.
    """
    old, new = dict(made or {}), dict(wanted or {})
    if any(old.get(part) != new.get(part) for part in (NAME, REGION)):
        return []
    changed = [key for key in _REFUSALS if old.get(key) not in (None, new.get(key))]
    return [_sentence(key, str(new.get(NAME)), str(old[key]), new.get(key)) for key in changed]


def _sentence(key: str, cluster: str, old: str, new: Any) -> str:
    law, what, fix = _REFUSALS[key]
    return f"{law}: that of cluster {cluster} is {old}, and cannot become {new}. {fix(old)}; {what}"


def _key_fix(old: str) -> str:
    return "Remove `controlPlane.encryptionKeyArn`" if old == KEY_OF_STACK else f"Set `controlPlane.encryptionKeyArn: {old}`"


def _vpc_fix(old: str) -> str:
    if old.startswith("vpc-"):
        return f"Set `network.existing.vpcId: {old}`"
    return f"Set `network.cidr: {old}`, without `network.existing`"


def _zones_fix(old: str) -> str:
    return f"Set `controlPlane.zones: [{old}]`, or give `network.existing.controlPlane` subnets in just these zones"


def _role_fix(old: str) -> str:
    path, _, name = old.rpartition("/")
    return f"Set `controlPlane.roleName: {name}`, {f'and `iam.path: /{path}/`' if path else 'without `iam.path`'}"


_REFUSALS = {
    "encryptionKey": (
        "EKS takes a key for Kubernetes secrets once",
        "another key needs another cluster, with another `name`",
        _key_fix,
    ),
    "vpc": (
        "EKS keeps a control plane in the VPC that it was made in",
        "another VPC needs another cluster, with another `name`",
        _vpc_fix,
    ),
    "zones": (
        "EKS keeps the interfaces of a control plane in the set of zones that it was made in",
        "another set needs another cluster, with another `name`; nodes may be in any zone of the VPC",
        _zones_fix,
    ),
    "role": (
        "EKS keeps the role that a control plane was made with",
        "another role needs another cluster, with another `name`",
        _role_fix,
    ),
}
"""By key of what is remembered: what EKS says, what to do for another one, and the setting that keeps the old."""
