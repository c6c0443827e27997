"""EC2: launch templates and placement groups; instances, volumes, snapshots and interfaces that a cluster may leave."""

from facts.catalogue import instance_type
from facts.prices import hourly
from facts.resources.api_calls import ApiCall, Members, boolean, creation, pairs, titled
from facts.resources.ec2 import TAGGING, by_name, deletion, described, rights
from facts.resources.identity import by
from facts.resources.latency import INSTANT, Latencies
from facts.resources.outputs import Answer, Draw, Inputs
from facts.resources.queries import VOLUME_TAGS, Entry, Leftover, Origin, Stage, States
from facts.resources.resource_type import Changes, Conflict, Foreign, NameLimit, ResourceType, Without
from facts.resources.rights import INTERFACES, OWNED

_INTERFACE: Members = {
    **titled("networkCardIndex", "deviceIndex", "interfaceType"),
    "deleteOnTermination": ("DeleteOnTermination", boolean),
    "securityGroups": "Groups",
}
_BLOCK_DEVICE: Members = {
    "deviceName": "DeviceName",
    "ebs": (
        "Ebs",
        {
            **titled("volumeType", "volumeSize"),
            "encrypted": ("Encrypted", boolean),
            "deleteOnTermination": ("DeleteOnTermination", boolean),
        },
    ),
}
_RESERVATION: Members = {"capacityReservationTarget": ("CapacityReservationTarget", titled("capacityReservationId"))}
_LAUNCH_TEMPLATE: Members = {
    "name": "LaunchTemplateName",
    "description": "VersionDescription",
    "instanceType": "LaunchTemplateData.InstanceType",
    "userData": "LaunchTemplateData.UserData",
    "vpcSecurityGroupIds": "LaunchTemplateData.SecurityGroupIds",
    "blockDeviceMappings": ("LaunchTemplateData.BlockDeviceMappings", [_BLOCK_DEVICE]),
    "networkInterfaces": ("LaunchTemplateData.NetworkInterfaces", [_INTERFACE]),
    "metadataOptions": ("LaunchTemplateData.MetadataOptions", titled("httpEndpoint", "httpTokens", "httpPutResponseHopLimit")),
    "placement": ("LaunchTemplateData.Placement", titled("groupName")),
    "instanceMarketOptions": ("LaunchTemplateData.InstanceMarketOptions", titled("marketType")),
    "capacityReservationSpecification": ("LaunchTemplateData.CapacityReservationSpecification", _RESERVATION),
    "tagSpecifications": ("LaunchTemplateData.TagSpecifications", [{"resourceType": "ResourceType", "tags": ("Tags", pairs)}]),
}


def _make_launch_template(draw: Draw, inputs: Inputs) -> Answer:
    template = f"lt-{draw.hex()}"
    return template, {"arn": draw.arn("ec2", f"launch-template/{template}"), "latestVersion": 1, "defaultVersion": 1}


_TEMPLATES = described("DescribeLaunchTemplates", "LaunchTemplates", "LaunchTemplateId", absent="InvalidLaunchTemplateId.NotFound")
LAUNCH_TEMPLATE = ResourceType(
    "aws:ec2/launchTemplate:LaunchTemplate",
    make=_make_launch_template,
    latencies=Latencies(INSTANT),
    changes=Changes(replacing=("name",), calls=("CreateLaunchTemplateVersion", "ModifyLaunchTemplate"), name="name"),
    identity=by("name"),
    creation=creation(ApiCall("ec2", "CreateLaunchTemplate", _LAUNCH_TEMPLATE), later=("updateDefaultVersion",)),
    lookup=by_name(_TEMPLATES, "launch-template-name", "LaunchTemplateName"),
    tagging=TAGGING,
    deletion=deletion("DeleteLaunchTemplate", "LaunchTemplateId"),
    rights=rights(
        "DescribeLaunchTemplates DescribeLaunchTemplateVersions",
        "CreateLaunchTemplate",
        "CreateLaunchTemplateVersion ModifyLaunchTemplate DeleteLaunchTemplate",
    ),
    costs=Without("what it launches bills, it does not"),
    leftover=Leftover("launch template", Stage.OUTSIDE, _TEMPLATES, label="{LaunchTemplateName}", scopes=OWNED),
    conflict=Conflict(
        # github-aws-runners/terraform-aws-github-runner#1382
        ("name",),
        "InvalidLaunchTemplateName.AlreadyExistsException",
        "Launch template name already in use.",
    ),
    name_limit=NameLimit("name", 128, "EC2 API, CreateLaunchTemplate"),
)


def _make_placement_group(draw: Draw, inputs: Inputs) -> Answer:
    name = inputs["name"]
    return name, {"arn": draw.arn("ec2", f"placement-group/{name}"), "placementGroupId": f"pg-{draw.hex()}"}


_PLACEMENT_GROUPS = described(
    "DescribePlacementGroups",
    "PlacementGroups",
    "GroupName",
    states=States("State", "available", ("pending",), (), ("deleting", "deleted")),
    absent="InvalidPlacementGroup.Unknown",
)
PLACEMENT_GROUP = ResourceType(
    "aws:ec2/placementGroup:PlacementGroup",
    make=_make_placement_group,
    latencies=Latencies(INSTANT),
    changes=Changes(replacing=("name", "strategy"), name="name"),
    identity=by("name"),
    creation=creation(ApiCall("ec2", "CreatePlacementGroup", {"name": "GroupName", "strategy": "Strategy"})),
    lookup=by_name(_PLACEMENT_GROUPS, "group-name", "GroupName"),
    tagging=TAGGING,
    deletion=deletion("DeletePlacementGroup", "GroupName"),
    rights=rights("DescribePlacementGroups", "CreatePlacementGroup", "DeletePlacementGroup"),
    costs=Without("a placement group has no price"),
    leftover=Leftover("placement group", Stage.OUTSIDE, _PLACEMENT_GROUPS, label="{GroupName}"),
    conflict=Conflict(("name",), "InvalidPlacementGroup.Duplicate", "The Placement Group '{name}' already exists."),
    name_limit=NameLimit("name", 255, "EC2 API, CreatePlacementGroup"),
)

TYPES = (LAUNCH_TEMPLATE, PLACEMENT_GROUP)


def _instance_usd(entry: Entry) -> float | None:
    """A stopped instance bills its volumes only."""
    if entry["State"]["Name"] in ("shutting-down", "stopped"):
        return 0.0
    try:
        return instance_type(entry["InstanceType"]).price_usd_per_hour
    except KeyError:
        return None


INSTANCE = Foreign(
    # Of node groups and of Karpenter.
    Leftover(
        "instance",
        Stage.NODES,
        described(
            "DescribeInstances",
            "Reservations[].Instances",
            "InstanceId",
            states=States("State.Name", "running", ("pending",), (), ("shutting-down", "terminated")),
            vpc="VpcId",
            vpc_filter="vpc-id",
            absent="InvalidInstanceID.NotFound",
        ),
        "tags or VPC",
        only={"instance-state-name": ("pending", "running", "shutting-down", "stopping", "stopped")},
        label="{InstanceType} {Name}",
        usd_per_hour=_instance_usd,
        scopes=OWNED,
    ),
    deletion("TerminateInstances", "InstanceIds[]", "InstanceId"),
)
_VOLUMES = described(
    "DescribeVolumes",
    "Volumes",
    "VolumeId",
    states=States("State", "available", ("creating",), ("error",), ("deleting", "deleted")),
    absent="InvalidVolume.NotFound",
)
SNAPSHOT = Foreign(
    # Of the EBS driver's snapshotter, which tags them as it does volumes (kubernetes-sigs/aws-ebs-csi-driver docs/tagging.md), or made
    # by hand or by a backup plan, of one of the cluster's volumes.
    Leftover(
        "snapshot",
        # Before volumes: one without tags is the cluster's by its volume.
        Stage.IN_NETWORK,
        described(
            "DescribeSnapshots",
            "Snapshots",
            "SnapshotId",
            states=States("State", "completed", ("pending",), ("error",), ()),
            absent="InvalidSnapshot.NotFound",
        ),
        # Without it EC2 lists every public snapshot, and those that others share.
        constants={"OwnerIds": ["self"]},
        origin=Origin(_VOLUMES, "VolumeId", "volume-id"),
        label="of {VolumeId}, {VolumeSize} GiB",
        is_data=True,
        # Billed by the blocks that changed since the snapshot before, which no description has.
        usd_per_hour=lambda entry: None,
        scopes=OWNED,
    ),
    deletion("DeleteSnapshot", "SnapshotId"),
)
VOLUME = Foreign(
    Leftover(
        "volume",
        Stage.IN_NETWORK,
        _VOLUMES,
        # Those that nothing uses: attached ones go with their instance.
        only={"status": ("available",)},
        label="{Size} GiB {VolumeType}",
        data_tags=VOLUME_TAGS,
        usd_per_hour=lambda entry: hourly("gp3 volume") * entry["Size"] if entry["VolumeType"] == "gp3" else None,
        scopes=OWNED,
    ),
    deletion("DeleteVolume", "VolumeId"),
)
INTERFACE = Foreign(
    Leftover(
        "network interface",
        Stage.INTERFACES,
        described(
            "DescribeNetworkInterfaces",
            "NetworkInterfaces",
            "NetworkInterfaceId",
            vpc="VpcId",
            vpc_filter="vpc-id",
            tags="TagSet",
            absent="InvalidNetworkInterfaceID.NotFound",
        ),
        "tags or VPC",
        # Those in use go with their holder.
        only={"status": ("available",)},
        scopes=INTERFACES,
    ),
    deletion("DeleteNetworkInterface", "NetworkInterfaceId"),
)
FOREIGN = (INSTANCE, SNAPSHOT, VOLUME, INTERFACE)
