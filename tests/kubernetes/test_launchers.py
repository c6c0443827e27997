"""One job by several launchers, run: real controllers make its pods on fake Trainium nodes, which run them as processes to the same result."""

import json
from collections.abc import Iterator
from dataclasses import replace

import pytest

from facts.names import GROUP_LABEL, NEURON_RESOURCE
from operations.local_kubernetes.api import Api, Object, wait
from operations.local_kubernetes.control_plane import ControlPlane
from operations.local_kubernetes.nodes import cordoned
from tests.kubernetes.conftest import Programs
from tests.kubernetes.kubelet.handle import RunningKubelet
from tests.kubernetes.kubelet.looking import log, pods_of
from tests.kubernetes.kubelet.looking import over as ended
from tests.kubernetes.kubelet.permission import why_not
from tests.kubernetes.kubelet.session import kubelet_of, trainium_nodes
from tests.kubernetes.kubelet.test_operator import WORKER
from tests.kubernetes.training_operator import training_operator
from tests.simulator.account.standing import standing
from tests.training.sites import EVERYTHING, job
from training.check import problems
from training.launchers import launcher
from training.phase import Phase

pytestmark = pytest.mark.kubernetes

LAUNCHERS = {"indexed-job": {"start": "none"}, "pytorchjob": {"start": "none"}, "tfjob": {"start": "tensorflow"}}
"""Those whose controllers are here, with how their workers find each other: the operators' own variables, read by the entry script."""


@pytest.fixture(scope="module")
def trainium(control_plane: ControlPlane) -> Iterator[RunningKubelet]:
    """A kubelet with the dev stack's two trn1.32xlarge."""
    if reason := why_not():
        pytest.skip(reason)
    with cordoned(control_plane.api()), kubelet_of(control_plane, trainium_nodes(standing().state)) as running:
        yield running


@pytest.fixture(scope="module")
def operator(programs: Programs, control_plane: ControlPlane) -> Iterator[None]:
    """The training operator for both kinds of its jobs that there are launchers for."""
    with training_operator(programs, control_plane, ("pytorchjob", "tfjob")):
        yield


def objects(name: str, namespace: str) -> list[Object]:
    """A job of both nodes, whole, whose workers send each other a number; without Volcano, which this test has not."""
    on = replace(EVERYTHING, namespace=namespace, claim=None, gang=False, queues={})
    keys = {"image": "python:3.11", "toolchain": "none", "command": ["python3", "-c", WORKER], **LAUNCHERS[name]}
    made = job(launcher=name, **keys)
    assert problems(made, on) == []
    rendered = launcher(name).render(made, on)
    if "runPolicy" in rendered[-1]["spec"]:
        # The job has succeeded when its first worker has; the operator would then delete the others, and their logs with them.
        rendered[-1]["spec"]["runPolicy"]["cleanPodPolicy"] = "None"
    return rendered


@pytest.mark.usefixtures("trainium", "operator")
@pytest.mark.parametrize("name", LAUNCHERS)
def test_the_same_job_succeeds_whichever_launcher_runs_it(name: str, api: Api, namespace: str):
    """Its objects are accepted as they are, both workers start on whole nodes, find each other by their launcher's variables, and agree."""
    made = objects(name, namespace)
    for item in made:
        api.create(item).ok()
    own = made[-1]

    def over() -> bool:
        found = launcher(name).phase(api.get(own).ok().get("status"))
        assert found is not Phase.FAILED, api.get(own).ok()["status"]
        return found is Phase.SUCCEEDED

    wait(over, f"{own['kind']} bert succeeds")
    pods = [
        pod for pod in pods_of(api, namespace, "trn/job=bert") if NEURON_RESOURCE in pod["spec"]["containers"][0]["resources"]["limits"]
    ]
    container = pods[0]["spec"]["containers"][0]["name"]
    pods = [ended(api, pod) for pod in pods]
    lines = [line for pod in pods for line in log(api, pod, container=container).splitlines()]
    assert sorted(line for line in lines if line.startswith("rank")) == ["rank 0 of 2: sum 3", "rank 1 of 2: sum 3"]
    events = [json.loads(line) for line in lines if line.startswith('{"trn"')]
    assert sorted(each["node"] for each in events if each["event"] == "ended") == [0, 1]
    assert len({pod["spec"]["nodeName"] for pod in pods}) == 2
    assert {pod["spec"]["nodeSelector"][GROUP_LABEL] for pod in pods} == {"trn1-32xl"}
