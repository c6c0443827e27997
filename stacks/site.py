"""What add-ons stand on: the cluster, its nodes and networks, and the add-ons that are there already."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import pulumi
import pulumi_aws as aws
import pulumi_kubernetes as k8s

from addons.base import Addon
from components.lustre import Lustre
from stacks.settings import Settings


@dataclass
class Site:
    """One cluster, ready for add-ons. `made` grows as they are made."""

    settings: Settings
    control_plane_name: pulumi.Output[str]
    control_plane_arn: pulumi.Output[str]
    vpc_id: pulumi.Output[str]
    core: pulumi.Resource
    """The untainted nodes."""
    node_subnets: Mapping[str, aws.ec2.Subnet]
    """By zone id."""
    node_security_group_ids: Sequence[pulumi.Input[str]]
    tags: Mapping[str, str]
    aws: pulumi.ResourceOptions
    """Options of what is in AWS alone."""
    kubernetes: pulumi.ResourceOptions
    """Options of what is in the cluster."""
    default_class: pulumi.Resource
    lustre: Lustre | None
    namespace: k8s.core.v1.Namespace = field(init=False)
    """The training namespace, which comes after the early add-ons."""
    claim: list[pulumi.Resource] = field(default_factory=list)
    """The file system's claim, where there is one."""
    made: dict[str, Addon] = field(default_factory=dict)
    """By key."""

    @property
    def name(self) -> str:
        """The cluster's literal name."""
        return self.settings.name

    @property
    def mirror(self) -> str | None:
        """Registry that holds all images, where there is one."""
        return self.settings.addons.mirror

    @property
    def kubernetes_version(self) -> str:
        """The cluster's minor."""
        return self.settings.control_plane.kubernetes_version

    def ready(self, *keys: str) -> list[pulumi.Resource]:
        """What waits for these add-ons waits for; those that are off are left out."""
        return [resource for key in keys if key in self.made for resource in self.made[key].ready]
