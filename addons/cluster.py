"""What the configuration says of a cluster, as far as add-ons ask: plain data, known before anything is created."""

from collections.abc import Mapping
from dataclasses import dataclass

from addons.section import AddonSections, SectionType
from facts.catalogue import InstanceType


@dataclass(frozen=True)
class NeuronGroup:
    """One group of Neuron nodes."""

    instance: InstanceType
    size: int
    """Nodes wanted."""
    largest_size: int
    """The most nodes it may grow to."""
    uses_efa: bool
    autoscaled: bool = False
    min_size: int = 0
    is_paid: bool = False
    """Whether its capacity is paid in advance or reserved, and bills without nodes too."""
    is_spot: bool = False


@dataclass(frozen=True)
class Cluster:
    """A cluster as its configuration describes it."""

    name: str
    region: str
    kubernetes_version: str
    """Minor, such as `1.35`."""
    zones: tuple[str, ...]
    """Zone ids, the training zone first."""
    training_namespace: str
    """Namespace of the jobs."""
    claim_name: str | None
    """Claim of the shared file system in the training namespace; None without a file system."""
    node_groups: Mapping[str, NeuronGroup]
    addons: AddonSections
    """The section `addons` of the configuration."""

    session_manager: bool = False
    """Whether Systems Manager may open shells on nodes."""
    idle_bill: tuple[tuple[str, float], ...] = ()
    """What bills without any Neuron node, with USD an hour."""
    has_existing_file_system: bool = False
    """Whether the shared file system is another's: then nothing in the cluster calls FSx."""
    isolated: bool = False
    """Without a NAT gateway: pods reach services of AWS by endpoints only."""

    def section(self, kind: type[SectionType]) -> SectionType:
        """The settings of one add-on."""
        return self.addons.of(kind)
