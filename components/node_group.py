"""A managed node group with the launch template that its interfaces, disk and user data live in."""

import base64
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import pulumi
import pulumi_aws as aws

from components.component import Component
from facts import names
from facts.efa import NetworkInterface

ROOT_DEVICE = "/dev/xvda"
AUTOSCALER_TAG = "k8s.io/cluster-autoscaler/node-template/resources"


@dataclass(frozen=True)
class NodeGroupArgs:
    """What a node group is made from."""

    group_name: str
    """Name in EKS, unique in the cluster."""
    cluster_name: str
    """Literal name, for names and tags."""
    control_plane_name: pulumi.Input[str]
    """The control plane's name output: the group is made after the control plane and vpc-cni, and deleted before them."""
    node_role_arn: pulumi.Input[str]
    subnet_ids: Sequence[pulumi.Input[str]]
    security_group_ids: Sequence[pulumi.Input[str]]
    """The cluster's group and the nodes' own, on every interface."""
    ami_type: str
    kubernetes_version: str
    instance_type: str
    desired_size: int
    min_size: int
    max_size: int
    autoscaled: bool = False
    """Leave the desired size to an autoscaler."""
    scheduled: bool = False
    """Leave the desired size to schedules: the program sets it only when the group is made."""
    release_version: str | None = None
    interfaces: Sequence[NetworkInterface] = ()
    """EFA layout; empty means one ordinary interface."""
    user_data: str | None = None
    """MIME text."""
    root_volume_gib: int = 100
    metadata_hop_limit: int = 1
    """2 lets pods outside the host network reach the instance metadata."""
    labels: Mapping[str, str] = field(default_factory=dict)
    taint_key: str | None = None
    """Taint with effect NO_SCHEDULE; None leaves the group open to all pods."""
    capacity_type: str = "ON_DEMAND"
    capacity_reservation_id: str | None = None
    placement_group: bool = False
    node_repair: bool = True
    minimal_updates: bool = False
    """Terminate before launch on updates: needs no spare quota, right for scarce instances."""
    scale_from_zero: Mapping[str, int] = field(default_factory=dict)
    """Extended resources per node, put on the Auto Scaling group for an autoscaler that sees no node yet."""
    tags: Mapping[str, str] = field(default_factory=dict)
    """On instances, volumes and interfaces: the provider's default tags do not reach those."""


class NodeGroup(Component):
    """Launch template, group, and the tags that let it grow from zero."""

    name: pulumi.Output[str]
    group: aws.eks.NodeGroup

    def __init__(
        self, name: str, args: NodeGroupArgs, *, after: Sequence[pulumi.Resource] = (), opts: pulumi.ResourceOptions | None = None
    ) -> None:
        """`after`: what a node needs to boot and join: its way out, its role's policies, the CNI's identity."""
        super().__init__("trn:components:NodeGroup", name, opts)
        self._name, self._args = name, args
        self._child = pulumi.ResourceOptions(parent=self)
        template = self._launch_template()
        self.group = self._node_group(template, after)
        self.name = self.group.node_group_name
        self._autoscaling_tags()
        self.register_outputs({"name": self.name})

    @property
    def _from_block(self) -> bool:
        return self._args.capacity_type == "CAPACITY_BLOCK"

    def _launch_template(self) -> aws.ec2.LaunchTemplate:
        # No ImageId and no SubnetId: with the first EKS neither picks nor upgrades the AMI, with the second it refuses.
        args = self._args
        named = {**args.tags, "Name": f"{args.cluster_name}-{args.group_name}"}
        return aws.ec2.LaunchTemplate(
            self.named(self._name),
            name=names.launch_template_name(args.cluster_name, args.group_name),
            description=f"Nodes of {args.group_name} in {args.cluster_name}",
            update_default_version=True,
            # EKS wants the type here for a capacity block, and in the group otherwise.
            instance_type=args.instance_type if self._from_block else None,
            block_device_mappings=[
                {
                    "device_name": ROOT_DEVICE,
                    "ebs": {
                        "volume_type": "gp3",
                        "volume_size": args.root_volume_gib,
                        "encrypted": "true",
                        "delete_on_termination": "true",
                    },
                }
            ],
            metadata_options={
                "http_endpoint": "enabled",
                "http_tokens": "required",
                "http_put_response_hop_limit": args.metadata_hop_limit,
            },
            network_interfaces=[self._interface(interface) for interface in args.interfaces] or None,
            vpc_security_group_ids=None if args.interfaces else list(args.security_group_ids),
            user_data=base64.b64encode(args.user_data.encode()).decode() if args.user_data else None,
            placement={"group_name": self._placement_group().name} if args.placement_group else None,
            instance_market_options={"market_type": "capacity-block"} if self._from_block else None,
            capacity_reservation_specification=(
                {"capacity_reservation_target": {"capacity_reservation_id": args.capacity_reservation_id}}
                if args.capacity_reservation_id
                else None
            ),
            tag_specifications=[{"resource_type": kind, "tags": named} for kind in ("instance", "volume", "network-interface")],
            opts=self._child,
        )

    def _interface(self, interface: NetworkInterface) -> aws.ec2.LaunchTemplateNetworkInterfaceArgsDict:
        return {
            "network_card_index": interface.card,
            "device_index": interface.device,
            "interface_type": interface.kind,
            "delete_on_termination": "true",
            "security_groups": list(self._args.security_group_ids),
        }

    def _placement_group(self) -> aws.ec2.PlacementGroup:
        name = names.launch_template_name(self._args.cluster_name, self._args.group_name)
        return aws.ec2.PlacementGroup(self.named(self._name), name=name, strategy="cluster", opts=self._child)

    def _node_group(self, template: aws.ec2.LaunchTemplate, after: Sequence[pulumi.Resource]) -> aws.eks.NodeGroup:
        args = self._args
        return aws.eks.NodeGroup(
            self.named(self._name),
            cluster_name=args.control_plane_name,
            node_group_name=args.group_name,
            node_role_arn=args.node_role_arn,
            subnet_ids=list(args.subnet_ids),
            ami_type=args.ami_type,
            # With it nodes follow the control plane's upgrade, and a pinned release meets the version it belongs to.
            version=args.kubernetes_version,
            release_version=args.release_version,
            capacity_type=args.capacity_type,
            instance_types=None if self._from_block else [args.instance_type],
            # The number, not "$Latest": EKS stores the number, and "$Latest" would differ on every run.
            launch_template={"id": template.id, "version": template.latest_version.apply(str)},
            scaling_config={"desired_size": args.desired_size, "min_size": args.min_size, "max_size": args.max_size},
            update_config={"max_unavailable": 1, "update_strategy": "MINIMAL" if args.minimal_updates else "DEFAULT"},
            node_repair_config={"enabled": args.node_repair},
            labels={**args.labels, names.GROUP_LABEL: args.group_name},
            taints=[{"key": args.taint_key, "value": "true", "effect": "NO_SCHEDULE"}] if args.taint_key else None,
            tags={"Name": args.group_name},
            opts=pulumi.ResourceOptions(
                parent=self,
                depends_on=list(after),
                # The provider deletes first where an input forces it; `pulumi up --replace` and `pulumi state taint`, the ways
                # out of CREATE_FAILED, make first without this, and meet the group's own name.
                delete_before_replace=True,
                ignore_changes=self._sized_by_others(),
            ),
        )

    def _sized_by_others(self) -> list[str] | None:
        """Paths that a later run leaves alone. Schedules set limits and size together, so that all of it is theirs: with a changed limit
        the provider sends the desired size of its own last run as well, which would start nodes at night, or empty a running block
        (hashicorp/terraform-provider-aws internal/service/eks/node_group.go, Update)."""
        if self._args.scheduled:
            return ["scalingConfig"]
        return ["scalingConfig.desiredSize"] if self._args.autoscaled else None

    def _autoscaling_tags(self) -> None:
        # Tags of the group do not reach its Auto Scaling group, where an autoscaler looks.
        tags = {f"{AUTOSCALER_TAG}/{resource}": str(count) for resource, count in self._args.scale_from_zero.items()}
        if self._args.autoscaled:
            tags[names.AUTOSCALED_TAG] = "true"
        for key, value in tags.items():
            aws.autoscaling.Tag(
                self.named(f"{self._name}-{key.rsplit('/', 1)[-1]}"),
                autoscaling_group_name=self.group.resources[0].autoscaling_groups[0].name,
                tag={"key": key, "value": value, "propagate_at_launch": False},
                opts=self._child,
            )
