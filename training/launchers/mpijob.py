"""MPIJob: mpirun in a launcher's pod, which reaches the workers by SSH. For Horovod-style all-reduce, and whatever else mpirun starts.

The launcher is made when all workers are ready, and a worker is ready when its SSH server answers: mpirun waits for no host.
Source of what the operator sets and mounts: kubeflow/mpi-operator v0.8.2 pkg/controller/mpi_job_controller.go.
"""

from collections.abc import Iterator

from facts.kubernetes_kinds import Resource
from facts.problems import Problem
from training.duration import seconds
from training.environment import environment
from training.job import Job
from training.launchers.base import Launcher
from training.launchers.kubeflow import CONDITIONS, groups_itself, kubeflow_phase, no_exit_codes, scheduling_policy
from training.launchers.parts import companion, metadata, own_objects, pod_group, pod_template, ttl_s
from training.payload import ENTRY_SCRIPT
from training.plan import SCRIPTS, Plan, plan, toolchain_of
from training.pod import Object
from training.site import Site

ADDON = "mpiOperator"
SSH_PORT = 22
HOST_FILE = "/etc/mpi/hostfile"
SERVER = "mkdir -p /run/sshd && exec /usr/sbin/sshd -De -o StrictModes=no -o PermitRootLogin=prohibit-password"
"""The operator's key lies in a mounted Secret, whose owner and mode sshd would refuse."""
SSH_OPTIONS = "-o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null -o LogLevel=ERROR -o ConnectionAttempts=10"
"""Hosts are new each time, and no image knows their keys."""
INHERITED = ("PATH", "LD_LIBRARY_PATH")
"""Of the image, which a session of SSH does not have."""


def mpirun(plan: Plan) -> list[str]:
    """The launcher's command. mpirun takes over the variables that `-x` names, and no other: what a worker's pod has is not in its SSH session."""
    ranks = plan.job.nodes * plan.workers_per_node
    variables = [word for name in (*INHERITED, *_variables(plan)) for word in ("-x", name)]
    return [
        "mpirun", "--allow-run-as-root", "-np", str(ranks), "--hostfile", HOST_FILE, "--bind-to", "none", "--tag-output",
        "--mca", "plm_rsh_args", SSH_OPTIONS, *variables, "python3", f"{SCRIPTS}/{ENTRY_SCRIPT}", "--", *plan.command,
    ]  # fmt: skip


def _variables(plan: Plan) -> dict[str, str]:
    """The job's, and where the first worker is: a session of SSH does not know the name of its own pod's series."""
    return {"TRN_ADDRESS": f"{plan.job.name}-worker-0.{plan.job.name}", **environment(plan)}


def render(job: Job, site: Site) -> list[Object]:
    """The files, the gang of the workers unless the operator makes it, and the MPIJob."""
    found = plan(job, site)
    own_group = groups_itself(found, ADDON)
    policy: Object = {
        "cleanPodPolicy": "Running",
        # Of the launcher: the workers stay, and mpirun starts all ranks again.
        "backoffLimit": job.restarts.max,
        "ttlSecondsAfterFinished": ttl_s(job),
    }
    if job.time_limit is not None:
        policy["activeDeadlineSeconds"] = seconds(job.time_limit)
    # Of the workers alone: a gang with the launcher, which is made after them, would wait for ever.
    if site.gang and not own_group:
        policy["schedulingPolicy"] = scheduling_policy(found)
    spec: Object = {
        "slotsPerWorker": found.workers_per_node,
        "mpiImplementation": "OpenMPI",
        "launcherCreationPolicy": "WaitForWorkersReady",
        "runPolicy": policy,
        "mpiReplicaSpecs": {
            "Launcher": {"replicas": 1, "restartPolicy": "Never", "template": _launcher(found)},
            "Worker": {"replicas": job.nodes, "restartPolicy": "Never", "template": _worker(found, gang=own_group)},
        },
    }
    made = {"apiVersion": "kubeflow.org/v2beta1", "kind": "MPIJob", "metadata": metadata(found), "spec": spec}
    return [*own_objects(found), *([pod_group(found)] if own_group else []), made]


def _launcher(plan: Plan) -> Object:
    template = companion(plan, mpirun(plan), container="launcher", cpu="1", memory="2Gi")
    container = template["spec"]["containers"][0]
    container["env"] = [{"name": name, "value": value} for name, value in _variables(plan).items()]
    del template["spec"]["restartPolicy"]
    return template


def _worker(plan: Plan, *, gang: bool) -> Object:
    template = pod_template(plan, container="worker", gang=gang)
    container = template["spec"]["containers"][0]
    container["command"] = ["sh", "-c", SERVER]
    container["readinessProbe"] = {"tcpSocket": {"port": SSH_PORT}, "periodSeconds": 2}
    del template["spec"]["restartPolicy"]
    return template


def problems(job: Job, site: Site) -> Iterator[Problem]:
    """What mpirun and its operator do not offer.

    PyTorch on Neuron takes its place among the ranks from torchrun's variables: without TORCHELASTIC_RUN_ID, torch-neuronx sets none of
    NEURON_PJRT_PROCESSES_NUM_DEVICES, NEURON_PJRT_PROCESS_INDEX and NEURON_RT_ROOT_COMM_ID, and each rank would take all cores of its node.
    Ray, which starts no torchrun either, sets that variable for the same reason (ray-project/ray python/ray/train/torch/xla/config.py).
    """
    yield from no_exit_codes(job, "MPIJob")
    toolchain = toolchain_of(job, site)
    if toolchain is not None and (job.start or toolchain.start) == "torchrun":
        wrong = f"{toolchain.name} starts its ranks by torchrun, and mpirun starts those of an MPIJob"
        hint = "take `launcher: volcano`, or jobset, trainjob or pytorchjob; an MPIJob runs `jax-2.32`, or an image of yours with `toolchain: none`"
        yield Problem("launcher", "mpijob", wrong, hint=hint)


LAUNCHER = Launcher(
    name="mpijob",
    title="MPIJob",
    take_it="the script is started by mpirun, such as Horovod's or one of mpi4py",
    lacks=(
        "the image: it needs Open MPI and an SSH server, which AWS's training images do not all have",
        "exit codes that end the job",
        "a lost or evicted worker: it fails the job, restarts are mpirun's alone",
        "time for a checkpoint when it is stopped: mpirun ends its ranks after a few seconds",
        "room on the Neuron nodes for the launcher: it runs on another node and pulls the image there as well",
    ),
    restarts=(
        "The operator makes the launcher's pod again, `restarts.max` times (`backoffLimit`). The workers' pods stay, and mpirun "
        "starts all ranks again, from the newest checkpoint. A worker's pod that is lost or evicted fails the job."
    ),
    tried=(
        "Run in the tests by the MPI operator and Open MPI's mpirun on fake Trainium nodes whose pods are processes: it trains, "
        "loses a rank, and ends with the same loss as by the others (`tests/kubernetes/test_mpijob.py`). A remote shell of the "
        "tests stands for SSH, whose keys and options are not tried."
    ),
    status="`status.conditions`, of which the first of the table that is `True` decides.",
    states=CONDITIONS,
    sources=(
        "kubeflow/mpi-operator v0.8.2 pkg/controller/mpi_job_controller.go, pkg/apis/kubeflow/v2beta1",
        "Open MPI 5, mpirun manual page",
    ),
    needs=("an image with Open MPI, an SSH server and Python",),
    render=render,
    phase=kubeflow_phase,
    resource=Resource("MPIJob", "/apis/kubeflow.org/v2beta1", "mpijobs"),
    addon=ADDON,
    problems=problems,
)
