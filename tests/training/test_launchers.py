"""What launchers make of a job: the same pod everywhere, in objects that the API server accepts."""

import json
import time
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.training.objects import errors, pods
from tests.training.sites import EVERYTHING, NEEDED, NEWEST, group, job, site
from training import launchers
from training.launchers.base import Launcher
from training.phase import Phase
from training.site import Site

GOLDEN = Path(__file__).parent / "golden"
FULL: dict[str, Any] = {
    "name": "bert-large",
    "toolchain": "xla-2.30",
    "command": ["python3", "/fsx/bert/train.py"],
    "args": ["--steps", "1000"],
    "nodes": 2,
    "queue": "test",
    "environment": {"NEURON_RT_STOCHASTIC_ROUNDING_EN": "1", "FI_EFA_FORK_SAFE": "0"},
    "data": {"path": "/fsx/data/wiki"},
    "mounts": [{"path": "/fsx"}, {"path": "/models", "claim": "models", "readOnly": True}],
    "checkpoints": {"path": "/fsx/bert/checkpoints", "interval": "20m", "keep": 2, "grace": "4m"},
    "restarts": {"max": 5, "exitCodes": [1, 134], "hangAfter": "2h"},
    "rendezvous": "etcd",
    "priority": "high",
    "timeLimit": "12h",
    "ttl": "2h",
}
"""A job that says everything."""
CASES: dict[str, tuple[dict[str, Any], Site]] = {
    "full": (FULL, site(hyper_nodes=True)),
    "smallest": ({"name": "small", "command": ["nccom-test", "allr"], "start": "none"}, site(claim=None)),
    "part-of-a-node": ({"name": "part", "command": ["python3", "a.py"], "toolchain": "jax-2.32", "devices": 4, "restarts": {"max": 0}}, site()),
    "pool": (
        {"name": "pool", "command": ["python3", "a.py"], "pool": "trn2", "toolchain": "torch-2.33", "image": "r.example/t:1", "nodes": 3},
        site(pools={"trn2": group("trn2", "trn2.48xlarge", size=0, logical_core_size=1, is_pool=True, release_version=NEWEST)}, hyper_nodes=True),
    ),
}  # fmt: skip


def rendered(name: str, case: str) -> list[dict[str, Any]]:
    """Objects of a case by one launcher."""
    keys, on = CASES[case]
    return launchers.launcher(name).render(job(**{"nodes": 1, **keys, "launcher": name}), on)


KUBERNETES = [found.name for found in launchers.launchers() if found.resource is not None]
"""Launchers whose job is an object of Kubernetes."""
STARTED_OTHERWISE = {"mpijob": "mpirun starts the entry script on the workers", "rayjob": "the head runs the job's command"}
"""Launchers whose workers wait for another pod; their own tests look at how they are started."""


def workers(objects: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Templates of pods that ask for Neuron chips."""
    return [pod for pod in pods(objects) if "aws.amazon.com/neuron" in pod["spec"]["containers"][0]["resources"]["requests"]]


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("name", KUBERNETES)
def test_rendered_objects_are_as_written(name: str, case: str):
    """A change of what is submitted is seen in a diff. `TRN_GOLDEN=write` writes them."""
    import os

    text = yaml.safe_dump_all(json.loads(json.dumps(rendered(name, case)[1:])), sort_keys=False, width=140)
    path = GOLDEN / f"{name}.{case}.yaml"
    if os.environ.get("TRN_GOLDEN") == "write":
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
    assert path.read_text() == text


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("name", KUBERNETES)
def test_objects_satisfy_their_schemas(name: str, case: str):
    """Objects by the CRD of their kind, and the pods in them, which a controller makes long after its own object was accepted."""
    objects = rendered(name, case)
    assert pods(objects)
    assert [error for body in objects for error in errors(body)] == []


def test_the_check_of_objects_refuses_what_is_wrong():
    """One that always passes would show nothing."""
    for path, value in (
        ("minAvailable", "2"),
        ("tasks", [{"name": "x", "replicas": 1, "template": {}, "nme": "x"}]),
        ("policies", [{"event": "PodLost", "action": "RestartJob"}]),
    ):
        _, body = rendered("volcano", "full")
        body["spec"][path] = value
        assert len(errors(body)) == 1
    _, body = rendered("volcano", "full")
    body["spec"]["tasks"][0]["template"]["spec"]["containers"][0]["volumeMount"] = []
    assert len(errors(body)) == 1


@pytest.mark.parametrize("name", KUBERNETES)
def test_every_object_is_the_jobs(name: str):
    """Labels find everything that one job made, pods as well."""
    objects = rendered(name, "full")
    assert {item["metadata"]["labels"]["trn/job"] for item in [*objects, *pods(objects)]} == {"bert-large"}
    assert {item["metadata"]["namespace"] for item in objects} == {"training"}


@pytest.mark.parametrize("name", KUBERNETES)
def test_the_job_of_all_nodes_takes_whole_nodes(name: str):
    """Chips and interfaces of a whole node, and less CPU and memory than kubelet offers: DaemonSets need room."""
    (template, *_) = workers(rendered(name, "full"))
    asked = template["spec"]["containers"][0]["resources"]["requests"]
    assert (asked["aws.amazon.com/neuron"], asked["vpc.amazonaws.com/efa"]) == ("16", "8")
    assert int(asked["cpu"]) < 127
    assert int(asked["memory"].removesuffix("Gi")) < 471_638 // 1024


@pytest.mark.parametrize("name", KUBERNETES)
def test_karpenter_disrupts_no_pod_of_a_job(name: str):
    """Nor the head or launcher, on a node that it consolidates first: with one pod the whole gang starts again."""
    found = pods(rendered(name, "full"))
    assert found
    assert {pod["metadata"]["annotations"]["karpenter.sh/do-not-disrupt"] for pod in found} == {"true"}


@pytest.mark.parametrize("name", KUBERNETES)
def test_pods_find_the_entry_script(name: str):
    """Their command is it, from the ConfigMap that is made with the job."""
    files, *objects = rendered(name, "full")
    assert {"entry.py", "launcher_variables.py", "worker_commands.py"} <= files["data"].keys()
    assert "/trn/entry.py" in json.dumps(objects)
    for template in pods(objects):
        (container,) = template["spec"]["containers"]
        assert name in STARTED_OTHERWISE or container["command"][:3] == ["python3", "/trn/entry.py", "--"]
        (volume,) = [volume for volume in template["spec"]["volumes"] if "configMap" in volume]
        assert volume["configMap"]["name"] == files["metadata"]["name"] == "bert-large-entry"


@pytest.mark.parametrize("name", KUBERNETES)
def test_rendering_changes_nothing_and_repeats_itself(name: str):
    """The same job, the same objects: what is applied again changes nothing."""
    first = rendered(name, "full")
    assert rendered(name, "full") == first
    first[0]["metadata"]["labels"].clear()
    assert rendered(name, "full")[0]["metadata"]["labels"]


@pytest.mark.parametrize("name", KUBERNETES)
def test_objects_do_not_grow_with_the_job(name: str):
    """A thousand nodes are one object with a count: the API server keeps 1.5 MB of it at most."""
    large = site(node_groups={"g": group("g", "trn1.32xlarge", largest_size=4096)})
    found = launchers.launcher(name)
    small = [len(json.dumps(found.render(job(nodes=nodes, launcher=name), large))) for nodes in (2, 1000)]
    assert small[1] - small[0] < 40


@pytest.mark.parametrize("found", launchers.launchers(), ids=lambda found: found.name)
def test_a_job_without_a_status_waits(found: Launcher):
    """The controller has not looked at it yet."""
    assert found.phase(None) == found.phase({}) == Phase.WAITING


def test_a_launcher_that_there_is_not_is_an_error():
    """A name is checked before it is imported."""
    with pytest.raises(KeyError):
        launchers.launcher("base")


def test_a_thousand_jobs_are_rendered_within_a_second():
    """Of processor time, by all launchers in turn: it reads no file and asks nothing."""
    chosen = [each for each in launchers.launchers() if each.resource is not None]
    asked = [(each, job(name=f"j{n}", launcher=each.name, **NEEDED.get(each.name, {}))) for n in range(100) for each in chosen][:100]
    began = time.process_time()
    for _ in range(10):
        for each, made in asked:
            each.render(made, EVERYTHING)
    assert time.process_time() - began < 1
