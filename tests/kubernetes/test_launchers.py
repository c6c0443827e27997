"""One training by several launchers, run: real controllers make its pods on fake Trainium nodes, which run them as processes.

It succeeds, survives a killed worker and a lost node, and ends with the same loss to the last bit whichever launcher runs it. An MPIJob's
is in test_mpijob.py, with an image of its own. Not run: rayjob (KubeRay makes its pods in test_rayjob.py, Ray's job server is not to be had
here), slurm (Slurm is no Go module), torchx (its Volcano job is ours: tests/training), and those that run outside of the cluster.
"""

import copy
import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from facts.names import GROUP_LABEL, NEURON_RESOURCE
from local_kubernetes.api import Api, Object, wait
from local_kubernetes.control_plane import ControlPlane
from local_kubernetes.nodes import cordoned, ready
from tests.kubernetes import tiny_training
from tests.kubernetes.conftest import Programs, fresh_namespace
from tests.kubernetes.jobset import job_set_controller
from tests.kubernetes.kubelet.handle import RunningKubelet
from tests.kubernetes.kubelet.looking import pods_of
from tests.kubernetes.kubelet.permission import why_not
from tests.kubernetes.kubelet.session import bound_claim, end_instance, joined, kubelet_of, lose, trainium_nodes
from tests.kubernetes.trainer import trainer
from tests.kubernetes.training_operator import training_operator
from tests.kubernetes.volcano import volcano_of
from tests.simulator.account.standing import standing
from tests.training.sites import EVERYTHING, job
from training.check import problems
from training.launchers import launcher
from training.phase import Phase

pytestmark = pytest.mark.kubernetes

TOGETHER = ("indexed-job", "jobset", "trainjob", "pytorchjob", "tfjob")
SIDE_BY_SIDE = pytest.mark.parametrize("names", [("volcano",), TOGETHER], ids=["volcano", "the others"])
"""Volcano's own apart: it and Kubernetes' scheduler do not know of each other's choice at the same moment, and would fill one node twice."""
STARTS = {"tfjob": "tensorflow"}
"""How workers find each other, where it is not by the variables of the entry script alone."""
STEPS, HOLD = 20, 12
SAVED = HOLD // tiny_training.EVERY * tiny_training.EVERY
"""Step of the newest checkpoint when a worker is lost."""
LOSS = tiny_training.alone(2, STEPS)
PATIENCE_S = 480
"""A Job makes a failed pod again after 10 s, and 20 s when there were two; a JobSet's old Job must be gone before."""


@pytest.fixture(scope="module")
def controllers(programs: Programs, control_plane: ControlPlane, _dev_nodes: list[str]) -> Iterator[None]:
    """Volcano, JobSet's, Trainer's, and the training operator's for both kinds of its jobs that there are launchers for."""
    with ExitStack() as running:
        running.enter_context(volcano_of(control_plane, programs))
        running.enter_context(job_set_controller(programs, control_plane))
        running.enter_context(trainer(programs, control_plane))
        running.enter_context(training_operator(programs, control_plane, ("pytorchjob", "tfjob")))
        yield


@pytest.fixture(scope="module")
def trainium(control_plane: ControlPlane, controllers: None) -> Iterator[RunningKubelet]:
    """A kubelet with nodes for all jobs."""
    if reason := why_not():
        pytest.skip(reason)
    with cordoned(control_plane.api()), kubelet_of(control_plane, nodes()) as running:
        yield running


def nodes() -> list[Object]:
    """Two trn1.32xlarge, as the dev stack's, for each job that runs at once."""
    found = []
    for number in range(len(TOGETHER)):
        for item in trainium_nodes(standing().state):
            name = f"{item['metadata']['name']}-{number}"
            item["metadata"]["name"] = item["metadata"]["labels"]["kubernetes.io/hostname"] = name
            found.append(item)
    return found


class Run:
    """One job on the file system of its namespace."""

    def __init__(self, name: str, api: Api, namespace: str, hold: int = 0, **site: Any) -> None:
        """Submit it. With `hold`, its first start stops for ever after that step, in its last worker. `site`: what else is so there."""
        self._launcher, self._api, self.namespace = launcher(name), api, namespace
        self.shared = bound_claim(api, namespace, "fsx-claim")
        on = replace(EVERYTHING, **{"namespace": namespace, "gang": name == "volcano", "queues": {}, **site})
        made = job(
            launcher=name,
            image="python:3.11",
            toolchain="none",
            start=STARTS.get(name, "none"),
            command=["python3", "-c", Path(tiny_training.__file__).read_text()],
            environment={"TINY_STEPS": str(STEPS), "TINY_HOLD": str(hold)},
            checkpoints={"path": "/fsx/bert"},
        )
        assert problems(made, on) == []
        self.objects = self._launcher.render(made, on)
        for item in self.objects:
            api.create(item).ok()

    @property
    def pods(self) -> list[Object]:
        """Pods that train, those that ended and are still there among them."""
        found = pods_of(self._api, self.namespace, "trn/job=bert")
        return [
            pod
            for pod in found
            if NEURON_RESOURCE in pod["spec"]["containers"][0]["resources"]["limits"] or pod["spec"].get("resourceClaims")
        ]

    def lines(self, pod: Object) -> list[dict[str, Any]]:
        """What a worker has said of its progress; nothing while there is no log."""
        path = f"{self._api.path(pod)}/{pod['metadata']['name']}/log"
        answer = self._api.call("GET", path, container=pod["spec"]["containers"][0]["name"])
        text = str(answer.body.get("text", "")) if answer.status == 200 else ""
        return [json.loads(line) for line in text.splitlines() if line.startswith('{"trn"') and line.endswith("}")]

    def holding(self) -> Object:
        """The pod of the worker that has stopped on purpose, when it has."""

        def found() -> Object | None:
            return next((pod for pod in self.pods if any("holding" in line for line in self.lines(pod))), None)

        return wait(found, f"a worker has come to step {HOLD}", PATIENCE_S)

    def succeeded(self) -> list[dict[str, Any]]:
        """What the first worker's last start has said, when the job has succeeded. AssertionError when it has failed."""
        own = self.objects[-1]
        status: Any = None

        def over() -> bool:
            nonlocal status
            status = self._api.get(own).ok().get("status")
            assert self._launcher.phase(status) is not Phase.FAILED, status
            return self._launcher.phase(status) is Phase.SUCCEEDED

        wait(over, f"{own['kind']} bert succeeds", PATIENCE_S)
        ended = [self.lines(pod) for pod in self.pods if pod["status"]["phase"] == "Succeeded"]
        (first,) = [said for said in ended if any(line.get("rank") == 0 and line.get("event") == "finished" for line in said)]
        assert {pod["spec"]["nodeSelector"][GROUP_LABEL] for pod in self.pods} == {"trn1-32xl"}
        return first

    def end(self) -> None:
        """Delete it, and wait until its nodes are free."""
        for item in (*reversed(self.objects), *self.shared):
            self._api.delete(item, foreground=False)
        for pod in self.pods:
            self._api.delete(pod, grace_s=0, foreground=False)
        wait(lambda: not self.pods, "its pods are gone")


def losses(said: list[dict[str, Any]]) -> list[tuple[int, float]]:
    """Loss by step."""
    return [(line["step"], line["loss"]) for line in said if line["trn"] == "step"]


def resumed_at(said: list[dict[str, Any]]) -> list[int]:
    """Step of the checkpoint that a start began with; empty for one that began at the beginning."""
    return [line["step"] for line in said if line.get("event") == "resumed"]


@contextmanager
def runs_of(control_plane: ControlPlane, names: Sequence[str], hold: int = 0) -> Iterator[dict[str, Run]]:
    """The job by several launchers side by side, each in a namespace of its own. There are two nodes for each, and no others."""
    api = control_plane.api()
    with ExitStack() as ending:
        found: dict[str, Run] = {}
        for node in nodes()[2 * len(names) :]:
            api.merge(node, {"spec": {"unschedulable": True}}).ok()
            ending.callback(api.merge, node, {"spec": {"unschedulable": None}})
        for name in names:
            found[name] = Run(name, api, ending.enter_context(fresh_namespace(api)), hold)
            ending.callback(found[name].end)
        yield found


@SIDE_BY_SIDE
def test_the_same_job_succeeds_whichever_launcher_runs_it(names: Sequence[str], control_plane: ControlPlane, trainium: RunningKubelet):
    """Its objects are accepted as they are, both workers start on whole nodes, find each other, and train to the same loss."""
    with runs_of(control_plane, names) as runs:
        for name, run in runs.items():
            said = run.succeeded()
            assert [step for step, _ in losses(said)] == list(range(1, STEPS + 1)), name
            assert (losses(said)[-1], resumed_at(said)) == ((STEPS, LOSS), []), name
            assert [line["step"] for line in said if line.get("event") == "saved"] == [5, 10, 15, 20], name


@SIDE_BY_SIDE
def test_a_killed_worker_costs_the_steps_since_the_last_checkpoint(
    names: Sequence[str], control_plane: ControlPlane, trainium: RunningKubelet
):
    """The other one notices and ends too; the launcher starts both again, which go on from the checkpoint to the same loss."""
    with runs_of(control_plane, names, HOLD) as runs:
        for run in runs.values():
            victim = run.holding()
            trainium.process_of(victim, victim["spec"]["containers"][0]["name"]).kill()
        for name, run in runs.items():
            said = run.succeeded()
            assert resumed_at(said) == [SAVED], name
            assert [step for step, _ in losses(said)] == list(range(SAVED + 1, STEPS + 1)), name
            assert losses(said)[-1] == (STEPS, LOSS), name


@pytest.fixture
def replace_node(api: Api, trainium: RunningKubelet) -> Iterator[Callable[[str], str]]:
    """Lets a node be lost, and its node group make another; gives the new one's name. After the test all is as before."""
    items = {item["metadata"]["name"]: item for item in nodes()}
    added: list[Object] = []

    def lost(name: str) -> str:
        lose(api, name)
        end_instance(api, name)
        made = copy.deepcopy(items[name])
        made["metadata"]["name"] = made["metadata"]["labels"]["kubernetes.io/hostname"] = f"{name}-again"
        joined(api, [made])
        added.append(made)
        return f"{name}-again"

    yield lost
    for item in added:
        end_instance(api, item["metadata"]["name"])
    there = api.names("/api/v1/nodes")
    joined(api, [item for name, item in items.items() if name not in there])
    wait(lambda: items.keys() <= set(ready(api)), "the nodes are as before")


@SIDE_BY_SIDE
def test_a_lost_node_costs_the_steps_since_the_last_checkpoint(
    names: Sequence[str], control_plane: ControlPlane, replace_node: Callable[[str], str]
):
    """Its worker says nothing more, and the other one notices; the job goes on, to the same loss, when the node group has another node."""
    with runs_of(control_plane, names, HOLD) as runs:
        held = {name: run.holding()["spec"]["nodeName"] for name, run in runs.items()}
        for node in held.values():
            replace_node(node)
        placed: set[str] = set()
        for name, run in runs.items():
            said = run.succeeded()
            assert resumed_at(said) == [SAVED], name
            assert losses(said)[-1] == (STEPS, LOSS), name
            placed |= {pod["spec"]["nodeName"] for pod in run.pods if pod["status"]["phase"] == "Succeeded"}
        assert not placed & set(held.values()), "nothing ends on a node that was lost"
