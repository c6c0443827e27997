"""What a cluster keeps from its first day to its last: its role, the key of its secrets, its VPC, and the zones of its control plane.

Sources: EKS user guide, enable-kms; EKS API, UpdateClusterConfig: "You can't change which VPC the subnets are from", and its
InvalidParameterException for another set of zones; hashicorp/terraform-provider-aws internal/service/eks/cluster.go, read
2026-11: of a change of the key the provider tells EKS nothing, and reports no error, and other subnets are an update like any
other. The engine would then delete the key that the stack made, under a cluster that still needs it, or build a second VPC with
a file system in it before EKS refuses. `protect` on the key would stop every `pulumi destroy`, `retain_on_delete` would leave a
key behind after each: so the program refuses the change instead, and the key is deleted in its turn.

Of another role the provider would replace the cluster. Name and region make another cluster, which the engine puts in its place. The family of its addresses,
its service CIDR and its bootstrap settings are constants of the program.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import pulumi

from facts.names import CONTROL_PLANE_ROLE

KEY_OF_STACK = "made by the stack"
KEPT = "kept"
"""Output of the component that holds everything: what it keeps, from the day on which the cluster is there."""


class PermanentChanged(Exception):
    """Something that a running cluster keeps would change."""


@dataclass(frozen=True)
class Identity:
    """Which cluster it is, and what it keeps: inputs of the component that holds everything, and its outputs once the cluster is there."""

    cluster_name: str
    region: str
    vpc: str
    """Id of a VPC that others keep, or the CIDR of the stack's own."""
    zone_ids: tuple[str, ...]
    """Of the control plane's subnets."""
    encryption_key_arn: str | None
    role_name: str
    """Of the control plane's IAM role, with its path before it where that is not /; its ARN where others keep it."""

    @property
    def remembered(self) -> dict[str, str]:
        """As the state keeps it."""
        return {
            "clusterName": self.cluster_name,
            "region": self.region,
            "vpc": self.vpc,
            "zones": ", ".join(sorted(self.zone_ids)),
            "encryptionKey": self.encryption_key_arn or KEY_OF_STACK,
            "role": self.role_name,
        }


def refuse_change(made: Mapping[str, Any] | None, wanted: Mapping[str, Any] | None) -> None:
    """Pass where all of it stays, where there is no cluster yet, and where another cluster takes its place.

    `made`: what the state remembers of a cluster that is there; an earlier version of the program may have said less of it.
    `wanted`: new inputs of the component. Raises PermanentChanged with everything that would change.
    """
    old, new = dict(made or {}), dict(wanted or {})
    if any(old.get(part) != new.get(part) for part in ("clusterName", "region")):
        return
    changed = [key for key in _REFUSALS if old.get(key) not in (None, new.get(key))]
    if changed:
        raise PermanentChanged("; ".join(_refusals(changed, str(new.get("clusterName")), old, new)))


def _refusals(changed: Iterable[str], cluster: str, old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterable[str]:
    for key in changed:
        law, what, fix = _REFUSALS[key]
        yield f"{law}: that of cluster {cluster} is {old[key]}, and cannot become {new.get(key)}. {fix(str(old[key]))}; {what}"


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


def kept_for_life(name: str) -> pulumi.ResourceHookBinding:
    """A hook of the component that holds everything: it refuses such a change before anything is changed, in previews too.

    Below it nothing is registered before its own update has passed; beside the network, a second VPC would be there by then.
    `name` is unique in the program.
    """

    def before_update(args: pulumi.ResourceHookArgs) -> None:
        refuse_change((args.old_outputs or {}).get(KEPT), args.new_inputs)

    return pulumi.ResourceHookBinding(before_update=[pulumi.ResourceHook(name, before_update, pulumi.ResourceHookOptions(on_dry_run=True))])
