"""Where a cluster is built: a VPC and its subnets by what lies in them, whoever made them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import pulumi


@dataclass(frozen=True)
class Place:
    """A network as the rest of the stack sees it. Subnets are by zone id."""

    vpc_id: pulumi.Output[str]
    control_plane_subnets: Mapping[str, pulumi.Input[str]]
    """Ids: for the control plane's interfaces."""
    node_subnets: Mapping[str, pulumi.Input[str]]
    """Ids: for nodes and pods."""
    file_system_subnets: Mapping[str, pulumi.Input[str]]
    """Ids: one for each zone in which a file system may be."""
    egress: Sequence[pulumi.Resource] = ()
    """What must exist before a node can reach the registries and the control plane."""
