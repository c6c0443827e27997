"""Sections of what makes the cluster grow and shrink."""

from typing import Annotated, Literal

from pydantic import Field

from facts.catalogue import NEURON_TYPES
from stacks.section import KUBERNETES_NAME, OneOf, Section


class MetricsServerAddon(Section):
    """metrics-server: `kubectl top` and horizontal autoscaling."""

    enabled: bool = False
    """Serve the metrics API."""


class ClusterAutoscalerAddon(Section):
    """Cluster Autoscaler: sizes the node groups that say `autoscaled: true`, from zero too."""

    enabled: bool = False
    """Watch for pods without a node."""
    idle_minutes: int = Field(default=20, ge=1)
    """Minutes without need after which a node goes."""
    longest_start_minutes: int = Field(default=30, ge=5)
    """Minutes that a node may take to join before its group counts as failing. Neuron nodes need more than the usual 15."""


class CoreDnsAddon(Section):
    """CoreDNS's own autoscaling, by EKS."""

    autoscaled: bool = False
    """Let EKS add replicas with the number of nodes and cores; without it there are two."""
    min_replicas: int = Field(default=2, ge=2, le=1000)
    """Fewest replicas."""
    max_replicas: int = Field(default=10, ge=2, le=1000)
    """Most replicas."""


class KarpenterNeuronPool(Section):
    """Neuron nodes that Karpenter makes when jobs ask, with one EFA interface on every card."""

    instance_type: Annotated[str, OneOf(tuple(NEURON_TYPES), "see docs/hardware.md for what each type has")]
    """Trainium or Inferentia instance type."""
    max_nodes: int = Field(ge=1)
    """Most nodes, and so the most it can cost."""
    zone_id: str | None = None
    """Zone of the nodes: EFA does not cross zones. Without it, the first zone of `network.zones`."""
    capacity_type: Literal["ON_DEMAND", "SPOT", "RESERVED", "CAPACITY_BLOCK"] = "ON_DEMAND"
    """How the instances are bought."""
    capacity_reservation_id: str | None = Field(default=None, pattern=r"^cr-[0-9a-f]{17}$")
    """Reservation or capacity block that the instances come from."""
    static: bool = False
    """Keep `maxNodes` nodes at all times, instead of as many as jobs ask for."""


class KarpenterGeneralPool(Section):
    """Untainted nodes for everything that is not training."""

    enabled: bool = False
    """Make nodes for pods without a place."""
    max_vcpu: int = Field(default=64, ge=4)
    """Most vCPU of the pool, and so the most it can cost."""
    spot: bool = False
    """Also buy spot instances."""


class KarpenterAddon(Section):
    """Karpenter: makes instances for pods, without node groups."""

    enabled: bool = False
    """Install Karpenter, its CRDs, its role and its interruption queue."""
    ami_version: str = Field(default="v20260505", pattern=r"^v\d{8}$")
    """AMI release of all its nodes, such as `v20260505`: Karpenter has no other pin, and `latest` would replace nodes that train."""
    neuron_pools: dict[Annotated[str, Field(pattern=f"^{KUBERNETES_NAME}$", max_length=40)], KarpenterNeuronPool] = Field(
        default_factory=dict
    )
    """Neuron pools by name."""
    general_pool: KarpenterGeneralPool = KarpenterGeneralPool()
    """Pool of ordinary instances."""
