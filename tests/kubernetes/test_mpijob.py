"""The training of test_launchers by an MPIJob, run: the real MPI operator, mpirun of Open MPI 5, and workers that it reaches by a remote shell.

The shell is no SSH (remote_shell.py), since a machine may have no server of it: keys and its own options are not tried here. A lost node
is not tried either: it fails an MPIJob, as the launcher's page says.
"""

import json
import os
import signal
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from local_kubernetes.api import Api, Object, wait
from local_kubernetes.control_plane import ControlPlane
from local_kubernetes.nodes import cordoned
from tests.kubernetes import remote_shell, tiny_training
from tests.kubernetes.conftest import Programs
from tests.kubernetes.kubelet.handle import process_node
from tests.kubernetes.kubelet.looking import log, pods_of
from tests.kubernetes.kubelet.permission import why_not
from tests.kubernetes.kubelet.session import bound_claim, kubelet_of, trainium_nodes
from tests.kubernetes.mpi_operator import image, mpi_operator
from tests.simulator.account.standing import standing
from tests.training.sites import EVERYTHING, job
from tools.frameworks import NoEnvironmentError, interpreter
from training.check import problems
from training.launchers import launcher
from training.launchers.mpijob import SERVER
from training.phase import Phase

pytestmark = pytest.mark.kubernetes
STEPS, HOLD = 20, 12
SAVED = HOLD // tiny_training.EVERY * tiny_training.EVERY
LOSS = tiny_training.alone(2, STEPS)
PATIENCE_S = 480


@pytest.fixture(scope="module")
def mpi() -> Path:
    """Folder of Open MPI's programs and the Python beside them."""
    try:
        return interpreter("mpi", os.environ).parent
    except NoEnvironmentError as error:
        pytest.skip(str(error))


@pytest.fixture(scope="module", autouse=True)
def operator(
    mpi: Path, programs: Programs, control_plane: ControlPlane, _dev_nodes: list[str], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[None]:
    """The operator, Trainium nodes for the workers, and another node for the launcher."""
    if reason := why_not():
        pytest.skip(reason)
    shell = tmp_path_factory.mktemp("remote-shell")
    for name in ("ssh", "sshd"):
        (shell / name).write_text(f"#!{sys.executable}\n{Path(remote_shell.__file__).read_text()}")
        (shell / name).chmod(0o755)
    variables = {"PYTHONUNBUFFERED": "1", "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "HOME": "/root"}
    own = {"path": [str(shell), str(mpi)], "environment": variables}
    table = tmp_path_factory.mktemp("images") / "images.json"
    table.write_text(json.dumps({**image(programs("mpi-operator")), "train/mpi": own}))
    items = [*trainium_nodes(standing().state), process_node(1)]
    api = control_plane.api()
    with cordoned(api), kubelet_of(control_plane, items, "--images", str(table)), mpi_operator(api):
        yield


class Run:
    """The MPIJob, in a namespace of its own."""

    def __init__(self, api: Api, namespace: str, hold: int = 0) -> None:
        """Submit it. With `hold`, its first start stops for ever after that step, in its last worker."""
        self._api, self._namespace, self._launcher = api, namespace, launcher("mpijob")
        self.shared = bound_claim(api, namespace, "fsx-claim")
        on = replace(EVERYTHING, namespace=namespace, gang=False, queues={})
        made = job(
            launcher="mpijob",
            image="train/mpi:1",
            toolchain="none",
            # Each rank gets the variables of a worker beside mpirun's own.
            start="jax",
            workersPerNode=1,
            command=["python3", "-c", Path(tiny_training.__file__).read_text()],
            environment={"TINY_STEPS": str(STEPS), "TINY_HOLD": str(hold)},
            checkpoints={"path": "/fsx/bert"},
        )
        assert problems(made, on) == []
        self.objects = self._launcher.render(made, on)
        for item in self.objects:
            # The image's own server, where it is in this image.
            own = json.loads(json.dumps(item).replace(SERVER, SERVER.replace("/usr/sbin/sshd", "sshd")))
            api.create(own).ok()

    def texts(self) -> list[str]:
        """What mpirun has passed on, by start."""
        pods = pods_of(self._api, self._namespace, "training.kubeflow.org/job-role=launcher")
        return [log(self._api, pod) for pod in sorted(pods, key=created) if pod["status"]["phase"] != "Pending"]

    def said(self) -> list[list[dict[str, Any]]]:
        """Lines of all ranks by start."""
        lines = [[line for line in text.splitlines() if '{"trn"' in line and line.endswith("}")] for text in self.texts()]
        return [[json.loads(line[line.index('{"trn"') :]) for line in of_start] for of_start in lines]

    def succeeded(self) -> list[dict[str, Any]]:
        """What rank 0 of the last start has said, when the job has succeeded."""

        def over() -> bool:
            status = self._api.get(self.objects[-1]).ok().get("status")
            assert self._launcher.phase(status) is not Phase.FAILED, "\n".join(self.texts())
            return self._launcher.phase(status) is Phase.SUCCEEDED

        wait(over, "the MPIJob succeeds", PATIENCE_S)
        return [line for line in self.said()[-1] if line.get("rank") == 0]

    def end(self) -> None:
        """Delete it, and wait until its nodes are free."""
        made = self.objects[-1]
        self._api.delete(made, foreground=False)
        # The garbage collector does not know the kind yet: what it would delete is deleted here, the Job before the pod that it would make.
        own = {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "bert-launcher", "namespace": self._namespace}}
        self._api.delete(own)
        label = "training.kubeflow.org/job-name=bert"
        for pod in pods_of(self._api, self._namespace, label):
            self._api.delete(pod, grace_s=0, foreground=False)
        wait(lambda: not pods_of(self._api, self._namespace, label), "its pods are gone")
        for item in (*self.objects[:-1], *self.shared):
            self._api.delete(item, foreground=False)


def created(pod: Object) -> str:
    """When it was made."""
    return str(pod["metadata"]["creationTimestamp"])


def losses(said: list[dict[str, Any]]) -> list[tuple[int, float]]:
    """Loss by step."""
    return [(line["step"], line["loss"]) for line in said if line["trn"] == "step"]


def rank(number: int) -> int:
    """Number of the process that trains as this rank."""
    wanted = {f"OMPI_COMM_WORLD_RANK={number}".encode(), b"TINY_HOLD=%d" % HOLD, f"RANK={number}".encode()}
    for path in Path("/proc").glob("[0-9]*/environ"):
        try:
            if wanted <= set(path.read_bytes().split(b"\0")):
                return int(path.parent.name)
        except OSError:
            continue
    raise LookupError(number)


def test_an_mpi_job_trains_to_the_loss_of_the_others(api: Api, namespace: str):
    """Its launcher waits for both workers' servers, and mpirun starts a rank in each."""
    run = Run(api, namespace)
    said = run.succeeded()
    assert [step for step, _ in losses(said)] == list(range(1, STEPS + 1))
    assert losses(said)[-1] == (STEPS, LOSS)
    workers = pods_of(api, namespace, "training.kubeflow.org/job-role=worker")
    assert len({pod["spec"]["nodeName"] for pod in workers}) == len(workers)
    run.end()


def test_a_killed_rank_costs_the_steps_since_the_last_checkpoint(api: Api, namespace: str):
    """mpirun ends the others; the operator makes its pod again, and all ranks go on from the checkpoint to the same loss."""
    run = Run(api, namespace, HOLD)
    wait(lambda: any("holding" in line for lines in run.said() for line in lines), f"a rank has come to step {HOLD}", PATIENCE_S)
    os.kill(rank(1), signal.SIGKILL)
    said = run.succeeded()
    assert [line["step"] for line in said if line.get("event") == "resumed"] == [SAVED]
    assert [step for step, _ in losses(said)] == list(range(SAVED + 1, STEPS + 1))
    assert losses(said)[-1] == (STEPS, LOSS)
    run.end()
