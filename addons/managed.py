"""EKS managed add-ons at pinned versions, each with a role of its own where it calls AWS."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pulumi
import pulumi_aws as aws

from components.component import Component
from components.identity import ServiceAccount, service_account_role


@dataclass(frozen=True)
class ManagedAddonArgs:
    """What a managed add-on is made from."""

    addon: str
    """Name in EKS, such as `coredns`."""
    version: str
    control_plane_name: pulumi.Input[str]
    """The control plane's name output."""
    account: ServiceAccount | None = None
    """The service account that calls AWS, where there is one."""
    configuration: Mapping[str, Any] = field(default_factory=dict)
    """Values in the add-on's own schema."""


class ManagedAddon(Component):
    """One add-on. `after` holds nodes for add-ons with Deployments: without a node they are DEGRADED for 20 minutes."""

    addon: aws.eks.Addon

    def __init__(
        self, name: str, args: ManagedAddonArgs, *, after: Sequence[pulumi.Resource] = (), opts: pulumi.ResourceOptions | None = None
    ) -> None:
        super().__init__("trn:addons:ManagedAddon", name, opts)
        identity: list[pulumi.Input[aws.eks.AddonPodIdentityAssociationArgs]] = []
        needs = list(after)
        if args.account is not None:
            role = service_account_role(name, args.account, pulumi.ResourceOptions(parent=self))
            identity.append(aws.eks.AddonPodIdentityAssociationArgs(role_arn=role.arn, service_account=args.account.name))
            needs += role.grants
        self.addon = aws.eks.Addon(
            self.named(name),
            cluster_name=args.control_plane_name,
            addon_name=args.addon,
            addon_version=args.version,
            # EKS puts a self-managed coredns into each new cluster; ours takes it over.
            resolve_conflicts_on_create="OVERWRITE",
            resolve_conflicts_on_update="OVERWRITE",
            configuration_values=json.dumps(args.configuration, sort_keys=True) if args.configuration else None,
            pod_identity_associations=identity or None,
            opts=pulumi.ResourceOptions(parent=self, depends_on=needs),
        )
        self.register_outputs({"addon": self.addon.id})
