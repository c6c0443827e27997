"""FSx for Lustre, made beside the control plane, with a security group of its own."""

from dataclasses import dataclass

import pulumi
import pulumi_aws as aws

from components.component import Component
from components.file_system import SharedFileSystem
from facts import names
from facts.lustre import LUSTRE_PORTS
from facts.names import FINAL_BACKUP_TAG


@dataclass(frozen=True)
class LustreArgs:
    """What a file system is made from."""

    cluster_name: str
    vpc_id: pulumi.Input[str]
    subnet_id: pulumi.Input[str]
    """Subnet in the zone of the EFA group: a file system lives in one zone."""
    node_security_group_id: pulumi.Input[str]
    """Who may mount it."""
    capacity_gib: int = 1200
    """Size in GiB: 1200, or a multiple of 2400."""
    throughput_mbps_per_tib: int = 125
    compression: str = "LZ4"
    final_backup: bool = False
    backup_retention_days: int = 0
    s3_uri: str | None = None
    """Bucket and prefix linked to `s3_path`; None links nothing."""
    s3_path: str = "/data"
    error_log_days: int | None = None
    """Days that failed imports and exports are kept in a log group; None writes none."""


class Lustre(Component):
    """The file system that every training pod mounts."""

    shared: SharedFileSystem
    """Mounts wait for file system, rules and repository link."""
    security_group_id: pulumi.Output[str]

    def __init__(self, name: str, args: LustreArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("trn:components:Lustre", name, opts)
        self._name, self._args = name, args
        self._child = pulumi.ResourceOptions(parent=self)
        group = aws.ec2.SecurityGroup(
            self.named(name),
            name=f"{args.cluster_name}-lustre",
            description="Lustre from the nodes and between file servers",
            vpc_id=args.vpc_id,
            revoke_rules_on_delete=True,
            tags={"Name": f"{args.cluster_name}-lustre"},
            opts=self._child,
        )
        self.security_group_id = group.id
        rules = self._rules(group)
        # FSx tests the rules when it makes the file system, and refuses a group that lacks them.
        file_system = aws.fsx.LustreFileSystem(
            self.named(name),
            subnet_ids=args.subnet_id,
            security_group_ids=[group.id],
            deployment_type="PERSISTENT_2",
            storage_type="SSD",
            storage_capacity=args.capacity_gib,
            per_unit_storage_throughput=args.throughput_mbps_per_tib,
            # The kernels of the AMIs speak 2.12 and 2.15.
            file_system_type_version="2.15",
            data_compression_type=args.compression,
            automatic_backup_retention_days=args.backup_retention_days,
            skip_final_backup=not args.final_backup,
            log_configuration=self._error_log(),
            tags={"Name": args.cluster_name, **({FINAL_BACKUP_TAG: "true"} if args.final_backup else {})},
            opts=pulumi.ResourceOptions(parent=self, depends_on=rules),
        )
        ready = [file_system, *self._repository(file_system)]
        self.shared = SharedFileSystem(file_system.id, file_system.dns_name, file_system.mount_name, ready)
        self.register_outputs({"file_system_id": file_system.id})

    def _error_log(self) -> aws.fsx.LustreFileSystemLogConfigurationArgs | None:
        days = self._args.error_log_days
        if days is None:
            return None
        name = names.file_system_log_group(self._args.cluster_name)
        group = aws.cloudwatch.LogGroup(self.named(f"{self._name}-errors"), name=name, retention_in_days=days, opts=self._child)
        return aws.fsx.LustreFileSystemLogConfigurationArgs(destination=group.arn, level="WARN_ERROR")

    def _rules(self, group: aws.ec2.SecurityGroup) -> list[pulumi.Resource]:
        peers = {"self": group.id, "node": self._args.node_security_group_id}
        directions = {"from": aws.vpc.SecurityGroupIngressRule, "to": aws.vpc.SecurityGroupEgressRule}
        return [
            make(
                self.named(f"{self._name}-{direction}-{peer}-{first}"),
                security_group_id=group.id,
                referenced_security_group_id=peer_id,
                ip_protocol="tcp",
                from_port=first,
                to_port=last,
                opts=self._child,
            )
            for direction, make in directions.items()
            for peer, peer_id in peers.items()
            for first, last in LUSTRE_PORTS
        ]

    def _repository(self, file_system: aws.fsx.LustreFileSystem) -> list[pulumi.Resource]:
        if self._args.s3_uri is None:
            return []
        events = ["NEW", "CHANGED", "DELETED"]
        return [
            aws.fsx.DataRepositoryAssociation(
                self.named(f"{self._name}-s3"),
                file_system_id=file_system.id,
                data_repository_path=self._args.s3_uri,
                file_system_path=self._args.s3_path,
                batch_import_meta_data_on_create=True,
                s3={"auto_import_policy": {"events": events}, "auto_export_policy": {"events": events}},
                opts=self._child,
            )
        ]
