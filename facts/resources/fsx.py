"""FSx for Lustre: file systems, their links to S3, and backups."""

from collections.abc import Callable, Mapping

from facts.iam import FSX_NETWORK_CALLS
from facts.prices import hourly
from facts.resources.api_calls import ApiCall, Members, creation, pairs, titled
from facts.resources.identity import by, by_name_tag
from facts.resources.latency import Latencies, Latency, Lifetime
from facts.resources.outputs import Answer, Draw, Inputs
from facts.resources.queries import VOLUME_TAGS, Deletion, Entry, Leftover, Lookup, Query, Stage, States, Tagging
from facts.resources.resource_type import Changes, Conflict, Foreign, Listed, ResourceType, Without
from facts.resources.rights import BEING_TAGGED, OWNED, TAGGED, Grant, Rights, Scope, linked_role, names_of_inputs

_TAGGING = Tagging("fsx", "TagResource", "UntagResource", "ResourceARN", "Tags", read="ListTagsForResource")
_MISCONFIGURED = ("FAILED", "MISCONFIGURED", "MISCONFIGURED_UNAVAILABLE")


def _goes_down(key: str) -> Callable[[Inputs, Inputs], bool]:
    """Whether the change makes an input smaller."""
    return lambda old, new: float(new.get(key) or 0) < float(old.get(key) or 0)


def _make_file_system(draw: Draw, inputs: Inputs) -> Answer:
    file_system = f"fs-{draw.hex()}"
    return file_system, {
        "arn": draw.arn("fsx", f"file-system/{file_system}"),
        "dnsName": f"{file_system}.fsx.{draw.region}.{draw.dns_suffix}",
        "mountName": draw.letters(8, "mount"),
        "networkInterfaceIds": [f"eni-{draw.hex(what=f'eni{index}')}" for index in range(2)],
        "ownerId": draw.account,
    }


_LUSTRE: Members = {
    **titled("storageCapacity", "storageType", "securityGroupIds", "fileSystemTypeVersion"),
    # The provider takes one subnet and the API a list.
    "subnetIds": "SubnetIds[]",
    "tags": ("Tags", pairs),
    "logConfiguration": ("LustreConfiguration.LogConfiguration", titled("destination", "level")),
    **{
        name: f"LustreConfiguration.{name[0].upper()}{name[1:]}"
        for name in ("deploymentType", "perUnitStorageThroughput", "dataCompressionType", "automaticBackupRetentionDays")
    },
}


def _usd(entry: Entry) -> float | None:
    lustre = entry.get("LustreConfiguration", {})
    if lustre.get("DeploymentType") != "PERSISTENT_2" or entry.get("StorageType") != "SSD":
        return None
    return hourly(f"Lustre {lustre['PerUnitStorageThroughput']}") * entry["StorageCapacity"]


def _log_group(inputs: Inputs) -> Mapping[str, tuple[str, ...]]:
    """The log group of a file system that has one."""
    destination = (inputs.get("logConfiguration") or {}).get("destination")
    return {**names_of_inputs(inputs), **({"log_group": (str(destination).rpartition(":log-group:")[2],)} if destination else {})}


_FILE_SYSTEMS = Query(
    "fsx", "DescribeFileSystems", "FileSystems", "FileSystemId", vpc="VpcId", absent="FileSystemNotFound",
    states=States("Lifecycle", "AVAILABLE", ("CREATING", "UPDATING"), _MISCONFIGURED, ("DELETING",)),
)  # fmt: skip
FILE_SYSTEM = ResourceType(
    "aws:fsx/lustreFileSystem:LustreFileSystem",
    make=_make_file_system,
    latencies=Latencies(
        Lifetime(
            Latency(300, 480, 720, "published: 5-10 min (README), 6:24 observed, about 10 (awsome-distributed-training)"),
            Latency(120, 240, 360, "inferred"),
        ),
        updates={
            "storageCapacity": Latency(600, 1200, 1800, "inferred: until the new disks serve; data is spread over them for hours after"),
            "perUnitStorageThroughput": Latency(600, 1200, 1800, "inferred: file servers are exchanged one by one"),
            "": Latency(30, 60, 300, "inferred"),
        },
    ),
    changes=Changes(
        replacing=("subnetIds", "securityGroupIds", "deploymentType", "storageType"),
        calls=("UpdateFileSystem",),
        one_way={"storageCapacity": _goes_down("storageCapacity"), "fileSystemTypeVersion": _goes_down("fileSystemTypeVersion")},
    ),
    identity=by_name_tag(),
    creation=creation(ApiCall("fsx", "CreateFileSystem", _LUSTRE, {"FileSystemType": "LUSTRE"}), later=("skipFinalBackup",)),
    lookup=Lookup(_FILE_SYSTEMS, "named", matches={"SubnetIds[]": "subnetIds"}),
    tagging=_TAGGING,
    # A sweep that made a backup of what it deletes would leave something that bills, unless the settings or a tag want one.
    deletion=Deletion(
        "fsx",
        "DeleteFileSystem",
        {"FileSystemId": "FileSystemId"},
        {"LustreConfiguration.SkipFinalBackup": True},
        # A last backup with tags (Service Authorization Reference, FSx, DeleteFileSystem).
        takes=("CreateBackup", "TagResource"),
    ),
    rights=Rights(
        (
            Grant("fsx", "DescribeFileSystems"),
            Grant("fsx", "CreateFileSystem TagResource", BEING_TAGGED),
            Grant("fsx", "UpdateFileSystem UntagResource ListTagsForResource", TAGGED),
            # A final backup is made by the deletion; it has no tags before.
            Grant("fsx", "DeleteFileSystem CreateBackup", (*TAGGED, Scope("arn:{partition}:fsx:{region}:*:backup/*"))),
            # FSx looks at the network in the caller's name (AmazonFSxFullAccess v13).
            Grant("ec2", " ".join(FSX_NETWORK_CALLS)),
            # FSx writes its first line in the caller's name (AmazonFSxFullAccess v13).
            Grant(
                "logs", "CreateLogGroup CreateLogStream PutLogEvents", (Scope("arn:{partition}:logs:{region}:*:log-group:{log_group}:*"),)
            ),
            linked_role("fsx.amazonaws.com"),
        ),
        _log_group,
    ),
    costs=Listed(
        lambda inputs: f"Lustre {inputs['perUnitStorageThroughput']}",
        "FSx for Lustre, {quantity} GiB at {perUnitStorageThroughput} MB/s per TiB",
        lambda inputs: inputs["storageCapacity"],
    ),
    leftover=Leftover(
        "file system",
        Stage.IN_NETWORK,
        _FILE_SYSTEMS,
        "tags or VPC",
        label=lambda entry: f"{entry['StorageCapacity']} GiB {entry['FileSystemType'].capitalize()}",
        usd_per_hour=_usd,
        scopes=OWNED,
        data_tags=VOLUME_TAGS,
    ),
    second="another",
)


def _make_association(draw: Draw, inputs: Inputs) -> Answer:
    association = f"dra-{draw.hex()}"
    return association, {"arn": draw.arn("fsx", f"association/{inputs['fileSystemId']}/{association}"), "associationId": association}


_EVENTS = titled("events")
_REPOSITORY: Members = {
    **titled("fileSystemId", "fileSystemPath", "dataRepositoryPath", "batchImportMetaDataOnCreate"),
    "s3": ("S3", {"autoImportPolicy": ("AutoImportPolicy", _EVENTS), "autoExportPolicy": ("AutoExportPolicy", _EVENTS)}),
}
DATA_REPOSITORY = ResourceType(
    "aws:fsx/dataRepositoryAssociation:DataRepositoryAssociation",
    make=_make_association,
    latencies=Latencies(
        Lifetime(Latency(120, 300, 600, "inferred: file system with an S3 link takes up to 20 min"), Latency(60, 120, 300, "inferred"))
    ),
    changes=Changes(replacing=("dataRepositoryPath", "fileSystemId", "fileSystemPath"), calls=("UpdateDataRepositoryAssociation",)),
    identity=by("fileSystemId", "fileSystemPath"),
    creation=creation(ApiCall("fsx", "CreateDataRepositoryAssociation", _REPOSITORY)),
    lookup=Lookup(
        Query(
            "fsx", "DescribeDataRepositoryAssociations", "Associations", "AssociationId", filters="Filters",
            states=States("Lifecycle", "AVAILABLE", ("CREATING", "UPDATING"), _MISCONFIGURED, ("DELETING",)),
            absent="DataRepositoryAssociationNotFound",
        ),
        "part",
        filters={"file-system-id": "fileSystemId"},
        matches={"FileSystemId": "fileSystemId", "FileSystemPath": "fileSystemPath"},
    ),
    tagging=_TAGGING,
    deletion=Deletion("fsx", "DeleteDataRepositoryAssociation", {"AssociationId": "AssociationId"}),
    rights=Rights(
        (
            Grant("fsx", "DescribeDataRepositoryAssociations"),
            Grant("fsx", "CreateDataRepositoryAssociation TagResource", BEING_TAGGED),
            Grant("fsx", "UpdateDataRepositoryAssociation DeleteDataRepositoryAssociation UntagResource ListTagsForResource", TAGGED),
            # FSx sets up its way to the bucket in the caller's name (FSx for Lustre guide, service-linked roles).
            Grant("s3", "ListBucket GetBucketPolicy PutBucketPolicy", (Scope("arn:{partition}:s3:::{bucket}"),)),
            linked_role("s3.data-source.lustre.fsx.amazonaws.com"),
            Grant(
                "iam",
                "AttachRolePolicy PutRolePolicy",
                (Scope("arn:{partition}:iam::*:role/aws-service-role/s3.data-source.lustre.fsx.amazonaws.com/*"),),
            ),
        ),
        lambda inputs: {"bucket": (inputs["dataRepositoryPath"].removeprefix("s3://").split("/")[0],)},
    ),
    costs=Without("it bills by requests to the bucket, not by the hour"),
    leftover=Without("it is deleted with its file system"),
    conflict=Conflict((), "BadRequest"),  # FSx API, CreateDataRepositoryAssociation
)  # fmt: skip

TYPES = (FILE_SYSTEM, DATA_REPOSITORY)


def _backup_usd(entry: Entry) -> float | None:
    """At most what a full backup costs: only what differs from the one before is billed."""
    of = entry.get("FileSystem", {})
    return hourly("Lustre backup") * of["StorageCapacity"] if "StorageCapacity" in of else None


BACKUP = Foreign(
    Leftover(
        "backup",
        Stage.IN_NETWORK,
        Query(
            "fsx", "DescribeBackups", "Backups", "BackupId", absent="BackupNotFound",
            states=States("Lifecycle", "AVAILABLE", ("CREATING", "PENDING", "TRANSFERRING"), ("FAILED",), ("DELETED",)),
        ),
        label=lambda entry: f"of {entry.get('FileSystem', {}).get('FileSystemId', 'a file system')}",
        usd_per_hour=_backup_usd,
        scopes=OWNED,
        is_data=True,
    ),
    Deletion("fsx", "DeleteBackup", {"BackupId": "BackupId"}),
)  # fmt: skip
FOREIGN = (BACKUP,)
