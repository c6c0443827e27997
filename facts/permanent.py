"""What a cluster keeps from its first day to its last: its region, its role, the key of its secrets, its VPC, and the zones of its control plane;
and the file system that its stack made, which no setting may call another's for as long as the stack would delete it.

Sources: EKS user guide, enable-kms; EKS API, UpdateClusterConfig: "You can't change which VPC the subnets are from", and its
InvalidParameterException for another set of zones; hashicorp/terraform-provider-aws internal/service/eks/cluster.go, read
2026-11: of another role the provider would replace the cluster. Another name makes another cluster, which the engine puts in its
place. Another region would make a second cluster of the same name, and the one that runs would be deleted with all that is in it.
The family of its addresses, its service CIDR and its bootstrap settings are constants of the program.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from facts.names import CONTROL_PLANE_ROLE
from facts.typed import typed

KEY_OF_STACK = "made by the stack"
PARTS = ("clusterName", "region", "vpc", "zones", "encryptionKey", "role")
"""Inputs of the component that holds everything: which cluster it is, and what it keeps."""
FILE_SYSTEM = "fileSystem"
"""Input of that component with the id of a file system that others keep; in what the state remembers, of the one that the stack made."""
KEPT = "kept"
"""Output of that component: what it keeps, from the day on which the cluster is there."""


class PermanentChanged(Exception):
    """Something that a running cluster keeps would change."""


@dataclass(frozen=True)
class KeptPart:
    """One thing that a cluster keeps and a change would not leave."""

    wrong: str
    """What EKS keeps, as it is and as it would be."""
    fix: str
    """The setting that keeps it, as a command to the reader."""
    otherwise: str
    """What to do for another one."""

    def __str__(self) -> str:
        return f"{self.wrong}. {self.fix}; {self.otherwise}"


def kept_parts(made: Mapping[str, Any] | None, wanted: Mapping[str, Any] | None) -> list[KeptPart]:
    """What would change; empty where all of it stays, where there is no cluster yet, and where another cluster takes its place.

    `made`: what the state remembers of a cluster that is there; an earlier version of the program may have said less of it.
    `wanted`: new inputs of the component.
    """
    old, new = dict(made or {}), dict(wanted or {})
    if old.get("clusterName") != new.get("clusterName"):
        return []
    if old.get("region") not in (None, new.get("region")):
        # All else differs there as well, and goes back with it.
        return [_kept("region", old, new)]
    changed = [_kept(key, old, new) for key in _REFUSALS if old.get(key) not in (None, new.get(key))]
    given = new.get(FILE_SYSTEM)
    return [*changed, given_away(given)] if given and given == old.get(FILE_SYSTEM) else changed


def given_away(file_system: str) -> KeptPart:
    """The stack's own file system, which the settings say that others keep: the engine would delete it with its data."""
    return KeptPart(
        f"the stack made the file system {file_system}, and `{typed('pulumi up')}` would delete it with its data, since `storage.lustre.existing` says"
        " that others keep it",
        "Remove `storage.lustre.existing`",
        "to give it away, follow docs/existing.md: the state has to forget it first",
    )


def refuse_change(made: Mapping[str, Any] | None, wanted: Mapping[str, Any] | None) -> None:
    """Raises PermanentChanged with all that `kept_parts` finds."""
    changed = kept_parts(made, wanted)
    if changed:
        raise PermanentChanged("; ".join(map(str, changed)))


def _kept(key: str, old: Mapping[str, Any], new: Mapping[str, Any]) -> KeptPart:
    law, otherwise, fix = _REFUSALS[key]
    wrong = f"{law}: that of cluster {new.get('clusterName')} is {old[key]}, and cannot become {new.get(key)}"
    return KeptPart(wrong, fix(str(old[key])), otherwise)


def _key_fix(old: str) -> str:
    return "Remove `controlPlane.encryptionKeyArn`" if old == KEY_OF_STACK else f"Set `controlPlane.encryptionKeyArn: {old}`"


def _vpc_fix(old: str) -> str:
    if old.startswith("vpc-"):
        return f"Set `network.existing.vpcId: {old}`"
    return f"Set `network.cidr: {old}`, without `network.existing`"


def _zones_fix(old: str) -> str:
    return f"Set `controlPlane.zones: [{old}]`, or give `network.existing.controlPlane` subnets in just these zones"


def _role_fix(old: str) -> str:
    if old.startswith("arn:"):
        return f"Set `iam.roles.{CONTROL_PLANE_ROLE}: {old}`"
    path, _, name = old.rpartition("/")
    return f"Set `controlPlane.roleName: {name}`, {f'and `iam.path: /{path}/`' if path else 'without `iam.path`'} and `iam.roles.{CONTROL_PLANE_ROLE}`"


_REFUSALS = {
    "region": (
        "a cluster stays in the region that it was made in",
        "a cluster in another region needs a stack of its own: `trn init NAME`",
        lambda old: f"Set `region: {old}`",
    ),
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
