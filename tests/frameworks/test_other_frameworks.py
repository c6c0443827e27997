"""TensorFlow, MPI, and the recipes that need no framework of their own."""

import os
import signal
import subprocess

import pytest

from tests.frameworks.jobs import Job, Node, free_port
from training.metrics_line import Step

pytestmark = pytest.mark.frameworks
QUIET = ("TF_CPP_MIN_LOG_LEVEL", "2")


def test_tensorflow_with_a_parameter_server_learns(python, tmp_path):
    """A chief, two workers that do not wait for each other, and a server, which the entry script ends when the chief is done."""
    job = Job(python("tensorflow"), tmp_path, "tf-distribute", "tensorflow", 4, variables=(QUIET, ("TRN_PARAMETER_SERVERS", "1")))
    first = job.run("--steps", 60)
    assert first.losses[60] < first.losses[20]
    steps = [said for said in first.said() if isinstance(said, Step)]
    assert set(steps[-1].more["devices"].values()) == {"ps"}
    assert first.checkpoints() == [20, 40, 60]
    second = job.run("--steps", 100)
    assert second.event("resumed").step == 60
    assert sorted(second.losses) == [80, 100]


def test_tensorflow_in_step_gives_the_same_loss_again(python, tmp_path):
    """MultiWorkerMirrored: two workers, one all-reduce for each step."""
    whole = Job(python("tensorflow"), tmp_path / "whole", "tf-distribute", "tensorflow", variables=(QUIET,)).run("--steps", 40).losses
    job = Job(python("tensorflow"), tmp_path / "again", "tf-distribute", "tensorflow", variables=(QUIET,))
    first = job.run("--steps", 20)
    second = job.run("--steps", 40)
    assert second.event("resumed").step == 20
    assert (first.checkpoints(), second.checkpoints()) == ([20], [40])
    assert {**first.losses, **second.losses} == whole
    assert whole[40] < whole[1]


def mpirun(python, folder, workers: int, *arguments: object) -> Node:
    """A job whose every worker mpirun starts, as the MPI operator does; gives what all of them wrote."""
    job = Job(python("mpi"), folder, "mpi", "none", workers)
    job.lay_out()
    own = {name: value for name, value in os.environ.items() if not name.startswith(("OMPI_", "TRN_"))}
    variables = {
        "TRN_NODES": "1",
        "TRN_JOB": "mpi",
        "TRN_WORKERS_PER_NODE": str(workers),
        "TRN_START": "none",
        "TRN_PORT": str(free_port()),
        "TRN_CHECKPOINTS": str(folder / "checkpoints"),
        "HOSTNAME": "mpi-worker-0",
        "OMPI_ALLOW_RUN_AS_ROOT": "1",
        "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    }
    program = [job.python.parent / "mpirun", "--oversubscribe", "-np", workers, job.python, folder / "trn" / "entry.py", "--", job.python]
    command = [*program, folder / "trn" / "train.py", *arguments]
    process = subprocess.Popen(list(map(str, command)), env={**own, **variables}, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    return Node(process)


@pytest.mark.parametrize("exchange", ["library", "server"])
def test_every_exchange_gives_the_same_training(python, tmp_path, exchange):
    """A ring, MPI's own all-reduce and a parameter server add up the same numbers, in another order."""
    ring = mpirun(python, tmp_path / "ring", 3, "--steps", 60, "--exchange", "ring")
    other = mpirun(python, tmp_path / exchange, 3, "--steps", 60, "--exchange", exchange)
    assert (ring.end(), other.end()) == (0, 0), ring.story() + other.story()
    assert len(ring.losses) == 60
    assert other.losses == pytest.approx(ring.losses, rel=1e-9)


def test_an_mpi_job_that_lost_a_worker_resumes_to_the_bit(python, tmp_path):
    """mpirun ends all ranks with the first that fails."""
    whole = mpirun(python, tmp_path / "whole", 2, "--steps", 800, "--checkpoint-steps", 100)
    assert whole.end() == 0, whole.story()
    first = mpirun(python, tmp_path / "broken", 2, "--steps", 800, "--checkpoint-steps", 100)
    os.kill(first.after(150).more["pid"], signal.SIGKILL)
    assert first.end() != 0
    second = mpirun(python, tmp_path / "broken", 2, "--steps", 800, "--checkpoint-steps", 100)
    assert second.end() == 0
    assert second.checkpoints()[-1] == 800
    assert second.event("resumed").step in (100, 200, 300, 400, 500, 600, 700)
    assert {**first.losses, **second.losses} == whole.losses


def test_a_slow_worker_holds_up_all_reduce_but_no_asynchronous_server(python, tmp_path):
    """What a parameter server is for; both come near the same solution."""
    speeds = {}
    for exchange, steps in (("ring", 60), ("asynchronous", 180)):
        node = mpirun(python, tmp_path / exchange, 3, "--steps", steps, "--exchange", exchange, "--slow", 0.1)
        assert node.end() == 0, node.story()
        speeds[exchange] = node.event("finished").more["samples_per_s"]
        assert node.event("finished").more["distance"] < 0.5
    assert speeds["ring"] < 3 * 32 / 0.1
    assert speeds["asynchronous"] > speeds["ring"]


def test_exchanges_are_measured(python, tmp_path):
    """The figures of docs/layers.md come from this option."""
    node = mpirun(python, tmp_path, 2, "--steps", 2, "--measure", 2**20)
    assert node.end() == 0, node.story()
    times = node.event("measured").more["milliseconds"]
    assert set(times) == {"ring", "library", "server"}
    assert all(time > 0 for time in times.values())


def test_jax_collectives_are_right_and_measured(python, compiled, tmp_path):
    job = Job(python("jax"), tmp_path, "collectives", "jax", variables=(("JAX_COMPILATION_CACHE_DIR", str(compiled)),))
    node = job.run("--smallest", 2**12, "--largest", 2**12, "--repeats", 3)
    assert [said.more["kind"] for said in node.said() if getattr(said, "event", "") == "measured"] == [
        "all_reduce",
        "all_gather",
        "reduce_scatter",
    ]
