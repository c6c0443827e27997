"""Kubeflow's real training operator drives processes: a PyTorchJob whose workers add up, an MPIJob whose launcher goes into them."""

import pytest

from local_kubernetes.api import Api, Object, wait
from local_kubernetes.control_plane import ControlPlane
from tests.kubernetes.conftest import Programs
from tests.kubernetes.kubelet.handle import RunningKubelet, process_pod
from tests.kubernetes.kubelet.looking import log, over, phase, pods_of
from tests.kubernetes.training_operator import succeeded, training_operator

pytestmark = [pytest.mark.kubernetes, pytest.mark.usefixtures("kubelet")]

KINDS = ("pytorchjob", "mpijob")
WORKER = """
import os, socket, sys, time
rank, size, port = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"]), int(os.environ["MASTER_PORT"])
def connected():
    while True:
        try:
            return socket.create_connection((os.environ["MASTER_ADDR"], port), 5)
        except OSError:
            time.sleep(0.1)
if rank == 0:
    with socket.create_server(("", port)) as server:
        peers = [server.accept()[0] for _ in range(size - 1)]
        total = 1 + sum(int(peer.recv(16)) for peer in peers)
        for peer in peers:
            peer.sendall(str(total).encode())
else:
    with connected() as peer:
        peer.sendall(str(rank + 1).encode())
        total = int(peer.recv(16))
print(f"rank {rank} of {size}: sum {total}", flush=True)
"""


HOLDING = """
import os, pathlib, time
held = pathlib.Path("/kept/held")
if os.environ["RANK"] == "1" and not held.exists():
    held.touch()
    print("holding", flush=True)
    time.sleep(600)
"""
"""Before the first worker's work: its first start does nothing until it is killed."""


@pytest.fixture(scope="module")
def operator(programs: Programs, control_plane: ControlPlane):
    """The operator's controllers for two kinds, without its webhooks; gone after the module."""
    with training_operator(programs, control_plane, KINDS):
        yield


def pytorch_job(name: str, namespace: str, workers: int, script: str) -> Object:
    """A master and workers, each with a folder /kept that outlives its container."""
    mount = {"volumeMounts": [{"name": "kept", "mountPath": "/kept"}]}
    volumes = [{"name": "kept", "emptyDir": {}}]
    spec = process_pod(name, namespace, script, image="python", container={"name": "pytorch", **mount}, volumes=volumes)["spec"]
    del spec["restartPolicy"]
    replica = {"restartPolicy": "OnFailure", "template": {"spec": spec}}
    replicas = {"Master": {**replica, "replicas": 1}, "Worker": {**replica, "replicas": workers}}
    return {
        "apiVersion": "kubeflow.org/v1",
        "kind": "PyTorchJob",
        "metadata": {"name": name, "namespace": namespace},
        "spec": {"runPolicy": {"cleanPodPolicy": "None"}, "pytorchReplicaSpecs": replicas},
    }


@pytest.mark.usefixtures("operator")
def test_a_pytorch_job_finds_its_master_and_succeeds(api: Api, namespace: str):
    """The operator's services, its init container that waits for the master's name, its variables: all of it meets a real program."""
    item = pytorch_job("bert", namespace, 1, WORKER)
    api.create(item).ok()
    wait(lambda: succeeded(api, item), "the PyTorchJob succeeds")
    # The job has succeeded when its master has: the worker may still be on its last line.
    pods = [over(api, pod) for pod in pods_of(api, namespace, "training.kubeflow.org/job-name=bert")]
    said = {pod["metadata"]["name"]: log(api, pod, container="pytorch") for pod in pods}
    assert said == {"bert-master-0": "rank 0 of 2: sum 3\n", "bert-worker-0": "rank 1 of 2: sum 3\n"}


@pytest.mark.usefixtures("operator")
def test_a_killed_worker_is_started_again_and_the_job_succeeds(kubelet: RunningKubelet, api: Api, namespace: str):
    """OnFailure: the same pod, one restart, the same sum."""
    item = pytorch_job("bert", namespace, 1, HOLDING + WORKER)
    api.create(item).ok()
    label = "training.kubeflow.org/job-name=bert,training.kubeflow.org/replica-type=worker"
    worker = wait(lambda: next(iter(pods_of(api, namespace, label)), None), "there is a worker")
    phase(api, worker, "Running")
    wait(lambda: log(api, worker, container="pytorch") == "holding\n", "it waits to be killed")
    kubelet.process_of(worker, "pytorch").kill()
    wait(lambda: succeeded(api, item), "the PyTorchJob succeeds")
    found = over(api, worker)["status"]["containerStatuses"][0]
    assert (found["restartCount"], found["lastState"]["terminated"]["exitCode"]) == (1, 137)
    assert log(api, worker, container="pytorch") == "rank 1 of 2: sum 3\n"


LAUNCHER = """
while read -r host slots; do
    until "$OMPI_MCA_plm_rsh_agent" "$host" "echo $slots on $(hostname): \\$(hostname) \\$RANK_FILE" < /dev/null 2> /dev/null; do sleep 0.3; done
done < "$OMPI_MCA_orte_default_hostfile"
"""
"""What mpirun does with its host file and remote shell: start something in each worker."""


@pytest.mark.usefixtures("operator")
def test_an_mpi_jobs_launcher_goes_into_its_workers(api: Api, namespace: str):
    """By the operator's own script: kubectl exec with the launcher's service account, from inside a pod."""
    launcher = process_pod("ring", namespace, LAUNCHER, container={"name": "mpi"})["spec"]
    worker = process_pod("ring", namespace, "sleep 100 & wait", container={"name": "mpi", "env": [{"name": "RANK_FILE", "value": "none"}]})[
        "spec"
    ]
    for spec in (launcher, worker):
        del spec["restartPolicy"]
    worker["terminationGracePeriodSeconds"] = 0
    replicas = {
        "Launcher": {"replicas": 1, "restartPolicy": "Never", "template": {"spec": launcher}},
        "Worker": {"replicas": 2, "restartPolicy": "Never", "template": {"spec": worker}},
    }
    item = {
        "apiVersion": "kubeflow.org/v1",
        "kind": "MPIJob",
        "metadata": {"name": "ring", "namespace": namespace},
        "spec": {"slotsPerWorker": 4, "runPolicy": {"cleanPodPolicy": "Running"}, "mpiReplicaSpecs": replicas},
    }
    api.create(item).ok()
    wait(lambda: succeeded(api, item), "the MPIJob succeeds")
    (pod,) = pods_of(api, namespace, "training.kubeflow.org/job-name=ring,training.kubeflow.org/replica-type=launcher")
    assert log(api, pod, container="mpi").splitlines() == [f"slots=4 on ring-launcher: ring-worker-{number} none" for number in range(2)]
