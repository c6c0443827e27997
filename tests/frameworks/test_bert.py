"""BERT trains, loses a worker or its node, resumes, and gives the losses that it would have given: in JAX, and in PyTorch by gloo."""

import os
import signal
import subprocess
import time
from dataclasses import replace
from pathlib import Path

import pytest

from tests.frameworks.jobs import Job
from training import payload

pytestmark = pytest.mark.frameworks
OPTIONS = ("--data", "generated", "--size", "tiny", "--steps", "12", "--checkpoint-steps", "4")
KILLED_AFTER, RESUMED_FROM = 6, 4


@pytest.fixture(scope="module", params=["jax", "torch"])
def job(request, python, compiled, tmp_path_factory) -> Job:
    """Two workers on one node."""
    start = {"jax": "jax", "torch": "torchrun"}[request.param]
    return Job(
        python(request.param), tmp_path_factory.mktemp("bert"), "bert", start, variables=(("JAX_COMPILATION_CACHE_DIR", str(compiled)),)
    )


@pytest.fixture(scope="module")
def whole(job) -> dict[int, float]:
    """Losses of a run that nothing disturbed."""
    return job.run(*OPTIONS).losses


def broken(job: Job, tmp_path, stop) -> tuple[Job, int, dict[int, float]]:
    """The job after one start that `stop` has ended, with its exit code and losses."""
    job = replace(job, folder=tmp_path)
    (node,) = job.launch(*OPTIONS)
    stop(node)
    return job, node.end(), node.losses


def test_the_loss_falls(whole):
    assert sorted(whole) == list(range(1, 13))
    assert sum(list(whole.values())[-4:]) < sum(list(whole.values())[:4])


def test_a_run_that_lost_a_worker_resumes_to_the_bit(job, whole, tmp_path):
    """SIGKILL, as when a node is lost: nothing can be saved at that moment."""
    job, code, first = broken(job, tmp_path, lambda node: os.kill(node.after(KILLED_AFTER, RESUMED_FROM).more["pid"], signal.SIGKILL))
    second = job.run(*OPTIONS)
    assert code not in (0, 75)
    assert second.event("resumed").step == RESUMED_FROM
    assert {**first, **second.losses} == whole
    assert all(whole[step] == loss for step, loss in first.items())


def test_a_run_that_was_asked_to_stop_saves_first_and_goes_on(job, whole, tmp_path):
    """SIGTERM, as when a node is drained: no step is lost, and the exit code asks for another start."""

    def stop(node) -> None:
        node.after(KILLED_AFTER)
        node.process.send_signal(signal.SIGTERM)

    job, code, first = broken(job, tmp_path, stop)
    second = job.run(*OPTIONS)
    assert code == 75
    assert second.event("resumed").step == max(first)
    assert {**first, **second.losses} == whole


def test_two_nodes_train_as_one(job, whole, tmp_path):
    """The same workers on two nodes: an entry script for each, which meet at the first."""
    assert replace(job, folder=tmp_path, workers=1, nodes=2).run(*OPTIONS).losses == whole


def test_all_nodes_end_when_one_is_asked_to_stop(job, tmp_path):
    """A drain reaches one node; a worker of the others must not wait for ever."""
    nodes = replace(job, folder=tmp_path, workers=1, nodes=2).launch(*OPTIONS)
    nodes[0].after(KILLED_AFTER)
    nodes[1].process.send_signal(signal.SIGTERM)
    assert [node.end() for node in nodes] == [75, 75]


def test_a_checkpoint_of_another_training_is_refused(job, whole):
    """Other options would continue with a model that fits by chance."""
    (node,) = job.launch(*OPTIONS, "--seed", "5")
    assert node.end() == 1
    assert "is of another training" in "".join(node.errors)


def test_the_second_phase_begins_with_the_weights_of_the_first(job, whole, tmp_path):
    """Twice as long sequences, moments anew: its first loss is that of a model that has learnt."""
    second = ("--data", "generated", "--size", "tiny", "--steps", "2", "--phase", "2", "--from", str(job.folder / "checkpoints"))
    found = replace(job, folder=tmp_path).run(*second)
    assert found.event("resumed").step == 0
    assert found.losses[1] < whole[1] - 0.1


def test_jax_and_pytorch_train_the_same_model(python, compiled, tmp_path):
    """Same data, first weights, model and optimizer; without dropout only rounding differs."""
    options = ("--data", "generated", "--size", "tiny", "--steps", "6", "--dropout", "0")
    jax = Job(python("jax"), tmp_path / "jax", "bert", "jax", variables=(("JAX_COMPILATION_CACHE_DIR", str(compiled)),)).run(*options)
    torch = Job(python("torch"), tmp_path / "torch", "bert", "torchrun").run(*options)
    assert torch.losses == pytest.approx(jax.losses, rel=2e-3)


def test_the_laws_of_the_data_hold(python, tmp_path):
    """Generated text and text of a set; NumPy is in the framework's environment alone."""
    laws = Path(__file__).with_name("data_laws.py")
    folders = (payload.RECIPES / "bert", payload.SHARED, payload.ENTRY)
    done = subprocess.run([python("jax"), laws, *folders, tmp_path], capture_output=True, text=True, check=False)
    assert done.stdout == "laws hold\n", done.stderr


def test_both_nodes_end_within_seconds_when_a_worker_is_killed(job, tmp_path):
    """The other node's worker waits in a collective, or in its framework's shutdown, and neither ends by itself in time."""
    nodes = replace(job, folder=tmp_path, workers=1, nodes=2).launch(*OPTIONS[:-4], "--steps", "100000", *OPTIONS[-2:])
    killed = nodes[1].after(KILLED_AFTER).more["pid"]
    began = time.monotonic()
    os.kill(killed, signal.SIGKILL)
    codes = [node.end() for node in nodes]
    assert time.monotonic() - began < 30
    # torchrun ends with 1 whatever its workers end with.
    assert codes[1] in (1, 137)
    assert codes[0] != 0
