"""Keeps the key that encrypts the secrets of a running cluster: EKS takes one once, and no other ever after.

Sources: EKS user guide, enable-kms; hashicorp/terraform-provider-aws internal/service/eks/cluster.go, read 2026-11: of a
change of the key the provider tells EKS nothing, and reports no error. The engine would then delete the key that the stack
made, under a cluster that still needs it. `protect` on the key would stop every `pulumi destroy`, `retain_on_delete` would
leave a key behind after each: so the program refuses the change instead, and the key is deleted in its turn.
"""

from collections.abc import Mapping
from typing import Any

import pulumi

KEY_OF_STACK = "made by the stack"


class EncryptionKeyChanged(Exception):
    """The key of a running cluster would change."""


def identity(name: str, region: str, encryption_key_arn: str | None) -> dict[str, str]:
    """Which cluster, and which key: inputs of the control plane's component, and its outputs once the cluster is there."""
    return {"clusterName": name, "region": region, "encryptionKey": encryption_key_arn or KEY_OF_STACK}


def refuse_other_key(made: Mapping[str, Any] | None, wanted: Mapping[str, Any] | None) -> None:
    """Pass where the key stays, where there is no cluster yet, and where another cluster takes its place.

    `made`: outputs of the component in the state; those of a cluster that was never there lack the key. `wanted`: its new
    inputs. Raises EncryptionKeyChanged for another key of the same cluster.
    """
    old, new = dict(made or {}), dict(wanted or {})
    before, after = old.get("encryptionKey"), new.get("encryptionKey")
    if before in (None, after) or any(old.get(part) != new.get(part) for part in ("clusterName", "region")):
        return
    fix = "remove `controlPlane.encryptionKeyArn`" if before == KEY_OF_STACK else f"set `controlPlane.encryptionKeyArn: {before}`"
    raise EncryptionKeyChanged(
        f"EKS takes a key for Kubernetes secrets once: that of cluster {new.get('clusterName')} is {before}, and cannot become {after}."
        f" {fix[0].upper()}{fix[1:]}; another key needs another cluster, with another `name`"
    )


def one_key_for_life(name: str) -> pulumi.ResourceHookBinding:
    """A hook of the control plane's component that refuses another key before anything is changed, in previews too.

    `name` is unique in the program.
    """

    def before_update(args: pulumi.ResourceHookArgs) -> None:
        refuse_other_key(args.old_outputs, args.new_inputs)

    return pulumi.ResourceHookBinding(before_update=[pulumi.ResourceHook(name, before_update, pulumi.ResourceHookOptions(on_dry_run=True))])
