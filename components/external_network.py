"""A network that others keep: ids only, and on demand the tags by which controllers find its subnets."""

from collections.abc import Mapping
from dataclasses import dataclass

import pulumi
import pulumi_aws as aws

from components.component import Component
from components.place import Place
from facts.external.subnet_tags import SubnetTag


@dataclass(frozen=True)
class ExistingNetworkArgs:
    """What is used of a network. Subnets are by zone id."""

    vpc_id: str
    control_plane_subnets: Mapping[str, str]
    node_subnets: Mapping[str, str]
    file_system_subnets: Mapping[str, str]
    tags: tuple[SubnetTag, ...] = ()
    """Tags to put on its subnets; none leaves them as they are."""


class ExistingNetwork(Component):
    """Makes nothing but tags: VPC, subnets, routes and gateways are their owner's."""

    place: Place

    def __init__(self, name: str, args: ExistingNetworkArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("trn:components:ExistingNetwork", name, opts)
        for tag in args.tags:
            # A resource for each, so that a destroy deletes these tags and no others.
            aws.ec2.Tag(
                self.named(f"{name}-{tag.short_name}-{tag.subnet_id}"),
                resource_id=tag.subnet_id,
                key=tag.key,
                value=tag.value,
                opts=pulumi.ResourceOptions(parent=self),
            )
        vpc_id = pulumi.Output.from_input(args.vpc_id)
        self.place = Place(vpc_id, args.control_plane_subnets, args.node_subnets, args.file_system_subnets)
        self.register_outputs({"vpc_id": vpc_id})
