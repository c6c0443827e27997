"""What a cluster keeps from its first day to its last: its role, the key of its secrets, its VPC, and the zones of its control plane.

Sources: EKS user guide, enable-kms; EKS API, UpdateClusterConfig: "You can't change which VPC the subnets are from", and its
InvalidParameterException for another set of zones; hashicorp/terraform-provider-aws internal/service/eks/cluster.go, read
2026-11: of a change of the key the provider tells EKS nothing, and reports no error, and other subnets are an update like any
other. The engine would then delete the key that the stack made, under a cluster that still needs it, or build a second VPC with
a file system in it before EKS refuses. `protect` on the key would stop every `pulumi destroy`, `retain_on_delete` would leave a
key behind after each: so the program refuses the change instead, and the key is deleted in its turn.

Of another role the provider would replace the cluster. Name and region make another cluster, which the engine puts in its place. The
family of its addresses, its service CIDR and its bootstrap settings are constants of the program. The words are in facts/permanent.py.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import pulumi

from facts.permanent import KEPT, KEY_OF_STACK, NAME, REGION, refusals


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
    """Of the control plane's IAM role, with its path before it where that is not /."""

    @property
    def remembered(self) -> dict[str, str]:
        """As the state keeps it."""
        return {
            NAME: self.cluster_name,
            REGION: self.region,
            "vpc": self.vpc,
            "zones": ", ".join(sorted(self.zone_ids)),
            "encryptionKey": self.encryption_key_arn or KEY_OF_STACK,
            "role": self.role_name,
        }


def refuse_change(made: Mapping[str, Any] | None, wanted: Mapping[str, Any] | None) -> None:
    """Pass where all of it stays, where there is no cluster yet, and where another cluster takes its place.

    `made`: what the state remembers of a cluster that is there. `wanted`: new inputs of the component. Raises PermanentChanged with
    everything that would change.
    """
    found = refusals(made, wanted)
    if found:
        raise PermanentChanged("; ".join(found))


def kept_for_life(name: str) -> pulumi.ResourceHookBinding:
    """A hook of the component that holds everything: it refuses such a change before anything is changed, in previews too.

    Below it nothing is registered before its own update has passed; beside the network, a second VPC would be there by then.
    `name` is unique in the program.
    """

    def before_update(args: pulumi.ResourceHookArgs) -> None:
        refuse_change((args.old_outputs or {}).get(KEPT), args.new_inputs)

    return pulumi.ResourceHookBinding(before_update=[pulumi.ResourceHook(name, before_update, pulumi.ResourceHookOptions(on_dry_run=True))])
