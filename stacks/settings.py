"""The configuration of a stack as frozen models: every key, its default, and what the default does.

YAML spells the keys in camelCase. What one key alone can get wrong is refused here, what keys get wrong together in
`stacks.rules`. `docs/config.schema.json` and `docs/configuration.md` are made from these classes; the sections of add-ons are in the add-ons' folders.
"""

from typing import Annotated, Literal

from pydantic import Field

from addons.versions import SUPPORTED_KUBERNETES
from facts import budgets, text_formats
from facts.catalogue import CORE_TYPES, NEURON_TYPES
from facts.efa import EfaLayout
from facts.names import CLUSTER_NAME, CONTROL_PLANE_ROLE, EFA_LABEL, GIVEN_ROLES, NODE_GROUP_NAME_LIMIT, role_name
from facts.section import KUBERNETES_NAME, Formed, OneOf, Section
from facts.toolchains import TOOLCHAINS
from stacks.addon_sections import Addons
from stacks.candidates import Candidate
from stacks.group_times import CapacityBlock, Schedule

CORE_ZONE_COUNT = 2
"""Zones of the core group, the first of the network: another one would replace the group, and with it every add-on's node."""
CONTROL_PLANE_ZONE_COUNT = 2
"""Zones of the control plane's interfaces, the first of the network: the fewest that EKS takes (EKS user guide, network-reqs)."""
LOG_RETENTION_DAYS = (1, 3, 5, 7, 14, 30, 60, 90, 120, 150, 180, 365, 400, 545, 731, 1096, 1827, 2192, 2557, 2922, 3288, 3653)
"""Retentions that CloudWatch Logs takes (CloudWatch Logs API, PutRetentionPolicy)."""


ZoneSubnets = dict[str, Annotated[str, Formed(text_formats.SUBNET_ID)]]
"""Subnets by zone id."""


class ExistingNetwork(Section):
    """A VPC that others keep: the stack is put into it, and makes, changes and deletes nothing of it."""

    vpc_id: Annotated[str, Formed(text_formats.VPC_ID)]
    """The VPC. Another one takes another cluster, with another `name`: EKS keeps a control plane in the VPC in which it was made."""
    nodes: ZoneSubnets
    """Subnets of nodes and pods: one for each zone of `network.zones`, by zone id."""
    control_plane: ZoneSubnets = Field(default_factory=dict)
    """Subnets of the control plane's interfaces and of the file system, by zone id, in two zones or more. Empty means those of `nodes` in `controlPlane.zones`. A running cluster keeps this set of zones."""
    load_balancers: ZoneSubnets = Field(default_factory=dict)
    """Public subnets in which controllers may put load balancers that face the internet, by zone id. None by default."""
    internal_load_balancers: ZoneSubnets = Field(default_factory=dict)
    """Subnets in which controllers may put internal load balancers, by zone id. None by default."""
    isolated: bool = False
    """Nothing leads from the nodes to the internet: services of AWS are reached by endpoints of the VPC only, and add-ons leave out calls that have none."""
    tag_subnets: bool = False
    """Put the tags on the subnets by which controllers find them; `trn network describe` lists them. Destroying the stack deletes exactly these tags, also where another cluster has come to rely on them."""


class Network(Section):
    """The VPC and its ways out."""

    zones: tuple[str, ...] = Field(min_length=2, max_length=4)
    """Zone ids, the training zone first. Ids, not names: a name means another zone in each account. Append only: the core group stays in the first two."""
    cidr: str = "10.1.0.0/21"
    """Primary block of the VPC. A running cluster keeps it: another VPC takes another cluster, with another `name`."""
    pod_cidr: str = "100.64.0.0/16"
    """Secondary block for nodes and pods. Changing it replaces all nodes."""
    nat: Literal["single", "per-zone", "none"] = "single"
    """NAT gateways. One is cheapest; one per zone survives the loss of a zone; none needs interface endpoints."""
    s3_endpoint: bool = True
    """Gateway endpoint for S3, free: image layers and data sets then bypass the NAT gateway's price per GB."""
    interface_endpoints: tuple[Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9.-]*$")], ...] = ()
    """AWS services reached through interface endpoints, such as `ecr.api`. None by default; each costs by the hour."""
    existing: ExistingNetwork | None = None
    """A VPC that is there already, used in place of one of the stack's own. With it the keys that shape an own VPC (`cidr`, `podCidr`, `nat`, `s3Endpoint`, `interfaceEndpoints`) are refused."""


class AccessEntry(Section):
    """One principal that may use the Kubernetes API."""

    principal_arn: Annotated[str, Formed(text_formats.PRINCIPAL_ARN)]
    """ARN of an IAM role or user."""
    policy: Literal["AmazonEKSClusterAdminPolicy", "AmazonEKSAdminPolicy", "AmazonEKSEditPolicy", "AmazonEKSViewPolicy"] = (
        "AmazonEKSClusterAdminPolicy"
    )
    """EKS access policy. The default may do everything in the cluster."""
    namespaces: tuple[Annotated[str, Formed(text_formats.NAMESPACES)], ...] = ()
    """Namespaces the policy is limited to; `team-*` are all that begin so. Empty means the whole cluster."""


LogType = Literal["api", "audit", "authenticator", "controllerManager", "scheduler"]


class ControlPlane(Section):
    """The EKS control plane."""

    kubernetes_version: Annotated[str, OneOf(SUPPORTED_KUBERNETES, "write it as text in quotes: an unquoted 1.30 becomes 1.3 in YAML")] = (
        "1.35"
    )
    """Kubernetes minor, in quotes."""
    zones: tuple[str, ...] = ()
    """Zone ids of its network interfaces, two or more of `network.zones`. Empty means the first two, so that a zone appended later moves nothing: a running cluster keeps the set of zones that it was made in."""
    support_type: Literal["STANDARD", "EXTENDED"] = "STANDARD"
    """With STANDARD, EKS upgrades the control plane when standard support ends; EXTENDED costs six times as much by then."""
    public_access_cidrs: tuple[str, ...] = ()
    """Who may reach the public endpoint. Empty means no public endpoint: `pulumi up` must then run inside the VPC."""
    access_entries: dict[str, AccessEntry] = Field(default_factory=dict)
    """Principals with access, by a name of your choice. The principal that creates the cluster is its administrator already and must not be named."""
    log_types: tuple[LogType, ...] = ("api", "audit", "authenticator")
    """Control-plane logs sent to CloudWatch, billed by volume."""
    log_retention_days: int = 30
    """Days the control-plane logs are kept."""
    encryption_key_arn: Annotated[str, Formed(text_formats.KMS_KEY_ARN)] | None = None
    """KMS key for Kubernetes secrets. Without it the stack makes one of its own. EKS takes a key once: a running cluster keeps the one it was made with."""
    role_name: Annotated[str, Formed(text_formats.ROLE_NAME)] | None = None
    """Name of the control plane's IAM role. Without it, it is built from the cluster's name. For a cluster that `trn import` took over: EKS keeps the role that a cluster was made with: another name is refused while the cluster is up."""
    deletion_protection: bool = False
    """With it EKS refuses to delete the cluster, and `pulumi destroy` stops there, until it is off again."""


class CoreNodes(Section):
    """The untainted node group that carries the add-ons."""

    instance_type: Annotated[str, OneOf(tuple(CORE_TYPES), "take one of the listed types, m5.xlarge is usual")] = "m5.xlarge"
    """Instance type; its price is part of the idle cost."""
    min_size: int = Field(default=2, ge=1)
    """Fewest nodes."""
    desired_size: int = Field(default=2, ge=1)
    """Nodes at the start. Two keep Volcano's replicas on different nodes."""
    max_size: int = Field(default=8, ge=1)
    """Most nodes."""
    autoscaled: bool = False
    """Leave the size to an autoscaler: later runs do not set it back."""
    root_volume_gib: int = Field(default=100, ge=20, le=16384)
    """Encrypted gp3 root volume, GiB. Changing it rolls the nodes."""
    kubernetes_version: str | None = None
    """Kubernetes minor of the nodes, in quotes. Without it they follow the control plane. Up to three minors older, so that a control plane can be upgraded before its nodes are rolled; `trn upgrade` sets and removes it."""
    release_version: str | None = None
    """AMI release, such as `1.35.4-20260505`. Without it EKS takes the newest when the group is made."""


class Nodes(Section):
    """What all nodes share: the core group's, the Neuron groups' and Karpenter's."""

    session_manager: bool = False
    """Let Systems Manager open shells on the nodes (`aws ssm start-session`), by AmazonSSMManagedInstanceCore on their roles; free of charge. Off: with it every process that reaches the node's credentials can read all SSM parameters of the account."""


class NodeGroup(Section):
    """One group of Neuron nodes."""

    instance_type: Annotated[str, OneOf(tuple(NEURON_TYPES), "see docs/hardware.md for what each type has")]
    """Trainium or Inferentia instance type."""
    size: int = Field(default=0, ge=0)
    """Nodes wanted. The group is made empty at 0 and costs nothing then."""
    min_size: int = Field(default=0, ge=0)
    """Fewest nodes; 0 lets the group be emptied for the night."""
    max_size: int | None = Field(default=None, ge=1)
    """Most nodes. Without it, `size`, and at least 1."""
    autoscaled: bool = False
    """Leave the size to an autoscaler: later runs do not set it back."""
    zone_ids: tuple[str, ...] = ()
    """Zones of the group. Empty means the first zone of `network.zones`; a group with EFA has exactly one."""
    efa: bool | None = None
    """EFA interfaces on every card. Without it, on where the type has EFA."""
    efa_layout: EfaLayout = "efa-primary"
    """How the interfaces are laid out; see docs/hardware.md. Changing it rolls the group's nodes."""
    capacity_type: Literal["ON_DEMAND", "SPOT", "CAPACITY_BLOCK"] = "ON_DEMAND"
    """How the instances are bought. Spot nodes go with two minutes' notice: not for a gang of training workers."""
    capacity_reservation_id: str | None = Field(default=None, pattern=r"^cr-[0-9a-f]{17}$")
    """Capacity reservation or capacity block that the instances come from."""
    capacity_block: CapacityBlock | None = None
    """Times of the capacity block, with `capacityType: CAPACITY_BLOCK`. Without them the group has `size` nodes at once, which fails before the block has begun."""
    candidates: tuple[Candidate, ...] = ()
    """Further places that will do. None by default. They change nothing by themselves: `trn check --pick GROUP` looks at the account, asks, and writes the best of them into this file."""
    schedule: Schedule | None = None
    """Hours without nodes. None by default; `size` is then what the group is made with and goes back to."""
    placement_group: bool = False
    """Put the nodes in a cluster placement group: close together, for less and steadier latency between them. AWS recommends one for EFA above a few nodes. Off, since all nodes must then be had at one place, so that a launch finds no capacity sooner, and with a reservation, which has a place of its own, often none at all. Changing it rolls the nodes."""
    kubernetes_version: str | None = None
    """Kubernetes minor of the nodes, in quotes. Without it they follow the control plane. Up to three minors older, so that a control plane can be upgraded before its nodes are rolled; `trn upgrade` sets and removes it. A change rolls the nodes."""
    release_version: str | None = None
    """AMI release, such as `1.35.4-20260505`. Without it EKS takes the newest, with the newest Neuron driver. A change rolls the nodes."""
    node_repair: bool = True
    """Let EKS replace nodes that stop being ready."""
    root_volume_gib: int = Field(default=100, ge=20, le=16384)
    """Encrypted gp3 root volume, GiB; images and logs go to the instance store where there is one. Changing it rolls the nodes."""
    logical_core_size: Literal[1, 2] | None = None
    """Physical cores per logical core, Trainium2 only. Without it, the AMI's 2."""
    labels: dict[str, str] = Field(default_factory=dict)
    """Further node labels."""


class DataRepository(Section):
    """A link between the file system and an S3 prefix."""

    s3_uri: Annotated[str, Formed(text_formats.S3_URI)]
    """Bucket, or bucket and prefix."""
    path: Annotated[str, Formed(text_formats.FILE_SYSTEM_PATH)] = "/data"
    """Directory of the file system that mirrors the prefix."""
    error_log: bool = False
    """Write what FSx could not import or export to the log group /aws/fsx/NAME, kept as long as the control plane's logs and billed by volume. Without it a file that never reached S3 is seen nowhere."""


class ExistingFileSystem(Section):
    """A Lustre file system that others keep: pods mount it, and the stack makes, changes and deletes nothing of it."""

    file_system_id: Annotated[str, Formed(text_formats.FILE_SYSTEM_ID)]
    """The file system, of the stack's account and region. Another one is mounted in place of it; jobs that mount the claim are stopped for that."""
    mount_name: Annotated[str, Formed(text_formats.MOUNT_NAME)]
    """Its mount name, which FSx gave it. `trn check` compares it."""
    client_security_group_id: Annotated[str, Formed(text_formats.SECURITY_GROUP_ID)] | None = None
    """Security group of the VPC that all nodes get besides their own, where the file system lets clients in by it. Without it, the file system must let in the addresses of the nodes' subnets. Changing it rolls all nodes."""


class Lustre(Section):
    """FSx for Lustre: the file system every training pod mounts."""

    enabled: bool = True
    """Make the file system, its volume and its claim."""
    existing: ExistingFileSystem | None = None
    """A file system that is there already, mounted in place of one of the stack's own; its volume and claim are made. With it the keys that shape an own file system are refused, and there is no class that makes one for each claim. It takes `network.existing`."""
    capacity_gib: int = Field(default=1200, ge=1200, le=2_147_483_647)
    """Size in GiB: 1200, or a multiple of 2400. It grows in place and never shrinks."""
    throughput_mbps_per_tib: Literal[125, 250, 500, 1000] = 125
    """Throughput per TiB, MB/s. The default gives 146 MB/s at 1200 GiB, an eighth of the original blueprint's, which had 2400 GiB at 500."""
    zone_id: str | None = None
    """Zone of the file system. Without it, the first zone of `network.zones`. Another zone means another, empty file system."""
    compression: Literal["LZ4", "NONE"] = "LZ4"
    """Compression of the data at rest."""
    final_backup: bool = False
    """Take a backup when the file system is deleted; it stays, and bills, after the cluster is gone."""
    backup_retention_days: int = Field(default=0, ge=0, le=90)
    """Days that daily backups are kept; 0 makes none."""
    claim_name: str = Field(default="fsx-claim", pattern=f"^{KUBERNETES_NAME}$")
    """PersistentVolumeClaim in the training namespace. The BERT example mounts `fsx-claim`."""
    data_repository: DataRepository | None = None
    """S3 prefix linked to the file system. None by default."""
    dynamic_class: bool = True
    """Also install a StorageClass that makes a file system for each claim."""

    @property
    def is_own(self) -> bool:
        """Whether the stack makes the file system."""
        return self.enabled and self.existing is None

    @property
    def has_dynamic_class(self) -> bool:
        """Whether there is the class: it needs the subnet and the security group of an own file system."""
        return self.dynamic_class and self.is_own


class Storage(Section):
    """Where data lives."""

    lustre: Lustre = Lustre()
    """FSx for Lustre."""


class Iam(Section):
    """IAM roles that the stack makes."""

    permissions_boundary: Annotated[str, Formed(text_formats.POLICY_ARN)] | None = None
    """Policy that no role of the stack may go beyond, in accounts that allow no role without one. It must allow what the roles need; `trn check` asks whether it is there. Changed in place."""
    path: Annotated[str, Formed(text_formats.IAM_PATH)] = "/"
    """Path of all roles of the stack, where an account lets roles be made below one only, such as `/teams/training/`. Names do not change with it. Set it from the first day: IAM moves no role, and a running cluster keeps the role that it was made with."""
    roles: dict[
        Annotated[
            str,
            OneOf(
                GIVEN_ROLES,
                "these are the roles of the control plane, nodes, pods and schedules; docs/existing.md says what each must allow",
            ),
        ],
        Annotated[str, Formed(text_formats.ROLE_ARN)],
    ] = Field(default_factory=dict)
    """Roles that others keep, by what they are for: the stack makes no such role, policy or attachment, and changes none. `trn check` compares each with what the stack would have made. Another role for `node` replaces all node groups; that of `control-plane` is kept for the cluster's life."""


class Training(Section):
    """What the jobs bring."""

    namespace: str = Field(default="training", pattern=f"^{KUBERNETES_NAME}$")
    """Namespace of jobs, claim and etcd."""
    toolchain: Annotated[str, OneOf(tuple(TOOLCHAINS), "docs/toolchains.md says what each is")] | None = None
    """What the images of jobs bring, unless a job says otherwise: framework, SDK release and all that goes with it. With it, the instance types of node groups, and drivers of pinned and newest AMIs, are checked against it."""
    image_repository: Annotated[str, Formed(text_formats.ECR_REPOSITORY)] | None = None
    """Repository of the account's ECR registry that others keep: `trn image push` and `trn image build --push` put images into it, and make, tag and change nothing else of it. Without it, the cluster's own, NAME/training, which a first push makes."""


class BudgetAlarm(Section):
    """A budget of AWS Budgets for this cluster: messages when its costs of a month reach parts of a limit. It stops nothing."""

    limit_usd_per_month: float = Field(gt=0, le=1e9)
    """Limit of a calendar month, USD. Counted is what carries the cluster's tag in its region, before credits and refunds: the tag `trn:cluster` must be active in Billing, which `trn check` looks up."""
    actual_percent: tuple[Annotated[int, Field(ge=1, le=1000)], ...] = (80, 100)
    """Parts of the limit, in per cent, at which a message is sent once costs have reached them. Billing data is up to a day old."""
    forecast_percent: tuple[Annotated[int, Field(ge=1, le=1000)], ...] = (100,)
    """Parts of the limit that the forecast for the whole month reaches. AWS forecasts after about five weeks of costs."""
    emails: tuple[Annotated[str, Formed(text_formats.EMAIL)], ...] = Field(default=(), max_length=budgets.MOST_ADDRESSES)
    """Addresses that get the messages; they confirm nothing."""
    sns_topic_arn: Annotated[str, Formed(text_formats.SNS_TOPIC_ARN)] | None = None
    """SNS topic that gets the messages too. Its policy must let `budgets.amazonaws.com` publish; `trn check` looks it up."""


class Budget(Section):
    """What the stack may cost."""

    limit_usd_per_hour: float | None = Field(default=None, ge=0)
    """Most that the stack may cost by the hour; `trn check` fails where it costs more now, and warns where it may at full size. None by default."""
    alarm: BudgetAlarm | None = None
    """Messages when the costs of a month reach parts of a limit. None by default."""


class Settings(Section):
    """Everything a stack's configuration can say."""

    name: str = Field(pattern=f"^{CLUSTER_NAME}$")
    """Cluster name; all physical names start with it. Changing it replaces everything."""
    region: str = Field(pattern=r"^[a-z]{2}(-[a-z]+)+-\d$")
    """AWS region."""
    network: Network
    """VPC."""
    control_plane: ControlPlane = ControlPlane()
    """EKS control plane."""
    core_nodes: CoreNodes = CoreNodes()
    """Node group for the add-ons."""
    nodes: Nodes = Nodes()
    """All nodes."""
    node_groups: dict[Annotated[str, Field(pattern=f"^{KUBERNETES_NAME}$", max_length=NODE_GROUP_NAME_LIMIT)], NodeGroup] = Field(
        default_factory=dict
    )
    """Neuron node groups by name."""
    storage: Storage = Storage()
    """File systems."""
    iam: Iam = Iam()
    """IAM roles."""
    training: Training = Training()
    """Training jobs."""
    addons: Addons = Addons()
    """Add-ons."""
    budget: Budget = Budget()
    """What the stack may cost."""
    tags: dict[str, str] = Field(default_factory=dict)
    """Tags on everything AWS can tag, besides the program's own `trn:cluster`. Changing them rolls all nodes, jobs and all."""

    def zones_of(self, group: NodeGroup) -> tuple[str, ...]:
        """Zone ids of a node group, with the default filled in."""
        return group.zone_ids or self.network.zones[:1]

    @property
    def control_plane_zones(self) -> tuple[str, ...]:
        """Zone ids of the control plane's network interfaces."""
        existing = self.network.existing
        if existing is not None and existing.control_plane:
            return tuple(existing.control_plane)
        return self.control_plane.zones or self.network.zones[:CONTROL_PLANE_ZONE_COUNT]

    @property
    def lustre_zone(self) -> str:
        """Zone id of the file system."""
        return self.storage.lustre.zone_id or self.network.zones[0]


def control_plane_role(settings: Settings) -> str:
    """Name of the control plane's IAM role."""
    return settings.control_plane.role_name or role_name(settings.name, settings.region, CONTROL_PLANE_ROLE)


def kept_role(settings: Settings) -> str:
    """How the state remembers the control plane's role: the ARN of a given one, path and name of the stack's own.

    They differ for one and the same role: a stack that made it and is then given it would delete it below the cluster.
    """
    return settings.iam.roles.get(CONTROL_PLANE_ROLE) or f"{settings.iam.path[1:]}{control_plane_role(settings)}"


def existing_vpc(settings: Settings) -> str:
    """Id of the VPC that others keep; empty where the stack makes its own."""
    return settings.network.existing.vpc_id if settings.network.existing is not None else ""


def uses_efa(group: NodeGroup) -> bool:
    """Whether the group's nodes get EFA interfaces."""
    return NEURON_TYPES[group.instance_type].has_efa if group.efa is None else group.efa


def neuron_labels(group: NodeGroup) -> dict[str, str]:
    """Labels of the group's nodes: the user's own, and one that tells the EFA plug-in where interfaces are."""
    return {**group.labels, EFA_LABEL: "true"} if uses_efa(group) else dict(group.labels)


def largest_size(group: NodeGroup) -> int:
    """The most nodes the group may grow to."""
    return max(1, group.size, group.min_size) if group.max_size is None else group.max_size


def sized_by_time(group: NodeGroup) -> bool:
    """Whether schedules change the group's size, so that a run of the program leaves it alone."""
    return group.capacity_block is not None or group.schedule is not None


def size_when_made(group: NodeGroup) -> int:
    """Nodes that the group is made with: none on a capacity block that has times, since before its start no instance can be launched."""
    return 0 if group.capacity_block is not None else group.size
