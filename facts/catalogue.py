"""What each Neuron instance type, and each type offered for core nodes, is made of.

Every field of the two tables has its source and date in `SOURCES`, of the chips in `CHIP_SOURCES`. The tables are the default and the fallback:
`trn check` asks the account what it is really offered.
"""

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Chip:
    """One generation of AWS's accelerators; figures per chip."""

    name: str
    physical_cores: int
    logical_sizes: tuple[int, ...]
    """Physical cores that can be one logical core, the AMI's default first; one size where there is no choice."""
    memory_gib: int
    peak_bf16_tflops: float | None
    """Dense BF16; None where AWS publishes none."""

    @property
    def has_logical_cores(self) -> bool:
        """Whether the size of a logical core can be chosen."""
        return len(self.logical_sizes) > 1


TRAINIUM = Chip("Trainium", physical_cores=2, logical_sizes=(1,), memory_gib=32, peak_bf16_tflops=190)
TRAINIUM2 = Chip("Trainium2", physical_cores=8, logical_sizes=(2, 1), memory_gib=96, peak_bf16_tflops=667)
INFERENTIA2 = Chip("Inferentia2", physical_cores=2, logical_sizes=(1,), memory_gib=32, peak_bf16_tflops=190)


@dataclass(frozen=True)
class InstanceType:
    """One EC2 instance type; figures per instance."""

    name: str
    family: str
    """Quota family: `Trn`, `Inf` or `Standard`."""
    vcpu_count: int
    memory_gib: int
    network_card_count: int
    interfaces_per_card: int
    ipv4_per_interface: int
    max_pods: int
    """Pods the VPC CNI can serve with secondary addresses on card 0, host network pods included."""
    price_usd_per_hour: float | None
    """On-demand list price for Linux in us-west-2; None where EC2 sells no on-demand hours."""
    chip: Chip | None = None
    """Of each of its accelerators; None on instances without one."""
    chip_count: int = 0
    efa_count: int = 0
    network_gbps: float = 0
    instance_store_gb: int = 0
    offered_zone_ids: tuple[str, ...] = ()
    """Zone ids seen to offer the type. A region may offer more than is listed."""
    offered_regions: tuple[str, ...] = ()
    """Regions seen to offer the type where the zone ids are not known."""
    capacity_block: bool = False
    """Whether EC2 sells the type in capacity blocks."""
    block_price_usd_per_hour: float | None = None
    """Hourly share of a 24-hour capacity block, where one was seen on offer."""

    @property
    def chip_name(self) -> str:
        """Name of its chip; empty without one."""
        return self.chip.name if self.chip else ""

    @property
    def physical_core_count(self) -> int:
        """NeuronCores, each by itself."""
        return self.chip.physical_cores * self.chip_count if self.chip else 0

    @property
    def logical_core_count(self) -> int:
        """NeuronCores that Kubernetes sees at the default size of a logical core."""
        return self.cores_at()

    @property
    def device_memory_gib(self) -> int:
        """Of all chips."""
        return self.chip.memory_gib * self.chip_count if self.chip else 0

    @property
    def has_efa(self) -> bool:
        """Whether the type takes EFA interfaces."""
        return self.efa_count > 0

    def logical_size(self, chosen: int | None = None) -> int:
        """Physical cores of a logical core: what was chosen where the chip leaves a choice, else the chip's own."""
        sizes = self.chip.logical_sizes if self.chip else (1,)
        return chosen if chosen is not None and chosen in sizes else sizes[0]

    def cores_at(self, chosen: int | None = None) -> int:
        """NeuronCores visible where so many physical cores are chosen to form a logical core."""
        return self.physical_core_count // self.logical_size(chosen)


QUOTA_CODES: Mapping[str, Mapping[str, str]] = {
    "Trn": {"on-demand": "L-2C3B7624", "spot": "L-6B0D517C"},
    "Inf": {"on-demand": "L-1945791B", "spot": "L-B5D1601B"},
    "Standard": {"on-demand": "L-1216C47A", "spot": "L-34B43A08"},
}

SOURCES: Mapping[str, str] = {
    "name": "EC2 API, InstanceType enum of botocore 1.44.5, 2026-11",
    "family": "EC2 on-demand and spot quota names, Service Quotas, 2026-10-03",
    "vcpu_count": "aws/karpenter-provider-aws instance-types.md, 2026-08-21; EC2 API reading for trn2.3xlarge and trn2u, 2026-10-03",
    "memory_gib": "aws-neuron/aws-neuron-sdk architecture pages, 2026-08-21",
    "network_card_count": "aws/amazon-vpc-resource-controller-k8s limits.go, 2026-04; vpc_ip_resource_limit.go, 2026-08-11; trn2u as trn2 (inferred)",
    "interfaces_per_card": "aws/amazon-vpc-cni-k8s vpc_ip_resource_limit.go, 2026-08-11; trn2u as trn2 (inferred)",
    "ipv4_per_interface": "aws/amazon-vpc-cni-k8s vpc_ip_resource_limit.go, 2026-08-11; trn2u as trn2 (inferred)",
    "max_pods": "awslabs/amazon-eks-ami eni-max-pods, 2026-07-23; trn2u is not in it, nodeadm falls back to 110",
    "price_usd_per_hour": "aws/karpenter-provider-aws zz_generated.pricing_aws.go, 2026-07-20; EC2 Pricing API reading, 2026-10-03",
    "chip": "aws-neuron/aws-neuron-sdk architecture pages, 2026-08-21",
    "chip_count": "aws-neuron/aws-neuron-sdk architecture pages, 2026-08-21",
    "efa_count": "EC2 API, DescribeInstanceTypes EfaInfo, 2026-10-03; aws/karpenter-provider-aws, 2026-08-21",
    "network_gbps": "aws/karpenter-provider-aws instance-types.md, 2026-08-21: what lasts, small types burst beyond it; core types as published on the EC2 type pages",
    "instance_store_gb": "aws/karpenter-provider-aws instance-types.md, 2026-08-21; EC2 API reading for trn2, 2026-10-03",
    "offered_zone_ids": "EC2 API, spot placement query of one account, 2026-10-03; DescribeInstanceTypeOfferings data in getmoto/moto 5.2.5",
    "offered_regions": "EC2 API readings of one account, 2026-10-03",
    "capacity_block": "EC2 user guide, capacity blocks; eksctl-io/eksctl instance_types.go, 2026-08-21; trn2u: aws-neuron/aws-neuron-sdk deploy/eks/ultraserver-operator.rst, 2026-08-21, which knows an UltraServer by its capacity block",
    "block_price_usd_per_hour": "EC2 API, 24-hour offering in ap-south-2 at 858.26 USD, 2026-10-03",
}

CHIP_SOURCES: Mapping[str, str] = {
    "name": "aws-neuron/aws-neuron-sdk architecture pages, 2026-08-21",
    "physical_cores": "aws-neuron/aws-neuron-sdk architecture pages, 2026-08-21",
    "logical_sizes": "aws-neuron/aws-neuron-sdk logical core configuration, LNC=2 is the default of Trainium2, 2026-08-21",
    "memory_gib": "aws-neuron/aws-neuron-sdk architecture pages, 2026-08-21; the EC2 API misreports Trainium2",
    "peak_bf16_tflops": "aws-neuron/aws-neuron-sdk architecture pages of each chip, 2026-08-21",
}
"""Where the fields of Chip are from."""

_TRN1_ZONES = ("use1-az4", "use1-az5", "use1-az6", "use2-az3", "usw2-az1", "usw2-az4")
_TRN1_REGIONS = ("ap-south-1", "ap-southeast-2", "ap-southeast-4")
_TRN2_ZONES = ("use2-az1", "use2-az2", "use2-az3", "aps2-az1", "aps2-az2", "aps2-az3")

NEURON_TYPES: Mapping[str, InstanceType] = {
    instance_type.name: instance_type
    for instance_type in (
        InstanceType(
            name="trn1.2xlarge", family="Trn", chip=TRAINIUM, chip_count=1,
            vcpu_count=8, memory_gib=32, network_card_count=1, interfaces_per_card=4, ipv4_per_interface=15,
            efa_count=0, network_gbps=3.125, instance_store_gb=474, max_pods=58, price_usd_per_hour=1.34375,
            offered_regions=("us-east-1", "us-east-2", "us-west-2"),
        ),
        InstanceType(
            name="trn1.32xlarge", family="Trn", chip=TRAINIUM, chip_count=16,
            vcpu_count=128, memory_gib=512, network_card_count=8, interfaces_per_card=5, ipv4_per_interface=50,
            efa_count=8, network_gbps=800, instance_store_gb=7600, max_pods=247, price_usd_per_hour=21.50,
            offered_zone_ids=_TRN1_ZONES, offered_regions=_TRN1_REGIONS, capacity_block=True,
        ),
        InstanceType(
            name="trn1n.32xlarge", family="Trn", chip=TRAINIUM, chip_count=16,
            vcpu_count=128, memory_gib=512, network_card_count=16, interfaces_per_card=5, ipv4_per_interface=50,
            efa_count=16, network_gbps=1600, instance_store_gb=7600, max_pods=247, price_usd_per_hour=24.78,
            offered_zone_ids=("use1-az6", "use2-az3", "usw2-az4"),
        ),
        InstanceType(
            name="trn2.3xlarge", family="Trn", chip=TRAINIUM2, chip_count=1,
            vcpu_count=12, memory_gib=128, network_card_count=1, interfaces_per_card=2, ipv4_per_interface=15,
            efa_count=1, network_gbps=200, instance_store_gb=470, max_pods=30, price_usd_per_hour=None,
            offered_zone_ids=("apse4-az3", "sae1-az1", "sae1-az2", "sae1-az3"), offered_regions=("ap-south-2",),
        ),
        InstanceType(
            name="trn2.48xlarge", family="Trn", chip=TRAINIUM2, chip_count=16,
            vcpu_count=192, memory_gib=2048, network_card_count=16, interfaces_per_card=2, ipv4_per_interface=50,
            efa_count=16, network_gbps=3200, instance_store_gb=7600, max_pods=100, price_usd_per_hour=None,
            offered_zone_ids=_TRN2_ZONES, capacity_block=True, block_price_usd_per_hour=35.76,
        ),
        InstanceType(
            name="trn2u.48xlarge", family="Trn", chip=TRAINIUM2, chip_count=16,
            vcpu_count=192, memory_gib=2048, network_card_count=16, interfaces_per_card=2, ipv4_per_interface=50,
            efa_count=16, network_gbps=3200, instance_store_gb=7600, max_pods=110, price_usd_per_hour=None,
            offered_regions=("ap-south-2",), capacity_block=True,
        ),
        InstanceType(
            name="inf2.xlarge", family="Inf", chip=INFERENTIA2, chip_count=1,
            vcpu_count=4, memory_gib=16, network_card_count=1, interfaces_per_card=4, ipv4_per_interface=15,
            network_gbps=2.08, max_pods=58, price_usd_per_hour=0.7582, offered_regions=("us-east-1", "us-east-2", "us-west-2"),
        ),
        InstanceType(
            name="inf2.8xlarge", family="Inf", chip=INFERENTIA2, chip_count=1,
            vcpu_count=32, memory_gib=128, network_card_count=1, interfaces_per_card=8, ipv4_per_interface=30,
            network_gbps=16.7, max_pods=234, price_usd_per_hour=1.96786, offered_regions=("us-east-1", "us-east-2", "us-west-2"),
        ),
        InstanceType(
            name="inf2.24xlarge", family="Inf", chip=INFERENTIA2, chip_count=6,
            vcpu_count=96, memory_gib=384, network_card_count=1, interfaces_per_card=15, ipv4_per_interface=50,
            network_gbps=50, max_pods=737, price_usd_per_hour=6.49063, offered_regions=("us-east-1", "us-east-2", "us-west-2"),
        ),
        InstanceType(
            name="inf2.48xlarge", family="Inf", chip=INFERENTIA2, chip_count=12,
            vcpu_count=192, memory_gib=768, network_card_count=1, interfaces_per_card=15, ipv4_per_interface=50,
            network_gbps=100, max_pods=737, price_usd_per_hour=12.98127, offered_regions=("us-east-1", "us-east-2", "us-west-2"),
        ),
    )
}  # fmt: skip


def _core_type(name: str, vcpu: int, memory_gib: int, interfaces: int, ipv4: int, pods: int, price: float) -> InstanceType:
    return InstanceType(
        name=name, family="Standard", vcpu_count=vcpu, memory_gib=memory_gib, network_card_count=1, interfaces_per_card=interfaces,
        ipv4_per_interface=ipv4, max_pods=pods, price_usd_per_hour=price, network_gbps=12.5 if name[1] != "5" else 10,
    )  # fmt: skip


CORE_TYPES: Mapping[str, InstanceType] = {
    instance_type.name: instance_type
    for instance_type in (
        _core_type("m5.large", 2, 8, 3, 10, 29, 0.096),
        _core_type("m5.xlarge", 4, 16, 4, 15, 58, 0.192),
        _core_type("m5.2xlarge", 8, 32, 4, 15, 58, 0.384),
        _core_type("m6i.xlarge", 4, 16, 4, 15, 58, 0.192),
        _core_type("m7i.xlarge", 4, 16, 4, 15, 58, 0.2016),
        _core_type("m7i.2xlarge", 8, 32, 4, 15, 58, 0.4032),
        _core_type("c5.xlarge", 4, 8, 4, 15, 58, 0.17),
        _core_type("c5.2xlarge", 8, 16, 4, 15, 58, 0.34),
        _core_type("c5.4xlarge", 16, 32, 8, 30, 234, 0.68),
    )
}


def instance_type(name: str) -> InstanceType:
    """The entry of either table; KeyError for a type in neither."""
    return NEURON_TYPES.get(name) or CORE_TYPES[name]


def known_zone_ids(instance: InstanceType, region_prefix: str) -> tuple[str, ...]:
    """Zone ids of one region (`usw2`) seen to offer the type; empty where only the region, or nothing, is known."""
    return tuple(zone for zone in instance.offered_zone_ids if zone.startswith(f"{region_prefix}-"))


def is_seen_in(instance: InstanceType, region: str, region_prefix: str) -> bool:
    """Whether a region (`us-west-2`, with `usw2`) was seen to offer the type."""
    return bool(known_zone_ids(instance, region_prefix)) or region in instance.offered_regions
