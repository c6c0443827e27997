"""Where the tests run: starts what a test needs, waits for it with a limit, reads what it said, and takes all of it away."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

from addons import volcano
from facts.kubernetes_kinds import Resource
from facts.names import NEURON_RESOURCE
from trn.kubernetes.client import Object
from trn.kubernetes.job_pods import PODS
from trn.kubernetes.kinds import JOBS
from trn.running.subject import Subject, name_of
from trn.running.verify.jobs import CLUSTER_LABEL, TEST_LABEL

KINDS: dict[str, Resource] = {"batch/v1": JOBS, "batch.volcano.sh/v1alpha1": volcano.JOBS}
"""What is started, by its API version. Pods, services and secrets of these go with them."""
POLL_S = 3
CLEARING_S = 180
"""How long what was deleted may take to be gone: a pod on a node that is gone stays for minutes."""
T = TypeVar("T")


@dataclass(frozen=True)
class Stage:
    """One cluster with a clock."""

    subject: Subject
    small_image: str
    training_image: str | None
    """Image with nccom-test, Open MPI and sshd; None where none is known."""
    sleep: Callable[[float], None]
    clock: Callable[[], float]
    """Seconds that only grow."""
    tell: Callable[[str], None]

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

    def start(self, body: Object) -> None:
        """Make a Job of either kind. Raises CommandError for what the server refuses."""
        self.tell(f"starting {name_of(body)}")
        self.subject.kubernetes.create(KINDS[body["apiVersion"]], self.namespace, body)

    def pods(self, test: str) -> list[Object]:
        """Pods of one test, in the order of their names, ten after two."""
        found = self.subject.kubernetes.list(PODS, namespace=self.namespace, label=f"{TEST_LABEL}={test}") or []
        return sorted(found, key=lambda pod: (len(name_of(pod)), name_of(pod)))

    def wait(self, test: str, limit_s: int, done: Callable[[list[Object]], T | None]) -> T | None:
        """What `done` makes of the pods as soon as it makes something of them; None when the time is over."""
        began = self.clock()
        while True:
            pods = self.pods(test)
            found = done(pods)
            passed_s = self.clock() - began
            if found is not None or passed_s >= limit_s:
                return found
            self.tell(f"{test}: {summary(pods)}; {passed_s:.0f} of at most {limit_s} s")
            self.sleep(POLL_S)

    def log(self, pod: Object) -> str:
        """What a pod has said so far."""
        return self.subject.kubernetes.text(f"/api/v1/namespaces/{self.namespace}/pods/{name_of(pod)}/log?container=work") or ""

    def delete(self) -> None:
        """Ask for everything to go that this or an earlier run started."""
        for resource in KINDS.values():
            for item in self._own(resource):
                self.tell(f"removing {name_of(item)}")
                self.subject.kubernetes.delete(resource, name_of(item), self.namespace)

    def clear(self) -> list[str]:
        """Delete it, and wait until it is gone, pods and all. Names of what stays."""
        try:
            self.delete()
        except KeyboardInterrupt:
            # A second Ctrl-C must not leave objects behind.
            self.delete()
            raise
        began = self.clock()
        while left := [(resource, name_of(item)) for resource in (*KINDS.values(), PODS) for item in self._own(resource)]:
            if self.clock() - began >= CLEARING_S:
                return [f"{resource.kind} {self.namespace}/{name}" for resource, name in left]
            self.sleep(POLL_S)
        return []

    def _own(self, resource: Resource) -> list[Object]:
        return self.subject.kubernetes.list(resource, namespace=self.namespace, label=f"{CLUSTER_LABEL}={self.cluster}") or []

    def occupied(self) -> list[str]:
        """Pods of others that hold Neuron devices, as `namespace/name`: what needs whole nodes would wait behind them."""
        names = {name_of(node) for _, node in self.subject.neuron_nodes}
        return sorted(
            f"{pod['metadata']['namespace']}/{name_of(pod)}"
            for pod in self.subject.kubernetes.list(PODS) or ()
            if pod["spec"].get("nodeName") in names
            and pod.get("status", {}).get("phase") in ("Pending", "Running")
            and any(NEURON_RESOURCE in (part.get("resources", {}).get("limits") or {}) for part in pod["spec"]["containers"])
        )


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


def ended(pods: list[Object]) -> Object | None:
    """The one pod of a test when it has ended, either way."""
    return pods[0] if pods and phase(pods[0]) in ("Succeeded", "Failed") else None


def last_lines(text: str, count: int = 3) -> str:
    """The end of a log on one line."""
    return " | ".join(line.strip() for line in text.strip().splitlines()[-count:]) or "it said nothing"
