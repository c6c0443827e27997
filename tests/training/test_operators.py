"""Jobs of Kubeflow's and Ray's operators: roles, gangs, restarts, how workers are started, and what their states mean."""

import json
import re
import shlex
from itertools import pairwise
from typing import Any

import pytest

from tests.support import ROOT
from tests.training.sites import EVERYTHING, NEEDED, group, job, site
from training import launchers
from training.check import problems
from training.launchers import mpijob, pytorchjob, rayjob, tfjob, trainjob
from training.launchers.base import Launcher
from training.phase import Phase
from training.site import Site

OPERATORS = [mpijob.LAUNCHER, pytorchjob.LAUNCHER, rayjob.LAUNCHER, tfjob.LAUNCHER]
EACH = pytest.mark.parametrize("launcher", OPERATORS, ids=lambda launcher: launcher.name)
TENSORFLOW = NEEDED["tfjob"]


def made(launcher: Launcher, on: Site | None = None, **keys: Any) -> dict[str, Any]:
    """The job's own object."""
    return launcher.render(job(**keys), on or site())[-1]


def kinds(launcher: Launcher, on: Site, **keys: Any) -> list[str]:
    """Kinds of all objects."""
    return [item["kind"] for item in launcher.render(job(**keys), on)]


def templates(launcher: Launcher, on: Site | None = None, **keys: Any) -> dict[str, Any]:
    """Templates of a job's pods by role."""
    spec = made(launcher, on, **keys)["spec"]
    if launcher.name == "rayjob":
        cluster = spec["rayClusterSpec"]
        return {"Head": cluster["headGroupSpec"]["template"], "Worker": cluster["workerGroupSpecs"][0]["template"]}
    (roles,) = [value for key, value in spec.items() if key.endswith("ReplicaSpecs")]
    return {role: found["template"] for role, found in roles.items()}


def wrong(launcher: Launcher, **keys: Any) -> set[str]:
    """Key paths of what is wrong with a job on a site that has every operator."""
    return {problem.path for problem in problems(job(launcher=launcher.name, **keys), EVERYTHING)}


@EACH
def test_the_gang_is_ours_where_the_operator_makes_none(launcher: Launcher):
    """Without a group Volcano would place the pods one by one, as there is room."""
    assert "PodGroup" in kinds(launcher, site())
    worker = templates(launcher)["Worker"]
    assert worker["metadata"]["annotations"]["scheduling.k8s.io/group-name"] == "bert"
    assert worker["spec"]["schedulerName"] == "volcano"


@EACH
def test_the_gang_is_the_operators_where_it_makes_one(launcher: Launcher):
    """Two groups of one name: the MPI operator refuses a job whose group is another's."""
    on = site(own_gangs=frozenset({launcher.addon}))
    assert "PodGroup" not in kinds(launcher, on, queue="test")
    assert "scheduling.k8s.io/group-name" not in templates(launcher, on)["Worker"]["metadata"]["annotations"]
    assert '"test"' in json.dumps(made(launcher, on, queue="test"))


@EACH
def test_without_volcano_nothing_speaks_of_it(launcher: Launcher):
    """A pod for a scheduler that is not there waits for ever."""
    on = site(gang=False, queues={})
    assert "volcano" not in json.dumps(launcher.render(job(), on)[1:]).replace('"launcher_variables.py"', "")
    assert "schedulingPolicy" not in json.dumps(made(launcher, on))


@pytest.mark.parametrize("toolchain", ["xla-2.30", "torch-2.33"])
def test_mpirun_starts_no_ranks_of_pytorch_on_neuron(toolchain: str):
    """Without torchrun's variables each rank would take all cores of its node; the hint names what works."""
    on = site(node_groups={"g": group("g", "trn2.48xlarge")}, addons=EVERYTHING.addons)
    asked = job(launcher="mpijob", toolchain=toolchain, image="r.example/t:1")
    (found,) = problems(asked, on)
    assert (found.path, "by torchrun" in found.wrong, "launcher: volcano" in str(found)) == ("launcher", True, True)


@pytest.mark.parametrize("keys", [{"toolchain": "jax-2.32"}, {"toolchain": "none", "image": "r.example/mpi:1"}])
def test_mpirun_starts_ranks_of_jax_and_of_images_of_ones_own(keys: dict[str, Any]):
    """The entry script gives each rank of JAX's its cores."""
    assert problems(job(launcher="mpijob", **keys), EVERYTHING) == []


@EACH
def test_exit_codes_are_refused_with_other_launchers(launcher: Launcher):
    """None of these operators can end a job by them: it would be tried again for nothing, on nodes that bill."""
    assert "restarts.exitCodes" in wrong(launcher, restarts={"max": 1, "exitCodes": [3]})


def test_a_pytorch_job_has_one_master_among_its_nodes():
    """The operator counts the master as a node."""
    assert made(pytorchjob.LAUNCHER, nodes=3)["spec"]["pytorchReplicaSpecs"]["Worker"]["replicas"] == 2
    assert list(templates(pytorchjob.LAUNCHER, nodes=1)) == ["Master"]


def test_restarts_of_the_gang_fit_the_sum_that_the_operator_counts():
    """It adds up the restarts of all containers and fails the job when the sum reaches the limit."""
    policies = [made(pytorchjob.LAUNCHER, restarts={"max": count})["spec"]["runPolicy"]["backoffLimit"] for count in (0, 1, 3)]
    assert policies == [0, 3, 7]
    assert made(pytorchjob.LAUNCHER, restarts={"max": 0})["spec"]["pytorchReplicaSpecs"]["Master"]["restartPolicy"] == "Never"


def test_a_tf_job_without_servers_is_all_workers():
    """MultiWorkerMirroredStrategy: in step, by all-reduce; each must end well."""
    spec = made(tfjob.LAUNCHER, nodes=3, **TENSORFLOW)["spec"]
    assert {role: found["replicas"] for role, found in spec["tfReplicaSpecs"].items()} == {"Worker": 3}
    assert spec["successPolicy"] == "AllWorkers"


def test_a_tf_job_with_servers_has_a_chief_that_decides():
    """ParameterServerStrategy: workers and servers wait for the chief's commands and never end by themselves."""
    spec = made(tfjob.LAUNCHER, nodes=4, parameterServers=1, **TENSORFLOW)["spec"]
    assert {role: found["replicas"] for role, found in spec["tfReplicaSpecs"].items()} == {"Chief": 1, "Worker": 2, "PS": 1}
    assert spec["successPolicy"] == ""


@pytest.mark.parametrize(
    ("keys", "path"),
    [
        ({"image": "r.example/t:1", "toolchain": "none"}, "start"),
        ({**TENSORFLOW, "toolchain": "jax-2.32"}, "toolchain"),
        ({**TENSORFLOW, "workersPerNode": 2}, "workersPerNode"),
    ],
)
def test_a_tf_job_that_tensorflow_could_not_run_is_refused(keys: dict[str, Any], path: str):
    """One task for a pod, started by TF_CONFIG, from an image with TensorFlow."""
    assert path in wrong(tfjob.LAUNCHER, **keys)
    assert wrong(tfjob.LAUNCHER, **TENSORFLOW) == set()


def test_mpirun_gives_each_rank_all_variables_of_the_job():
    """A session of SSH has those of the SSH server only; a rank without FI_PROVIDER would talk TCP."""
    launcher = templates(mpijob.LAUNCHER)["Launcher"]["spec"]["containers"][0]
    command, names = launcher["command"], {item["name"] for item in launcher["env"]}
    given = {word for before, word in pairwise(command) if before == "-x"}
    assert {"FI_PROVIDER", "TRN_NODES", "TRN_ADDRESS"} <= names <= given
    assert command[command.index("-np") + 1] == "64"
    assert command[command.index("python3") :] == ["python3", "/trn/entry.py", "--", "python3", "/fsx/train.py"]


def test_mpi_slots_are_the_workers_of_a_node():
    """mpirun fills a node's slots before it goes to the next, which the entry script counts on."""
    assert [made(mpijob.LAUNCHER, workersPerNode=count)["spec"]["slotsPerWorker"] for count in (2, 32)] == [2, 32]


def test_the_mpi_launcher_waits_for_ssh_and_holds_no_device():
    """It is made when the workers are ready, which they are when SSH answers; a gang with it would wait for ever."""
    spec, found = made(mpijob.LAUNCHER)["spec"], templates(mpijob.LAUNCHER)
    assert spec["launcherCreationPolicy"] == "WaitForWorkersReady"
    assert found["Worker"]["spec"]["containers"][0]["readinessProbe"]["tcpSocket"] == {"port": 22}
    assert not found["Launcher"]["spec"].keys() & {"tolerations", "nodeSelector", "schedulerName"}
    assert found["Launcher"]["spec"]["containers"][0]["resources"]["limits"].keys() == {"memory"}
    on = site(own_gangs=frozenset({"mpiOperator"}))
    assert made(mpijob.LAUNCHER, on)["spec"]["runPolicy"]["schedulingPolicy"]["minAvailable"] == 2


def test_ray_knows_the_cores_of_a_node_and_the_head_has_none():
    """A task of Ray's lands where `neuron_cores` are; KubeRay sees whole chips and no cores."""
    cluster = made(rayjob.LAUNCHER)["spec"]["rayClusterSpec"]
    (word,) = shlex.split(cluster["workerGroupSpecs"][0]["rayStartParams"]["resources"])
    assert json.loads(word) == {"neuron_cores": 32}
    assert cluster["headGroupSpec"]["rayStartParams"]["num-cpus"] == "0"
    for template in templates(rayjob.LAUNCHER).values():
        assert "command" not in template["spec"]["containers"][0]


def test_the_driver_of_a_ray_job_is_the_jobs_command():
    """A word with a blank stays one word."""
    entry = made(rayjob.LAUNCHER, command=["python3", "train.py", "--name", "a b"])["spec"]["entrypoint"]
    assert shlex.split(entry) == ["python3", "/trn/entry.py", "--", "python3", "train.py", "--name", "a b"]


def test_a_ray_job_gives_its_nodes_back_at_once():
    """KubeRay's TTL is that of the cluster: a day of it would be a day of nodes."""
    spec = made(rayjob.LAUNCHER, ttl="1d")["spec"]
    assert spec["shutdownAfterJobFinishes"]
    assert "ttlSecondsAfterFinished" not in spec


def test_a_ray_job_without_an_image_is_told_how_ray_comes_into_it():
    """No toolchain's image has Ray: the command that adds it builds from the recipe's folder, which names the Ray that the tests run."""
    (found,) = (problem for problem in rayjob.problems(job(), site()) if problem.path == "image")
    assert "trn image build dev training/recipes/ray-train --toolchain xla-2.30" in found.hint
    (line,) = (ROOT / rayjob.WITH_RAY / "requirements.txt").read_text().splitlines()
    (pinned,) = re.findall(r"^ray==(.+)$", (ROOT / "training/requirements/torch.txt").read_text(), re.M)
    assert line == f"ray[default,train]=={pinned}"


def test_a_train_job_brings_a_runtime_of_its_own():
    """What a TrainJob cannot say, such as mounts and a grace period, is in there."""
    _, runtime, item = trainjob.LAUNCHER.render(job(), site())
    assert item["spec"]["runtimeRef"]["name"] == runtime["metadata"]["name"]
    (step,) = runtime["spec"]["template"]["spec"]["replicatedJobs"]
    assert [container["name"] for container in step["template"]["spec"]["template"]["spec"]["containers"]] == ["node"]
    assert item["metadata"]["annotations"] == {"scheduling.volcano.sh/queue-name": "training"}


@pytest.mark.parametrize(
    ("keys", "policy", "processes"),
    [
        ({}, {"numNodes": 2, "torch": {}}, 32),
        ({"toolchain": "jax-2.32"}, {"numNodes": 2, "jax": {}}, None),
        ({"start": "none"}, {"numNodes": 2}, None),
    ],
)
def test_trainer_sets_the_variables_of_the_jobs_framework(keys: dict[str, Any], policy: dict[str, Any], processes: int | None):
    """torchrun for PyTorch, `jax.distributed` for JAX; processes are said, since Trainer would count CPUs."""
    _, runtime, item = trainjob.LAUNCHER.render(job(**keys), site())
    assert runtime["spec"]["mlPolicy"] == policy
    assert item["spec"]["trainer"].get("numProcPerNode") == processes


def test_a_train_job_is_a_gang_of_trainers_where_volcano_is():
    """Trainer makes the group and marks the pods; the scheduler is the runtime's."""
    _, runtime, _ = trainjob.LAUNCHER.render(job(), site(hyper_nodes=True))
    assert runtime["spec"]["podGroupPolicy"] == {"volcano": {"networkTopology": {"mode": "hard", "highestTierAllowed": 1}}}
    _, runtime, item = trainjob.LAUNCHER.render(job(), site(gang=False, queues={}))
    assert "podGroupPolicy" not in runtime["spec"]
    assert "annotations" not in item["metadata"]


def condition(kind: str, status: str = "True") -> dict[str, str]:
    """One condition."""
    return {"type": kind, "status": status}


@pytest.mark.parametrize(
    ("launcher", "status", "expected"),
    [
        ("pytorchjob", {"conditions": [condition("Created"), condition("Running")]}, Phase.RUNNING),
        ("pytorchjob", {"conditions": [condition("Running", "False"), condition("Restarting")]}, Phase.RESTARTING),
        ("tfjob", {"conditions": [condition("Running", "False"), condition("Succeeded")]}, Phase.SUCCEEDED),
        ("mpijob", {"conditions": [condition("Created"), condition("Failed")]}, Phase.FAILED),
        ("mpijob", {"conditions": [condition("Suspended")]}, Phase.STOPPED),
        ("trainjob", {"jobsStatus": [{"name": "node", "ready": 1}]}, Phase.RUNNING),
        ("trainjob", {"conditions": [condition("Complete")], "jobsStatus": [{"name": "node", "ready": 0}]}, Phase.SUCCEEDED),
        ("trainjob", {"conditions": [condition("Failed")]}, Phase.FAILED),
        ("rayjob", {"jobDeploymentStatus": "Running", "jobStatus": "RUNNING"}, Phase.RUNNING),
        ("rayjob", {"jobDeploymentStatus": "Complete", "jobStatus": "SUCCEEDED"}, Phase.SUCCEEDED),
        ("rayjob", {"jobDeploymentStatus": "Complete", "jobStatus": "FAILED"}, Phase.FAILED),
        ("rayjob", {"jobDeploymentStatus": "Retrying"}, Phase.RESTARTING),
    ],
)
def test_states_have_the_words_of_all_launchers(launcher: str, status: dict[str, Any], expected: Phase):
    """One table shows jobs of all kinds."""
    assert launchers.launcher(launcher).phase(status) == expected
