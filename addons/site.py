"""What add-ons are built on: the cluster, its nodes and networks, and the add-ons that are there already."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol, TypeVar

import pulumi
import pulumi_aws as aws
import pulumi_kubernetes as k8s

from addons.cluster import Cluster


class Installed(Protocol):
    """An add-on that is there already."""

    ready: list[pulumi.Resource]
    """What an add-on that needs this one waits for."""


InstalledType = TypeVar("InstalledType", bound=Installed)


@dataclass
class Site:
    """One cluster, ready for add-ons. `made` grows as they are made."""

    cluster: Cluster
    parent: pulumi.Resource
    aws_provider: pulumi.ProviderResource
    kubernetes_provider: k8s.Provider
    """Waits for the core nodes: so does all that is in the cluster."""
    control_plane_name: pulumi.Output[str]
    control_plane_arn: pulumi.Output[str]
    vpc_id: pulumi.Output[str]
    core: pulumi.Resource
    """The untainted nodes."""
    node_subnets: Mapping[str, aws.ec2.Subnet]
    """By zone id."""
    node_security_group_ids: Sequence[pulumi.Input[str]]
    tags: Mapping[str, str]
    """On everything: the user's, and those that mark the owner."""
    owner_tags: Mapping[str, str]
    """Those that mark the owner alone, for what controllers in the cluster make."""
    default_class: pulumi.Resource
    """The default storage class."""
    namespace: k8s.core.v1.Namespace = field(init=False)
    """The training namespace, which comes after the early add-ons."""
    claim: list[pulumi.Resource] = field(default_factory=list)
    """The file system's claim, where there is one."""
    volume: list[pulumi.Resource] = field(default_factory=list)
    """The claim's volume."""
    made: dict[str, Installed] = field(default_factory=dict)
    """By key."""

    def ready(self, *keys: str) -> list[pulumi.Resource]:
        """What waits for these add-ons waits for; those that are off are left out."""
        return [resource for key in keys if key in self.made for resource in self.made[key].ready]

    def find(self, key: str, kind: type[InstalledType]) -> InstalledType | None:
        """An add-on that was made before; None where it is off."""
        found = self.made.get(key)
        assert found is None or isinstance(found, kind), key
        return found
