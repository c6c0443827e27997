"""One training by several launchers, run: real controllers make its pods on fake Trainium nodes, which run them as processes.

It succeeds, survives a killed worker and a lost node, and ends with the same loss to the last bit whichever launcher runs it. Not here,
since their controllers are no Go module that is built here: rayjob (KubeRay), slurm (Slinky and Slurm itself), torchx (its Volcano job is
ours: tests/training), mpijob (an image with Open MPI and an SSH server), and those that run outside of the cluster.
"""

import copy
import json
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from facts.names import GROUP_LABEL, NEURON_RESOURCE
from operations.local_kubernetes.api import Api, Object, wait
from operations.local_kubernetes.control_plane import ControlPlane
from operations.local_kubernetes.nodes import cordoned, ready
from tests.kubernetes import tiny_training
from tests.kubernetes.conftest import Programs
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

LAUNCHERS = ("volcano", "jobset", "trainjob", "pytorchjob", "tfjob", "indexed-job")
STARTS = {"tfjob": "tensorflow"}
"""How workers find each other, where it is not by the variables of the entry script alone."""
STEPS, HOLD = 20, 12
SAVED = HOLD // tiny_training.EVERY * tiny_training.EVERY
"""Step of the newest checkpoint when a worker is lost."""
LOSS = tiny_training.alone(2, STEPS)
PATIENCE_S = 180
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
    """A kubelet with the dev stack's two trn1.32xlarge."""
    if reason := why_not():
        pytest.skip(reason)
    with cordoned(control_plane.api()), kubelet_of(control_plane, trainium_nodes(standing().state)) as running:
        yield running


class Run:
    """One job on the file system of its namespace."""

    def __init__(self, name: str, api: Api, namespace: str, hold: int = 0) -> None:
        """Submit it. With `hold`, its first start stops for ever after that step, in its last worker."""
        self._launcher, self._api, self._namespace = launcher(name), api, namespace
        self.shared = bound_claim(api, namespace, "fsx-claim")
        on = replace(EVERYTHING, namespace=namespace, gang=name == "volcano", queues={})
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
        found = pods_of(self._api, self._namespace, "trn/job=bert")
        return [pod for pod in found if NEURON_RESOURCE in pod["spec"]["containers"][0]["resources"]["limits"]]

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


@pytest.mark.parametrize("name", LAUNCHERS)
def test_the_same_job_succeeds_whichever_launcher_runs_it(name: str, api: Api, namespace: str, trainium: RunningKubelet):
    """Its objects are accepted as they are, both workers start on whole nodes, find each other, and train to the same loss."""
    run = Run(name, api, namespace)
    try:
        said = run.succeeded()
        assert [step for step, _ in losses(said)] == list(range(1, STEPS + 1))
        assert (losses(said)[-1], resumed_at(said)) == ((STEPS, LOSS), [])
        assert [line["step"] for line in said if line.get("event") == "saved"] == [5, 10, 15, 20]
    finally:
        run.end()


@pytest.mark.parametrize("name", LAUNCHERS)
def test_a_killed_worker_costs_the_steps_since_the_last_checkpoint(name: str, api: Api, namespace: str, trainium: RunningKubelet):
    """The other one notices and ends too; the launcher starts both again, which go on from the checkpoint to the same loss."""
    run = Run(name, api, namespace, HOLD)
    try:
        victim = run.holding()
        trainium.process_of(victim, victim["spec"]["containers"][0]["name"]).kill()
        said = run.succeeded()
        assert resumed_at(said) == [SAVED]
        assert [step for step, _ in losses(said)] == list(range(SAVED + 1, STEPS + 1))
        assert losses(said)[-1] == (STEPS, LOSS)
    finally:
        run.end()


@pytest.fixture
def replacement(api: Api, trainium: RunningKubelet) -> Iterator[Object]:
    """A node that takes the place of one that is lost, as its node group makes one; not there yet. After the test all is as before."""
    items = trainium_nodes(standing().state)
    made = copy.deepcopy(items[0])
    made["metadata"]["name"] = made["metadata"]["labels"]["kubernetes.io/hostname"] = f"{made['metadata']['name']}-again"
    yield made
    names = api.names("/api/v1/nodes")
    if made["metadata"]["name"] in names:
        end_instance(api, made["metadata"]["name"])
    joined(api, [item for item in items if item["metadata"]["name"] not in names])
    wait(lambda: {item["metadata"]["name"] for item in items} <= set(ready(api)), "the nodes are as before")


@pytest.mark.parametrize("name", LAUNCHERS)
def test_a_lost_node_costs_the_steps_since_the_last_checkpoint(
    name: str, api: Api, namespace: str, trainium: RunningKubelet, replacement: Object
):
    """Its worker says nothing more, and the other one notices; the job goes on, to the same loss, when the node group has another node."""
    run = Run(name, api, namespace, HOLD)
    try:
        node = run.holding()["spec"]["nodeName"]
        lose(api, node)
        end_instance(api, node)
        joined(api, [replacement])
        said = run.succeeded()
        assert resumed_at(said) == [SAVED]
        assert losses(said)[-1] == (STEPS, LOSS)
        assert {pod["spec"].get("nodeName") for pod in run.pods if pod["status"]["phase"] == "Succeeded"} & {
            replacement["metadata"]["name"]
        }
    finally:
        run.end()
