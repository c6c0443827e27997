"""Karpenter: makes instances for pods, without node groups."""

from typing import Annotated, Literal

from pydantic import Field

from addons.declaration import Declaration
from addons.section import AddonSettings
from addons.versions import KARPENTER, KARPENTER_CRD
from facts import text_formats
from facts.capacity_blocks import Window, window
from facts.catalogue import NEURON_TYPES
from facts.kubernetes_kinds import DrainedKind, DrainStage, Resource
from facts.neuron_releases import AMI_RELEASES, ami_date
from facts.section import KUBERNETES_NAME, Formed, OneOf, Section

NAMESPACE = "kube-system"
SERVICE_ACCOUNT = "karpenter"
NODE_CLASS, NODE_POOL = "karpenter.k8s.aws/v1 EC2NodeClass", "karpenter.sh/v1 NodePool"


class KarpenterBlock(Section):
    """When a pool's capacity block begins and ends. Karpenter finds the block by its id and needs no times; jobs are checked against them."""

    starts_at: Annotated[str, Formed(text_formats.INSTANT)]
    """Start of the block, with its time zone and in quotes: Karpenter launches no node before it."""
    ends_at: Annotated[str, Formed(text_formats.INSTANT)]
    """End of the block, with its time zone and in quotes: 11:30 UTC, as for all capacity blocks. Karpenter drains its nodes 40 minutes before."""

    @property
    def window(self) -> Window:
        """The same as moments."""
        return window(self.starts_at, self.ends_at)


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
    capacity_block: KarpenterBlock | None = None
    """Times of the capacity block, with `capacityType: CAPACITY_BLOCK`."""
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


class KarpenterSettings(AddonSettings):
    """Karpenter: makes instances for pods, without node groups."""

    enabled: bool = False
    """Install Karpenter, its CRDs, its role and its interruption queue."""
    ami_version: Annotated[str, Formed(text_formats.AMI_VERSION)] = f"v{ami_date(AMI_RELEASES['1.35'])}"
    """AMI release of all its nodes, such as `v20260505`: Karpenter has no other pin, and `latest` would replace nodes that train."""
    neuron_pools: dict[Annotated[str, Field(pattern=f"^{KUBERNETES_NAME}$", max_length=40)], KarpenterNeuronPool] = Field(
        default_factory=dict
    )
    """Neuron pools by name."""
    general_pool: KarpenterGeneralPool = KarpenterGeneralPool()
    """Pool of ordinary instances."""


NODE_POOLS = Resource("NodePool", "/apis/karpenter.sh/v1", "nodepools")
NODE_CLAIMS = Resource("NodeClaim", "/apis/karpenter.sh/v1", "nodeclaims")
DRAINED = (
    DrainedKind(NODE_POOLS, DrainStage.NODES, "delete", "Karpenter's instances hold the VPC"),
    DrainedKind(NODE_CLAIMS, DrainStage.NODES, "wait for", "is deleted with its pool, and its instance with it"),
)

DECLARATION = Declaration(
    key="karpenter",
    title="Karpenter",
    purpose="Makes instances for pods that have no place, without node groups",
    component="karpenter",
    namespace=NAMESPACE,
    nodes="core",
    settings=KarpenterSettings,
    charts=(KARPENTER_CRD, KARPENTER),
    identities=(f"{NAMESPACE}/{SERVICE_ACCOUNT}",),
    endpoints=("ec2", "eks", "iam", "pricing", "sqs", "ssm"),
    kinds=(NODE_CLASS, NODE_POOL),
    leaves=("Lease of the leader election in kube-system",),
    drained=DRAINED,
)
