"""The file system inside Kubernetes: a static volume and claim, and a class that makes a file system for each claim."""

from dataclasses import dataclass

import pulumi
import pulumi_kubernetes as k8s

from addons.base import SHORT_DELETE, Addon
from addons.site import Site
from components.file_system import SharedFileSystem

DRIVER = "fsx.csi.aws.com"
DYNAMIC_CLASS = "fsx-lustre"
NOMINAL_CAPACITY = "1200Gi"
"""What volume and claim say. The file system's size is its own."""


@dataclass(frozen=True)
class DynamicClassArgs:
    """What file systems for single claims are made with."""

    throughput_mbps_per_tib: int
    compression: str
    subnet_id: pulumi.Input[str]
    security_group_id: pulumi.Input[str]


@dataclass(frozen=True)
class SharedStorageArgs:
    """What volume, claim and class are made from."""

    claim_name: str
    file_system: SharedFileSystem
    dynamic_class: DynamicClassArgs | None
    """None makes no class."""


class SharedStorage(Addon):
    """The claim is deleted before the volume, the volume before the file system and the driver."""

    volume: k8s.core.v1.PersistentVolume

    def __init__(self, name: str, args: SharedStorageArgs, site: Site, *, after: list[pulumi.Resource]) -> None:
        """`after`: driver, and file system with its rules."""
        super().__init__("SharedStorage", name, site)
        namespace, after = site.cluster.training_namespace, [*after, site.namespace]
        # A constant: the driver ignores it, and Kubernetes refuses to grow a claim that it did not make itself, which
        # would fail the run after the file system has grown.
        capacity = {"storage": NOMINAL_CAPACITY}
        volume_name = f"{site.cluster.name}-{namespace}-{args.claim_name}"
        self.volume = volume = k8s.core.v1.PersistentVolume(
            self.named(args.claim_name),
            metadata={"name": volume_name},
            spec={
                "capacity": capacity,
                "access_modes": ["ReadWriteMany"],
                "volume_mode": "Filesystem",
                "persistent_volume_reclaim_policy": "Retain",
                "mount_options": ["flock"],
                "storage_class_name": "",
                # No other claim may take the volume.
                "claim_ref": {"namespace": namespace, "name": args.claim_name},
                "csi": {
                    "driver": DRIVER,
                    "volume_handle": args.file_system.file_system_id,
                    "volume_attributes": {"dnsname": args.file_system.dns_name, "mountname": args.file_system.mount_name},
                },
            },
            opts=self.in_cluster(*after),
        )
        claim = k8s.core.v1.PersistentVolumeClaim(
            self.named(args.claim_name),
            metadata={"name": args.claim_name, "namespace": namespace},
            spec={
                "access_modes": ["ReadWriteMany"],
                # Empty, not absent: absent would ask the default class for a volume of its own.
                "storage_class_name": "",
                # The same text, said through the volume: a change of the volume is one of the claim.
                "volume_name": volume.urn.apply(lambda _: volume_name),
                "resources": {"requests": capacity},
            },
            # When another file system replaces the volume, the claim must be deleted first: the volume's protection holds it
            # until nothing is bound to it. And before the claim, each pod that mounts it. Pods are `replace_with` the volume;
            # were the claim too, the engine would delete them in any order (pulumi/pulumi pkg/resource/deploy/step_generator.go,
            # findDependentCascadeReplacements). What depends on the volume by its inputs is deleted after those.
            opts=self.in_cluster(replace_on_changes=["spec"], custom_timeouts=SHORT_DELETE),
        )
        self.ready.append(claim)
        if args.dynamic_class is not None:
            self._class(args.dynamic_class, site, after)
        self.register_outputs({})

    def _class(self, args: DynamicClassArgs, site: Site, after: list[pulumi.Resource]) -> None:
        k8s.storage.v1.StorageClass(
            self.named(DYNAMIC_CLASS),
            metadata={"name": DYNAMIC_CLASS},
            provisioner=DRIVER,
            # The driver's own defaults are SCRATCH_1 and Lustre 2.10.
            parameters={
                "subnetId": args.subnet_id,
                "securityGroupIds": args.security_group_id,
                "deploymentType": "PERSISTENT_2",
                "storageType": "SSD",
                "perUnitStorageThroughput": str(args.throughput_mbps_per_tib),
                "fileSystemTypeVersion": "2.15",
                "dataCompressionType": args.compression,
                "automaticBackupRetentionDays": "0",
                "extraTags": ",".join(f"{key}={value}" for key, value in site.owner_tags.items()),
            },
            mount_options=["flock"],
            reclaim_policy="Delete",
            opts=self.in_cluster(*after),
        )
