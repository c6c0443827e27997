"""Labels that nodes have without anybody's doing: by kubelet, the cloud provider, EKS and Karpenter.

Sources: Kubernetes reference, well-known labels; Amazon EKS user guide, managed node groups (capacity types and labels); Karpenter 1.14,
concepts/scheduling (well-known labels; accelerator names as of its release notes: `trainium`, `trainium2`, `inferentia2`).
"""

from collections.abc import Iterable, Mapping

from facts.catalogue import InstanceType

INSTANCE_LABELS = ("node.kubernetes.io/instance-type", "beta.kubernetes.io/instance-type")
ZONE_ID_LABEL = "topology.k8s.aws/zone-id"
CAPACITY_TYPES = {"ON_DEMAND": "on-demand", "SPOT": "spot", "RESERVED": "reserved", "CAPACITY_BLOCK": "reserved"}
"""How Karpenter labels capacity. A capacity block is `reserved` with a label of its own; the value `capacity-block` never matches."""
_ELSEWHERE = (
    # Names of zones differ by account; the others are written by agents or discovery, with values that no stack file says.
    "topology.kubernetes.io/zone", "failure-domain.beta.kubernetes.io/zone", "kubernetes.io/hostname", "topology.k8s.aws/",
    "k8s.io/cloud-provider-aws", "feature.node.kubernetes.io/", "cloudwatch.aws.amazon.com/",
)  # fmt: skip
_MAKERS = {"eks.amazonaws.com/": "eks.amazonaws.com/nodegroup", "karpenter.k8s.aws/": "karpenter.sh/nodepool"}
"""Prefixes of labels that the maker of a node writes, by what tells that it made the node: the others of such a node are not all known here."""


def well_known(instance: InstanceType, region: str, zone_ids: Iterable[str]) -> dict[str, tuple[str, ...]]:
    """Labels of every node of a type, by key, each with the values that it may have."""
    both = dict.fromkeys(INSTANCE_LABELS, (instance.name,))
    regional = dict.fromkeys(("topology.kubernetes.io/region", "failure-domain.beta.kubernetes.io/region"), (region,))
    built = {f"{prefix}kubernetes.io/{key}": (value,) for prefix in ("", "beta.") for key, value in (("os", "linux"), ("arch", "amd64"))}
    return {**both, **regional, **built, ZONE_ID_LABEL: tuple(zone_ids)}


def of_managed_group(name: str, capacity_type: str) -> dict[str, tuple[str, ...]]:
    """What EKS adds on nodes of a managed node group."""
    return {"eks.amazonaws.com/nodegroup": (name,), "eks.amazonaws.com/capacityType": (capacity_type,)}


def of_karpenter(pool: str, instance: InstanceType, capacity_type: str) -> dict[str, tuple[str, ...]]:
    """What Karpenter adds on nodes of a NodePool."""
    family, _, size = instance.name.partition(".")
    category = family.rstrip("0123456789nu")
    about = {
        "instance-category": category,
        "instance-family": family,
        "instance-generation": family.removeprefix(category)[:1],
        "instance-size": size,
        "instance-cpu": str(instance.vcpu_count),
        "instance-memory": str(instance.memory_gib * 1024),
        "instance-accelerator-name": instance.chip_name.lower(),
        "instance-accelerator-manufacturer": "aws",
        "instance-accelerator-count": str(instance.chip_count),
    }
    found = {f"karpenter.k8s.aws/{key}": (value,) for key, value in about.items()}
    return {**found, "karpenter.sh/nodepool": (pool,), "karpenter.sh/capacity-type": (CAPACITY_TYPES[capacity_type],)}


def is_judged(labels: Mapping[str, tuple[str, ...]], key: str) -> bool:
    """Whether `labels` says everything about a key: not where something outside of the stack writes it."""
    maker = next((label for prefix, label in _MAKERS.items() if key.startswith(prefix)), None)
    return key in labels or not (key.startswith(_ELSEWHERE) or maker in labels)
