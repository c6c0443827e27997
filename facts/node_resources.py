"""What one Neuron node gives to pods: CPU and memory that are left for a job, and chips that may be asked for together."""

from dataclasses import dataclass

from facts.catalogue import InstanceType

_SEEN_BY_KERNEL = 0.925
"""Share of the memory on the type's page that the kernel reports, as Karpenter reckons (VM_MEMORY_OVERHEAD_PERCENT 0.075): a real
trn1.32xlarge reports 507,851 of 524,288 MiB, which is more."""
_EVICTION_MIB = 100
"""kubelet's hard eviction threshold on EKS nodes (awslabs/amazon-eks-ami, nodeadm, kubelet configuration)."""
_EFA_HUGE_PAGES_MIB = 5128 * 2
"""Huge pages that the EFA driver reserves on EKS's accelerated AMIs (EKS user guide, node-efa): kubelet takes them off the memory."""
DAEMONS_CPU_MILLIS, DAEMONS_MEMORY_MIB = 2_000, 4_096
"""Kept free for DaemonSets: CNI, proxy, plug-ins, exporters, log shipping (inferred: several of them ask for nothing and use something)."""
CHIP_SUBSETS = (1, 4, 8, 16)
"""Chips of a node with 16 that are connected among each other, so that a job may have them (aws-neuron/aws-neuron-sdk, scheduler extension
and DRA driver, 2026-08)."""


@dataclass(frozen=True)
class Share:
    """CPU and memory of a node, or of a part of it."""

    cpu_millis: int
    memory_mib: int


def allocatable(instance: InstanceType, *, efa: bool) -> Share:
    """What kubelet offers to pods on a node of EKS (awslabs/amazon-eks-ami nodeadm, kubelet configuration; Karpenter's model)."""
    memory = int(instance.memory_gib * 1024 * _SEEN_BY_KERNEL) - (255 + 11 * instance.max_pods) - _EVICTION_MIB
    return Share(instance.vcpu_count * 1000 - _reserved_cpu(instance.vcpu_count), memory - (_EFA_HUGE_PAGES_MIB if efa else 0))


def _reserved_cpu(vcpu_count: int) -> int:
    """Millicores that kubelet keeps: 6 % of the first core, 1 % of the second, 0.5 % of the next two, 0.25 % of the others."""
    return 60 + 10 * (vcpu_count > 1) + 5 * min(2, max(0, vcpu_count - 2)) + int(2.5 * max(0, vcpu_count - 4))


def job_share(instance: InstanceType, chip_count: int, *, efa: bool) -> Share:
    """What a pod with `chip_count` chips may ask for, whole cores and GiB: its part of what DaemonSets leave."""
    whole = allocatable(instance, efa=efa)
    cpu = (whole.cpu_millis - min(DAEMONS_CPU_MILLIS, whole.cpu_millis // 4)) * chip_count // instance.chip_count
    memory = (whole.memory_mib - min(DAEMONS_MEMORY_MIB, whole.memory_mib // 4)) * chip_count // instance.chip_count
    return Share(max(1, cpu // 1000) * 1000, max(1, memory // 1024) * 1024)


WORKER_CPU_MILLIS, WORKER_MEMORY_MIB = 1_000, 4_096
"""Of each worker of a job on processors: our own choice, for which an ordinary node of the smallest type beside its add-ons has room."""


def processor_share(workers: int) -> Share:
    """What a pod of a job on processors asks for: by its workers, since it takes a part of a node that carries add-ons as well."""
    return Share(WORKER_CPU_MILLIS * workers, WORKER_MEMORY_MIB * workers)


def chip_counts(instance: InstanceType) -> tuple[int, ...]:
    """Numbers of chips that a job may have of one node, the whole node last."""
    return (*(count for count in CHIP_SUBSETS if count < instance.chip_count), instance.chip_count)
