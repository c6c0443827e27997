"""The stage with both groups up, a job on the first, and a stack file that rolls it."""

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from addons import volcano
from facts.names import GROUP_LABEL
from simulator.account.world import World
from simulator.engine.run import Engine
from simulator.engine.state import State
from simulator.recording import Recording
from stacks.config import parse_settings
from tests.support import dev_configuration, merged, record_stack
from tests.trn.change.stage import JOB, STACK, Call, Ended, Stage
from trn.engine.planned import Planned, planned
from trn.kubernetes.budgets import BUDGETS
from trn.kubernetes.client import Kubernetes
from trn.kubernetes.job_end import STOPPED_BY_ROLL
from trn.kubernetes.job_pods import PODS
from trn.kubernetes.kinds import NODES
from trn.practice.state import exported, previewed
from trn.practice.users import start_job
from trn.running.roll.change import views_of
from trn.running.roll.plan import RollPlan, Way, plan_roll

GROUP, OTHER = "trn1-32xl", "trn1n-32xl"
BEFORE = merged(dev_configuration(), nodeGroups={OTHER: {"size": 2}})
ROLLED = ("size: 2\n", "size: 2\n      rootVolumeGib: 200\n")
"""The edit."""


@cache
def program() -> Recording:
    """With the change that rolls the first group."""
    return record_stack(merged(BEFORE, nodeGroups={GROUP: {"rootVolumeGib": 200}}), stack=STACK)


@cache
def _up() -> Engine:
    engine = Engine(World(), State())
    assert engine.up(record_stack(BEFORE, stack=STACK)).ended_well
    return engine


@dataclass
class Cluster(Stage):
    """A stage whose first group is to be rolled."""

    engine: Engine = field(default_factory=lambda: _up().copy())
    accepted: tuple[str, ...] = ()
    """Pods of no job that may end."""

    def __post_init__(self) -> None:
        self.edit("size: 0\n", "size: 2\n")
        self.edit(*ROLLED)
        start_job(self.kube, parse_settings(BEFORE, STACK, rehearsal=True), STACK, JOB, 2)
        assert self.groups_of_pods() == [GROUP, GROUP]

    @property
    def kube(self) -> Kubernetes:
        """The API server as others reach it."""
        return self.colleague()

    def planned(self) -> Planned:
        """What the engine says."""
        state, world = self.engine.state, self.engine.world
        return planned(json.dumps(exported(state)), json.dumps(previewed(state, world, program())), program())

    def plan(self, way: Way = "checkpoint", to: str = "") -> RollPlan:
        """The plan as the command makes it."""
        budgets = self.kube.list(BUDGETS) or ()
        return plan_roll(GROUP, way, to, self.planned(), views_of(self.kube, "training", GROUP), {to: 2}, budgets, self.accepted)

    def roll(self, way: Way = "checkpoint", to: str = "", *options: str) -> Ended:
        """Call the command, with a yes."""
        ways = ["--to", to] if to else [f"--{way}"]
        accepted = [word for name in self.accepted for word in ("--end-pod", name)]
        wait = ["--wait-hours", "1"] if way == "when-idle" else []
        locks = ["--break-lock"] if self.locks() else []
        with TemporaryDirectory() as folder:
            return self.trn("roll", STACK, GROUP, *ways, *wait, *accepted, *locks, *(options or ("--yes",)), folder=Path(folder))

    def do(self, way: Way = "checkpoint", to: str = "") -> list[str]:
        """Names of the changing calls of a roll that ends well."""
        ended = self.roll(way, to)
        assert ended.code == 0, ended.err
        return self.names()

    def names(self) -> list[str]:
        """Of the changing calls."""
        return [call.name for _, call in self.changes]

    def before_call(self, chosen: Callable[[Call], bool], act: Callable[[], Any]) -> None:
        """Something happens before the first call of a whole run that is chosen, such as the one that takes the lock."""
        self.before(first(chosen), act)

    def groups_of_pods(self) -> list[str]:
        """Node group of each pod of the job."""
        nodes = {
            node["metadata"]["name"]: node["metadata"]["labels"][GROUP_LABEL]
            for node in self.kube.list(NODES) or ()
            if GROUP_LABEL in node["metadata"]["labels"]
        }
        pods = [pod for pod in self.kube.list(PODS, namespace="training") or () if pod["metadata"]["name"].startswith(JOB)]
        return [nodes[pod["spec"]["nodeName"]] for pod in pods if "nodeName" in pod["spec"]]

    def marks(self) -> list[str]:
        """What a roll has left on nodes and jobs."""
        nodes = [node for node in self.kube.list(NODES) or () if node["spec"].get("unschedulable")]
        jobs = [job for job in self.kube.list(volcano.JOBS) or () if STOPPED_BY_ROLL in (job["metadata"].get("annotations") or {})]
        return [each["metadata"]["name"] for each in (*nodes, *jobs)]

    def is_rolled(self) -> bool:
        """Whether the engine has nothing left to do with the group."""
        return not self.planned().changes


@cache
def whole(way: Way = "checkpoint", to: str = "") -> tuple[Call, ...]:
    """The calls of a roll that nothing stops."""
    found = Cluster()
    if way == "when-idle":
        found.kube.delete(volcano.JOBS, JOB, "training")
    found.do(way, to)
    return tuple(found.calls)


def first(chosen: Callable[[Call], bool]) -> int:
    """Number of the first call of a whole roll with checkpoints that is chosen."""
    return next(number for number, call in enumerate(whole(), 1) if chosen(call))


def begin_pod(found: Cluster, name: str = "late", on: str = GROUP, **metadata: Any) -> None:
    """A pod on a group's first node that holds its devices; of no owner unless one is given."""
    (node, *_) = sorted(
        each["metadata"]["name"] for each in found.kube.list(NODES) or () if each["metadata"]["labels"].get(GROUP_LABEL) == on
    )
    container = {"name": "main", "image": "train", "resources": {"limits": {"aws.amazon.com/neuron": "16"}}}
    pod = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "namespace": "training", **metadata},
        "spec": {"nodeName": node, "containers": [container]},
    }
    found.kube.create(PODS, "training", pod)
