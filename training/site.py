"""One cluster as jobs meet it: what its stack gives to them, as plain data."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from facts import regions
from facts.capacity_blocks import Use
from facts.catalogue import InstanceType
from facts.device_claims import Devices
from facts.hours import Hours
from facts.names import GROUP_LABEL, POOL_LABEL

if TYPE_CHECKING:
    from training.account import Account
    from training.payload import Source

OUTSIDE = frozenset({"sagemaker", "hyperpod", "parallelcluster"})
"""Launchers that bring nodes of their own: a node group says only of which type."""
NODES_MAX = 4096


@dataclass(frozen=True)
class Nodes:
    """Nodes of one kind that a job may run on: a node group, or a pool of Karpenter's."""

    name: str
    instance: InstanceType
    size: int
    """Nodes wanted now; 0 where they are made on demand."""
    largest_size: int
    """The most there may be."""
    uses_efa: bool
    offers_efa: bool = True
    """Whether pods can ask for interfaces, in whatever way."""
    release_version: str | None = None
    """AMI release; None for the newest."""
    logical_core_size: int | None = None
    """Physical cores per logical core where the chip leaves a choice; None for its default."""
    is_pool: bool = False
    block: Use | None = None
    """Times of the capacity block that the nodes come from; None where they come from none, or its times are not known."""
    hours: Hours | None = None
    """When a schedule empties the group and fills it; None without one."""
    labels: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Labels that its nodes have beside `selector`, each with the values that it may have."""

    @property
    def labels_of_nodes(self) -> Mapping[str, tuple[str, ...]]:
        """All labels, each with the values that it may have."""
        return {**self.labels, **{key: (value,) for key, value in self.selector.items()}}

    @property
    def selector(self) -> dict[str, str]:
        """Labels of the nodes."""
        return {POOL_LABEL if self.is_pool else GROUP_LABEL: self.name}

    @property
    def path(self) -> str:
        """Key path of it in the stack file."""
        return f"addons.karpenter.neuronPools.{self.name}" if self.is_pool else f"nodeGroups.{self.name}"

    @property
    def interface_count(self) -> int:
        """EFA interfaces that a pod on the whole node can ask for."""
        return self.instance.efa_count if self.uses_efa and self.offers_efa else 0


@dataclass(frozen=True)
class JobQueue:
    """One queue of Volcano."""

    name: str
    takes_jobs: bool = True
    """A queue with queues below it takes none."""
    capability: Mapping[str, int | str] = field(default_factory=dict)
    """Most that its jobs may use together, by resource; without a resource, all there is."""


@dataclass(frozen=True)
class Site:
    """One cluster."""

    cluster: str
    stack: str
    """Name of the stack, as in Pulumi.NAME.yaml."""
    region: str
    namespace: str
    claim: str | None
    """Claim of the shared file system; None where there is none."""
    node_groups: Mapping[str, Nodes]
    pools: Mapping[str, Nodes] = field(default_factory=dict)
    core: Nodes | None = None
    """The ordinary nodes, on which jobs without devices run; None for a launcher that has none of them."""
    queues: Mapping[str, JobQueue] = field(default_factory=dict)
    """Volcano's, in the order of the configuration."""
    toolchain: str | None = None
    """Default toolchain of jobs."""
    devices: Devices | None = "device-plugin"
    """How pods ask for Neuron chips; None where they cannot."""
    efa_devices: Devices = "device-plugin"
    """How pods ask for EFA interfaces, where they can."""
    gang: bool = True
    """Whether Volcano is there to start all pods of a job together."""
    own_gangs: frozenset[str] = frozenset()
    """Keys of add-ons whose operators make the PodGroups of their jobs themselves."""
    hyper_nodes: bool = False
    """Whether each EFA group is a HyperNode, so that a job can be kept within one."""
    etcd: str | None = None
    """Endpoint of the rendezvous store, `host:port`; None where there is none."""
    mirror: str | None = None
    """Registry with copies of the images."""
    addons: frozenset[str] = frozenset()
    """Keys of the add-ons that are on."""
    slurm_groups: Mapping[str, Nodes] = field(default_factory=dict)
    """Node groups whose nodes are Slurm's; no pod of another job finds room there."""
    batch_groups: frozenset[str] = frozenset()
    """Names of node groups that AWS Batch may use."""
    account: "Account | None" = None
    """For launchers outside of the cluster; None where nothing is known of it."""
    source: "Source | None" = None
    """What the `source` of the job names; None without one, and where it was not read."""

    @property
    def partition(self) -> str:
        """Of the region, as ARNs have it."""
        return regions.partition(self.region)

    def seen_by(self, launcher: str) -> "Site":
        """What a launcher finds of the cluster: Slurm its own nodes, Batch those that it may use, SageMaker no node and no queue."""
        if launcher == "slurm":
            return replace(self, node_groups=self.slurm_groups, pools={}, core=None, queues={}, gang=False)
        if launcher == "batch":
            groups = {name: nodes for name, nodes in self.node_groups.items() if name in self.batch_groups}
            return replace(self, node_groups=groups, pools={}, core=None, queues={}, gang=False)
        if launcher in OUTSIDE:
            groups = {name: replace(nodes, largest_size=NODES_MAX) for name, nodes in {**self.node_groups, **self.slurm_groups}.items()}
            # Nodes of its own, on which our drivers are not.
            own = {"devices": "device-plugin", "efa_devices": "device-plugin"}
            return replace(self, node_groups=groups, pools={}, core=None, queues={}, gang=False, **own)
        return self

    def nodes(self, group: str | None, pool: str | None) -> Nodes | None:
        """The node group or pool of a name; None for one that is not there, and where none is named."""
        if pool is not None:
            return self.pools.get(pool)
        return self.node_groups.get(group) if group is not None else None
