"""The program refuses a change of what a cluster keeps for life, before anything is changed.

Source: hashicorp/terraform-provider-aws internal/service/eks/cluster.go, read 2026-11: of a change of the key the provider tells EKS
nothing, and reports no error, and other subnets are an update like any other. The engine would then delete the key that the stack
made, under a cluster that still needs it, or build a second VPC with a file system in it before EKS refuses. `protect` on the key
would stop every `pulumi destroy`, `retain_on_delete` would leave a key behind after each: so the program refuses the change
instead, and the key is deleted in its turn.
"""

from dataclasses import dataclass

import pulumi

from facts.permanent import FILE_SYSTEM, KEPT, KEY_OF_STACK, refuse_change


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
    given_file_system: str | None = None
    """Id of the file system that others keep."""

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
            **({FILE_SYSTEM: self.given_file_system} if self.given_file_system else {}),
        }

    def kept(self, own_file_system: str | None) -> dict[str, str]:
        """The same once the cluster is there. `own_file_system`: id of the one that the stack made."""
        known = {key: value for key, value in self.remembered.items() if key != FILE_SYSTEM}
        return {**known, **({FILE_SYSTEM: own_file_system} if own_file_system else {})}


def kept_for_life(name: str) -> pulumi.ResourceHookBinding:
    """A hook of the component that holds everything: it refuses such a change before anything is changed, in previews too.

    Below it nothing is registered before its own update has passed; beside the network, a second VPC would be there by then.
    `name` is unique in the program.
    """

    def before_update(args: pulumi.ResourceHookArgs) -> None:
        refuse_change((args.old_outputs or {}).get(KEPT), args.new_inputs)

    return pulumi.ResourceHookBinding(before_update=[pulumi.ResourceHook(name, before_update, pulumi.ResourceHookOptions(on_dry_run=True))])
