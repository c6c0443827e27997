"""One simulated account with the stack up, a job on its first group, and a roll of that group; it can be ended at any change."""

import json
import signal
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache
from itertools import pairwise
from typing import Any

from addons import volcano
from facts.names import GROUP_LABEL
from operations.cluster.plan.planned import Planned, planned
from operations.cluster.roll.plan import RollPlan, Way, plan_roll
from operations.cluster.roll.run import Roll
from operations.cluster.roll.stack import views_of
from operations.cluster.roll.stopping import STOPPED_BY_ROLL
from operations.cluster.status.subject import NODES
from operations.kube.api import KubernetesClient
from operations.kube.budgets import BUDGETS
from operations.kube.job_pods import PODS
from operations.practice.kubernetes import SimulatedClient
from operations.practice.state import exported, previewed
from operations.practice.users import start_job
from operations.watching import Watching
from simulator.account.world import World
from simulator.doors.kubernetes.server import ApiServer
from simulator.engine.run import Engine
from simulator.engine.state import State
from simulator.recording import Recording
from stacks.config import parse_settings
from tests.operations.test_kube_rights import resource
from tests.support import dev_configuration, merged, record_stack

GROUP, OTHER = "trn1-32xl", "trn1n-32xl"


class Killed(Exception):
    """The process ends here."""


_VERBS = {"POST": "create", "PATCH": "patch", "GET": "list", "DELETE": "delete"}


@dataclass(frozen=True)
class Noting(SimulatedClient):
    """Keeps what was asked of the API server."""

    asked: set[tuple[str, str]] = field(default_factory=set)

    def call_api(self, method: str, url: str, **more: Any) -> Any:
        """One request."""
        self.asked.add((_VERBS[method], resource(url)))
        return super().call_api(method, url, **more)


@cache
def programs() -> tuple[Recording, Recording]:
    """The stack with both groups up, and with a change that rolls the first."""
    sizes = {OTHER: {"size": 2}}
    before = merged(dev_configuration(), nodeGroups=sizes)
    return record_stack(before), record_stack(merged(before, nodeGroups={GROUP: {"rootVolumeGib": 200}}))


@dataclass
class Cluster:
    """One account with the stack up and a job on the first group; counts what changes, and ends the process at one of them."""

    world: World
    state: State
    kill_at: int = 0
    by_signal: bool = False
    """Ctrl-C in place of a kill, of which the process knows nothing."""
    changes: list[str] = field(default_factory=list)
    said: list[str] = field(default_factory=list)
    waited: list[float] = field(default_factory=list)
    asked: set[tuple[str, str]] = field(default_factory=set)
    """Verbs and what they were for."""
    accepted: tuple[str, ...] = ()
    """Pods of no job that may end."""
    on_pause: Callable[[], None] = lambda: None

    @property
    def kubernetes(self) -> KubernetesClient:
        """The client of the program, on the simulated API server."""
        return KubernetesClient(Noting(ApiServer(self.world), lambda: self._changed("kubernetes"), asked=self.asked), None)

    def _changed(self, what: str) -> None:
        self.changes.append(what)
        if len(self.changes) == self.kill_at:
            if self.by_signal:
                signal.raise_signal(signal.SIGINT)
            else:
                raise Killed

    def run(self, command: tuple[str, ...], _more: Mapping[str, str], /) -> tuple[int, str]:
        """`pulumi up` of the targets that are named."""
        targets = frozenset(urn for flag, urn in pairwise(command) if flag == "--target")
        phase = Engine(self.world, self.state, 0).up(programs()[1], targets=targets)
        assert phase.errors == []
        self._changed("pulumi up")
        return 0, ""

    def ask(self, command: tuple[str, ...]) -> tuple[int, str]:
        """Nothing is asked here."""
        raise AssertionError(command)

    def planned(self) -> Planned:
        """What the engine says."""
        program = programs()[1]
        return planned(json.dumps(exported(self.state)), json.dumps(previewed(self.state, self.world, program)), program)

    def plan(self, way: Way = "checkpoint", to: str = "") -> RollPlan:
        """The plan as the command makes it."""
        budgets = self.kubernetes.list(BUDGETS) or ()
        return plan_roll(GROUP, way, to, self.planned(), views_of(self.kubernetes, "training", GROUP), {to: 2}, budgets, self.accepted)

    def roll(self, way: Way = "checkpoint", to: str = "", wait_s: float = 0) -> list[str]:
        """Plan and do it."""
        return self.carry_out(self.plan(way, to), wait_s)

    def carry_out(self, plan: RollPlan, wait_s: float = 0, check: Callable[[], None] = lambda: None) -> list[str]:
        """Do what a plan says."""
        return Roll(plan, "test", self.kubernetes, self, Watching(self.said.append, self._pause), self._empty, wait_s, check).run()

    def _pause(self, seconds: float) -> None:
        self.waited.append(seconds)
        self.on_pause()

    def _empty(self) -> list[str]:
        self._changed("empty")
        return []

    def groups_of_pods(self) -> list[str]:
        """Node group of each pod of the job."""
        nodes = {
            node["metadata"]["name"]: node["metadata"]["labels"][GROUP_LABEL]
            for node in self.kubernetes.list(NODES) or ()
            if GROUP_LABEL in node["metadata"]["labels"]
        }
        pods = [pod for pod in self.kubernetes.list(PODS, namespace="training") or () if pod["metadata"]["name"].startswith("bert")]
        return [nodes[pod["spec"]["nodeName"]] for pod in pods if "nodeName" in pod["spec"]]

    def marks(self) -> list[str]:
        """What a roll has left on nodes and jobs."""
        nodes = [node for node in self.kubernetes.list(NODES) or () if node["spec"].get("unschedulable")]
        jobs = [job for job in self.kubernetes.list(volcano.JOBS) or () if STOPPED_BY_ROLL in (job["metadata"].get("annotations") or {})]
        return [each["metadata"]["name"] for each in (*nodes, *jobs)]

    def is_rolled(self) -> bool:
        """Whether the engine has nothing left to do with the group."""
        return not self.planned().changes


@cache
def _up() -> tuple[World, State]:
    engine = Engine(World(), State(), 0)
    engine.up(programs()[0])
    return engine.world, engine.state


def cluster(kill_at: int = 0) -> Cluster:
    """A cluster of its own, with a job on both nodes of the group."""
    world, state = _up()
    found = Cluster(world.copy(), state.copy())
    settings = parse_settings(merged(dev_configuration(), nodeGroups={OTHER: {"size": 2}}), "dev", rehearsal=True)
    start_job(found.kubernetes, settings, "dev", "bert", 2)
    assert found.groups_of_pods() == [GROUP, GROUP]
    found.changes.clear()
    found.kill_at = kill_at
    return found


def begin_pod(found: Cluster, name: str = "late", on: str = GROUP, **metadata: Any) -> None:
    """A pod on a group's first node that holds its devices; of no owner unless one is given."""
    (node, *_) = sorted(
        each["metadata"]["name"] for each in found.kubernetes.list(NODES) or () if each["metadata"]["labels"].get(GROUP_LABEL) == on
    )
    container = {"name": "main", "image": "train", "resources": {"limits": {"aws.amazon.com/neuron": "16"}}}
    pod = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "namespace": "training", **metadata},
        "spec": {"nodeName": node, "containers": [container]},
    }
    found.kubernetes.create(PODS, "training", pod)
