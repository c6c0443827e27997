"""The cluster as the tests see it: its nodes, what they start in it, and how their pods are."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from addons import volcano
from addons.efa import EfaSettings
from addons.neuron import NeuronSettings
from addons.slurm import SlurmSettings
from addons.volcano import VolcanoSettings
from facts.device_claims import Claimed, Devices, claim_template
from facts.kubernetes_kinds import Resource
from facts.names import EFA_RESOURCE, NEURON_RESOURCE
from stacks.settings import NodeGroup, Settings
from trn.cli.findings import Finding, failed, skipped
from trn.kubernetes.claimed import CHIPS, with_claims
from trn.kubernetes.client import Object
from trn.kubernetes.job_pods import PODS
from trn.kubernetes.kinds import JOBS
from trn.running.subject import Subject, efa_count, hardware, name_of
from trn.running.verify.jobs import CLUSTER_LABEL, TEST_LABEL

KINDS: dict[str, Resource] = {"batch/v1": JOBS, "batch.volcano.sh/v1alpha1": volcano.JOBS}
"""What is started, by its API version. Pods, services and secrets of these go with them."""


@dataclass(frozen=True)
class Trial:
    """A Job of either kind that shows something."""

    check: str
    body: Object
    limit_s: int
    """How long its pods may take."""
    is_over: Callable[[list[Object]], bool]
    """Whether its pods show it, or one cannot."""
    judged: Callable[[list[Object]], Iterator[Finding]]
    """What they show then, or when the time is over."""
    hindrance: Callable[[], Iterator[Finding]] = lambda: iter(())
    """Why it cannot be started now: nothing where it can."""
    templates: tuple[Object, ...] = ()
    """Of what its pods claim; they are deleted with it."""

    @property
    def name(self) -> str:
        """Of the Job, and on the label of its pods."""
        return name_of(self.body)

    @property
    def resource(self) -> Resource:
        """Its kind."""
        return KINDS[self.body["apiVersion"]]


@dataclass(frozen=True)
class Stage:
    """One cluster."""

    subject: Subject
    small_image: str
    training_image: str | None
    """Image with nccom-test, Open MPI and sshd; None where none is known."""

    @property
    def cluster(self) -> str:
        """Its name."""
        return self.subject.settings.name

    @property
    def namespace(self) -> str:
        """Where everything is started: beside the jobs of users, with their claim."""
        return self.subject.settings.training.namespace

    @property
    def groups(self) -> tuple[str, ...]:
        """Neuron groups that have nodes."""
        return tuple(name for name, nodes in self.subject.nodes.items() if nodes)

    def pods(self, test: str) -> list[Object]:
        """Pods of one test, in the order of their names, ten after two."""
        found = self.subject.kubernetes.list(PODS, namespace=self.namespace, label=f"{TEST_LABEL}={test}") or []
        return sorted(found, key=lambda pod: (len(name_of(pod)), name_of(pod)))

    def log(self, pod: Object) -> str:
        """What a pod has said so far."""
        return self.subject.kubernetes.text(f"/api/v1/namespaces/{self.namespace}/pods/{name_of(pod)}/log?container=work") or ""

    def own(self, resource: Resource) -> list[Object]:
        """What this or an earlier run has started."""
        return self.subject.kubernetes.list(resource, namespace=self.namespace, label=f"{CLUSTER_LABEL}={self.cluster}") or []

    def occupied(self) -> list[str]:
        """Pods of others that hold Neuron devices, as `namespace/name`: what needs whole nodes would wait behind them."""
        names = {name_of(node) for _, node in self.subject.neuron_nodes}
        return sorted(
            f"{pod['metadata']['namespace']}/{name_of(pod)}"
            for pod in with_claims(self.subject.kubernetes.list(PODS) or [], self.subject.kubernetes)
            if pod["spec"].get("nodeName") in names
            and (pod["metadata"]["namespace"], (pod["metadata"].get("labels") or {}).get(CLUSTER_LABEL)) != (self.namespace, self.cluster)
            and pod.get("status", {}).get("phase") in ("Pending", "Running")
            and any(name in (part.get("resources", {}).get("limits") or {}) for part in pod["spec"]["containers"] for name in CHIPS)
        )


@dataclass(frozen=True)
class Nodes:
    """The nodes of one group that are up."""

    group: str
    count: int
    settings: NodeGroup
    chips: Devices = "device-plugin"
    interfaces: Devices = "device-plugin"
    """How pods ask for each of the two."""

    @property
    def devices(self) -> dict[str, int]:
        """All devices of one node, as far as plug-ins offer them."""
        offered = {
            NEURON_RESOURCE: (self.chips, hardware(self.settings).chip_count),
            EFA_RESOURCE: (self.interfaces, efa_count(self.settings)),
        }
        return {name: count for name, (way, count) in offered.items() if way == "device-plugin" and count}

    def claim(self, test: str) -> str | None:
        """Name of the template of what a pod of a test claims of one node; None where plug-ins offer all."""
        return f"{test}-{self.group}" if "dra" in (self.chips, self.interfaces) else None

    def templates(self, test: str, namespace: str, labels: Mapping[str, str]) -> tuple[Object, ...]:
        """It, where there is one: to be made once its owner is there."""
        name, instance, size = self.claim(test), hardware(self.settings), self.settings.logical_core_size
        if name is None:
            return ()
        chips = instance.chip_count if self.chips == "dra" else 0
        claimed = Claimed(chips, efa_count(self.settings) if self.interfaces == "dra" else 0, size)
        return (claim_template(name, namespace, labels, claimed, instance),)


def whole_nodes(subject: Subject) -> tuple[Nodes, ...]:
    """Groups with nodes. Slurm's are left out: its own pods hold every device there."""
    slurm = subject.settings.addons.of(SlurmSettings)
    taken = slurm.node_groups if slurm.enabled else ()
    chips, interfaces = subject.settings.addons.of(NeuronSettings).devices, subject.settings.addons.of(EfaSettings).devices
    return tuple(
        Nodes(name, len(nodes), subject.settings.node_groups[name], chips, interfaces)
        for name, nodes in subject.nodes.items()
        if nodes and name not in taken
    )


def hindrance(stage: Stage, check: str) -> Iterator[Finding]:
    """Why no gang of whole nodes can be started: nothing where it can."""
    addons = stage.subject.settings.addons
    neuron, efa = addons.of(NeuronSettings), addons.of(EfaSettings)
    if not addons.of(VolcanoSettings).enabled:
        yield skipped(check, "Volcano is off in the configuration")
    elif not (neuron.enabled and efa.enabled):
        yield skipped(check, "the add-ons of Neuron or EFA are off in the configuration")
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


def phase(pod: Object) -> str:
    """`Pending`, `Running`, `Succeeded` or `Failed`."""
    return str(pod.get("status", {}).get("phase", "Pending"))


def state(pod: Object) -> str:
    """How a pod is, with Kubernetes' own reason where it gives one."""
    status = pod.get("status", {})
    unscheduled = [item for item in status.get("conditions", ()) if item["type"] == "PodScheduled" and item["status"] == "False"]
    waiting = [part["state"]["waiting"] for part in status.get("containerStatuses", ()) if "waiting" in part.get("state", {})]
    ended = [part["state"]["terminated"] for part in status.get("containerStatuses", ()) if "terminated" in part.get("state", {})]
    for entry in (*unscheduled, *waiting):
        return f"{name_of(pod)} {': '.join(filter(None, (phase(pod), entry.get('reason'), entry.get('message'))))}"
    if phase(pod) == "Failed":
        codes = [f"exit code {entry['exitCode']}" for entry in ended]
        return f"{name_of(pod)} {': '.join(filter(None, ('Failed', status.get('reason'), *codes)))}"
    return f"{name_of(pod)} {phase(pod)}"


def states(pods: list[Object]) -> str:
    """How all of them are."""
    return "; ".join(map(state, pods)) or "no pod was made"


def summary(pods: list[Object]) -> str:
    """How many there are of each phase."""
    phases = [phase(pod) for pod in pods]
    return ", ".join(f"{phases.count(name)} {name}" for name in dict.fromkeys(phases)) or "no pod yet"


def last_lines(text: str, count: int = 3) -> str:
    """The end of a log on one line."""
    return " | ".join(line.strip() for line in text.strip().splitlines()[-count:]) or "it said nothing"
