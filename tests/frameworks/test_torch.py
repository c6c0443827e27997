"""What PyTorch brings: sharding, XLA in one process, Hugging Face Trainer, Ray Train; each recipe as it is shipped, small."""

import signal
from dataclasses import replace

import pytest

from tests.frameworks.jobs import Job

pytestmark = pytest.mark.frameworks
BERT = ("--data", "generated", "--size", "tiny", "--steps", "8", "--checkpoint-steps", "4")


@pytest.fixture
def job(python, tmp_path):
    """A job of a recipe with two workers of torchrun."""
    return lambda recipe, **changes: replace(Job(python("torch"), tmp_path, recipe, "torchrun"), **changes)


@pytest.fixture(scope="module")
def sharding(python, tmp_path_factory):
    """The `zero` recipe in each of its modes, run once."""
    done = {}
    for mode in ("ddp", "zero", "fsdp"):
        done[mode] = Job(python("torch"), tmp_path_factory.mktemp(mode), "zero", "torchrun").run("--mode", mode, "--steps", 10)
    return done


@pytest.mark.parametrize("mode", ["zero", "fsdp"])
def test_sharding_changes_no_loss(sharding, mode):
    """Where parameters and state are is a matter of memory alone."""
    assert sharding[mode].losses == pytest.approx(sharding["ddp"].losses, rel=1e-4)


def held(node, name: str) -> int:
    """Bytes on the first worker."""
    return node.event("finished").more[name]


def test_ddp_holds_everything_on_each_worker(sharding):
    """Two moments for each parameter."""
    assert held(sharding["ddp"], "optimizer_bytes") == 2 * held(sharding["ddp"], "parameter_bytes")


def test_zero_shares_the_optimizers_state(sharding):
    """By whole parameters, so not in exact halves."""
    assert held(sharding["zero"], "parameter_bytes") == held(sharding["ddp"], "parameter_bytes")
    assert held(sharding["zero"], "optimizer_bytes") < 0.98 * held(sharding["ddp"], "optimizer_bytes")


def test_fsdp_shares_everything(sharding):
    """Half of it on each of two workers, but for rows that do not divide."""
    for name in ("parameter_bytes", "optimizer_bytes"):
        assert held(sharding["fsdp"], name) == pytest.approx(held(sharding["ddp"], name) / 2, rel=0.02)


@pytest.mark.parametrize("mode", ["ddp", "zero", "fsdp"])
def test_each_mode_says_its_steps_and_the_operations_of_the_whole_model(sharding, mode):
    """`trn watch` needs both. 70,401 parameters, whichever part of them a worker holds."""
    said = sharding[mode].event("started").more
    assert (said["steps"], said["flops_per_sample"]) == (10, 6 * 70_401)


def test_bert_trains_by_xla_in_one_process(job, tmp_path):
    """The path of toolchain xla-2.30 as far as a processor goes: PJRT's CPU client knows no other processes.

    The same losses as by gloo, and the same again after a resume.
    """
    options = (*BERT, "--dropout", "0")
    xla = job("bert", workers=1, folder=tmp_path / "xla", variables=(("PJRT_DEVICE", "CPU"),))
    whole = xla.run(*options).losses
    assert job("bert", workers=1, folder=tmp_path / "gloo").run(*options).losses == pytest.approx(whole, rel=2e-3)
    (xla.folder / "checkpoints" / "step-000000008").unlink()
    again = xla.run(*options)
    assert again.event("resumed").step == 4
    assert again.losses == {step: loss for step, loss in whole.items() if step > 4}


def test_hugging_face_trainer_stops_with_a_checkpoint_and_goes_on(job):
    options = ("--data", "generated", "--size", "tiny", "--steps", "16", "--checkpoint-steps", "50")
    # The environment has PyTorch/XLA as well, which Trainer would take.
    trainer = job("hf-trainer", variables=(("USE_TORCH_XLA", "0"),))
    (node,) = trainer.launch(*options)
    node.after(6)
    node.process.send_signal(signal.SIGTERM)
    assert node.end() == 75, node.story()
    assert node.checkpoints() == [max(node.losses)]
    second = trainer.run(*options)
    assert min(second.losses) == max(node.losses) + 1
    assert second.checkpoints() == [16]
    assert max(second.losses) == 16
    assert second.losses[16] < node.losses[1]


def test_ray_train_recovers_from_a_lost_worker(job):
    """Ray starts all workers again from the last checkpoint; the entry script leaves that to it."""
    ray = job("ray-train", start="none", workers=1, variables=(("RAY_CLUSTER_NAME", "bert"), ("RAY_AUTH_MODE", "disabled")))
    node = ray.run("--workers", "2", "--cores", "0", "--steps", "20", "--dies-after", "13")
    assert node.event("resumed").step == 10
    assert node.checkpoints() == [10, 20]
    assert sorted(node.losses) == list(range(1, 21))
    assert node.losses[20] < node.losses[1]


def test_collectives_are_right_and_measured(job):
    """All-reduce, all-gather, reduce-scatter by gloo, whose sums the recipe checks itself."""
    node = job("collectives").run("--largest", 2**14, "--repeats", 3)
    rows = [said.more for said in node.said() if getattr(said, "event", "") == "measured"]
    assert [(row["kind"], row["bytes"]) for row in rows] == [
        (kind, size) for kind in ("all_reduce", "all_gather", "reduce_scatter") for size in (2**10, 2**12, 2**14)
    ]
    assert all(row["bus_gb_per_s"] > 0 for row in rows)


XLA = (("PJRT_DEVICE", "CPU"),)


def test_hugging_face_trainer_exchanges_on_the_device(job):
    """On a device that is not the processor's: a tensor of the processor in a collective ended the job after its first step."""
    trainer = job("hf-trainer", workers=1, variables=XLA, on_fake_core=True)
    node = trainer.run("--data", "generated", "--size", "tiny", "--steps", "3", "--checkpoint-steps", "3")
    assert sorted(node.losses) == [1, 2, 3]


def test_bert_trains_within_what_a_core_has(job, tmp_path):
    """And ends where it asks for more: the fake core's memory is a limit, not a wish."""
    within = job("bert", workers=1, folder=tmp_path / "within", variables=(("FAKE_CORE_MIB", "2000"),), on_fake_core=True)
    assert sorted(within.run("--data", "generated", "--size", "tiny", "--steps", "2").losses) == [1, 2]
    (node,) = job("bert", workers=1, folder=tmp_path / "beyond", variables=(("FAKE_CORE_MIB", "2000"),), on_fake_core=True).launch(
        "--data", "generated", "--size", "tiny", "--steps", "2", "--batch", "20000"
    )
    assert node.end() not in (0, 75)
    assert "memory" in "".join(node.errors)


def test_an_unknown_variable_of_the_runtime_is_refused(job):
    """The runtime itself ignores it without a word."""
    (node,) = job("bert", workers=1, variables=(("NEURON_RT_EXEC_TIMEOUTS", "60"),), on_fake_core=True).launch(
        "--data", "generated", "--size", "tiny", "--steps", "1"
    )
    assert node.end() == 1
    assert "not documented: NEURON_RT_EXEC_TIMEOUTS" in "".join(node.errors)


def test_ray_train_trains_on_the_core_that_it_asked_for(job):
    """Ray gives the worker its core and joins it by XLA: model, samples and exchange are on that device."""
    node_has = ("RAY_OVERRIDE_RESOURCES", '{"neuron_cores": 1}')
    variables = (*XLA, node_has, ("RAY_CLUSTER_NAME", "bert"), ("RAY_AUTH_MODE", "disabled"))
    node = job("ray-train", start="none", workers=1, variables=variables).run("--workers", "1", "--cores", "1", "--steps", "20")
    said = node.event("started").more
    assert (said["device"].startswith("xla"), said["cores"]) == (True, "0")
    assert node.losses[20] < node.losses[1]
