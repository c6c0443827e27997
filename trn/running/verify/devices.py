"""Whole Neuron nodes as pods ask for them, and why they cannot be asked for now."""

from collections.abc import Iterator
from dataclasses import dataclass

from addons.efa import EfaSettings
from addons.neuron import NeuronSettings
from addons.slurm import SlurmSettings
from addons.volcano import VolcanoSettings
from facts.names import EFA_RESOURCE, NEURON_RESOURCE
from stacks.settings import NodeGroup, Settings
from trn.cli.findings import Finding, failed, skipped
from trn.running.subject import Subject, efa_count, hardware
from trn.running.verify.stage import Stage


@dataclass(frozen=True)
class Nodes:
    """The nodes of one group that are up."""

    group: str
    count: int
    settings: NodeGroup

    @property
    def devices(self) -> dict[str, int]:
        """All devices of one node."""
        interfaces = {EFA_RESOURCE: efa_count(self.settings)} if efa_count(self.settings) else {}
        return {NEURON_RESOURCE: hardware(self.settings).chip_count, **interfaces}


def whole_nodes(subject: Subject) -> tuple[Nodes, ...]:
    """Groups with nodes. Slurm's are left out: its own pods hold every device there."""
    slurm = subject.settings.addons.of(SlurmSettings)
    taken = slurm.node_groups if slurm.enabled else ()
    return tuple(
        Nodes(name, len(nodes), subject.settings.node_groups[name]) for name, nodes in subject.nodes.items() if nodes and name not in taken
    )


def hindrance(stage: Stage, check: str) -> Iterator[Finding]:
    """Why no gang of whole nodes can be started: nothing where it can."""
    addons = stage.subject.settings.addons
    neuron, efa = addons.of(NeuronSettings), addons.of(EfaSettings)
    if not addons.of(VolcanoSettings).enabled:
        yield skipped(check, "Volcano is off in the configuration")
    elif not (neuron.enabled and efa.enabled) or "dra" in (neuron.devices, efa.devices):
        yield skipped(check, "devices are not asked for through the device plug-ins here")
    elif not whole_nodes(stage.subject):
        yield skipped(check, "no Neuron node is up for jobs of Volcano")
    elif holders := stage.occupied():
        do = "wait for them, or stop them: it takes every device of every node for some minutes"
        yield failed(check, f"could not check: {', '.join(holders[:4])}{', ...' if len(holders) > 4 else ''} hold Neuron devices", do)


def queue(settings: Settings) -> str:
    """Queue that jobs can go to, one without a limit before others; Volcano takes no job in a queue that has queues below it."""
    queues = settings.addons.of(VolcanoSettings).queues
    parents = {entry.parent for entry in queues.values()}
    leaves = [name for name in queues if name not in parents]
    return min(leaves, key=lambda name: len(queues[name].capability), default="default")
