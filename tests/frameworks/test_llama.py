"""A shared model trains as one process does: in JAX on 8 virtual devices, in PyTorch on 8 processes by gloo; killed, resumed, and on other meshes."""

import json
import os
import signal
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from tests.frameworks.jobs import Job
from training.metrics_line import Event

pytestmark = pytest.mark.frameworks
LAWS = Path(__file__).with_name("llama_laws.py")
STEPS = 50
OPTIONS = (
    "--size", "tiny", "--data", "generated", "--sequence", "32", "--batch", "16", "--micro", "2", "--chunk", "16",
    "--steps", STEPS, "--learning-rate", "0.003", "--precision", "float32", "--checkpoint-steps", "20",
)  # fmt: skip
KILLED_AFTER, RESUMED_FROM = 24, 20
MESHES = {"tensor 2, fsdp 2, data 2": {"tensor": 2, "fsdp": 2}, "fsdp 8": {"fsdp": 8}}


def variables(mesh: dict[str, int] | None, devices: int = 8) -> tuple[tuple[str, str], ...]:
    """Of JAX on virtual devices. Threads beyond the processor's: its devices wait for each other in a collective."""
    shared = (("TRN_PARALLEL", json.dumps(mesh)),) if mesh else ()
    return (*shared, ("XLA_FLAGS", f"--xla_force_host_platform_device_count={devices}"), ("NPROC", "32"))


@pytest.fixture(scope="module")
def jax(python, compiled, tmp_path_factory) -> Job:
    """One process with one device."""
    cache = (("JAX_COMPILATION_CACHE_DIR", str(compiled)),)
    return Job(python("jax"), tmp_path_factory.mktemp("llama-jax"), "llama", "jax", workers=1, variables=(*cache, *variables(None, 1)))


@pytest.fixture(scope="module")
def torch(python, tmp_path_factory) -> Job:
    """Eight processes of a mesh."""
    mesh = (("TRN_PARALLEL", json.dumps(MESHES["tensor 2, fsdp 2, data 2"])),)
    return Job(python("torch"), tmp_path_factory.mktemp("llama-torch"), "llama", "torchrun", workers=8, variables=mesh)


def on(job: Job, mesh: dict[str, int], folder: Path) -> Job:
    """The JAX job on eight devices."""
    return replace(job, folder=folder, variables=(*job.variables, *variables(mesh)))


@pytest.fixture(scope="module")
def one(jax) -> dict[int, float]:
    """Losses of one process."""
    return jax.run(*OPTIONS).losses


@pytest.fixture(scope="module")
def whole(jax, tmp_path_factory) -> dict[int, float]:
    """Losses of the mesh in JAX that nothing disturbed."""
    return on(jax, MESHES["tensor 2, fsdp 2, data 2"], tmp_path_factory.mktemp("mesh")).run(*OPTIONS).losses


def law(job: Job, name: str, argument: object) -> str:
    """What llama_laws.py says in a job's environment, with the files of its pod."""
    scripts = job.lay_out()
    done = subprocess.run([job.python, LAWS, scripts, name, str(argument)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip().splitlines()[-1]


def test_the_loss_falls(one):
    assert len(one) == STEPS
    assert one[STEPS] < one[1] - 1.5


def test_a_mesh_trains_as_one_process_does(one, whole):
    """Tensor, sequence, and data parallelism and FSDP change rounding alone: within 1e-5 over 50 steps."""
    assert whole == pytest.approx(one, rel=1e-5)


def test_pytorch_on_eight_processes_trains_as_jax_on_one(torch, one):
    """FSDP2 and DTensor, another framework, the same weights, samples and optimizer."""
    assert torch.run(*OPTIONS).losses == pytest.approx(one, rel=1e-5)


@pytest.mark.parametrize("framework", ["jax", "torch"])
def test_first_weights_on_a_mesh_are_those_of_one_process_to_the_bit(framework, jax, torch, tmp_path):
    """A seed for each place of the whole tensor: no two shards begin with the same numbers. A rate of 0 leaves them as they are."""
    job = on(jax, MESHES["fsdp 8"], tmp_path) if framework == "jax" else replace(torch, folder=tmp_path)
    job.run("--size", "tiny", "--data", "generated", "--sequence", "32", "--batch", "16", "--steps", "1", "--learning-rate", "0")
    assert law(job, "first", tmp_path / "checkpoints" / "step-000000001") == "21 tensors, other: []"


def broken(job: Job, *options: object) -> Job:
    """The job after a start that lost a worker behind its first checkpoint."""
    (node,) = job.launch(*options)
    pid = node.after(KILLED_AFTER).more["pid"]
    # It is written while training goes on.
    while RESUMED_FROM not in [said.step for said in node.said() if isinstance(said, Event) and said.event == "saved"]:
        node.after(max(node.losses) + 1)
    os.kill(pid, signal.SIGKILL)
    assert node.end() not in (0, 75)
    return job


def test_a_mesh_that_was_killed_resumes_to_the_bit(jax, whole, tmp_path):
    (tmp_path / "checkpoints" / "partial-000000099").mkdir(parents=True)
    job = broken(on(jax, MESHES["tensor 2, fsdp 2, data 2"], tmp_path), *OPTIONS)
    second = job.run(*OPTIONS)
    assert second.event("resumed").step == RESUMED_FROM
    assert second.losses == {step: loss for step, loss in whole.items() if step > RESUMED_FROM}
    assert not list((tmp_path / "checkpoints").glob("partial-*"))


def test_a_checkpoint_goes_on_under_another_mesh(jax, whole, tmp_path):
    """And says so: the devices of a resumed job need not be those of its first start."""
    job = broken(on(jax, MESHES["tensor 2, fsdp 2, data 2"], tmp_path), *OPTIONS)
    second = replace(job, variables=(*job.variables, *variables(MESHES["fsdp 8"]))).run(*OPTIONS)
    assert second.event("resumed").more["mesh"] == {"tensor": 1, "fsdp": 8, "data": 1}
    assert second.event("resumed").more["mesh_before"] == {"tensor": 2, "fsdp": 2, "data": 2}
    assert second.losses == pytest.approx({step: loss for step, loss in whole.items() if step > RESUMED_FROM}, rel=1e-5)


def test_pytorch_that_was_killed_resumes_to_the_bit_and_goes_on_where_jax_stopped(jax, torch, whole, tmp_path):
    """A checkpoint is of no framework."""
    options = (*OPTIONS, "--steps", "26", "--warmup", "1")
    four = replace(torch, folder=tmp_path / "torch", workers=4)
    undisturbed = replace(four, folder=tmp_path / "whole").run(*options).losses
    second = broken(four, *options).run(*options)
    assert second.losses == {step: loss for step, loss in undisturbed.items() if step > RESUMED_FROM}
    broken(on(jax, MESHES["fsdp 8"], tmp_path / "jax"), *OPTIONS)
    assert replace(torch, folder=tmp_path / "jax").run(*OPTIONS).losses == pytest.approx(
        {step: loss for step, loss in whole.items() if step > RESUMED_FROM}, rel=1e-5
    )


@pytest.mark.parametrize("framework", ["jax", "torch"])
def test_a_job_that_is_asked_to_stop_saves_first(framework, jax, torch, tmp_path):
    job = on(jax, MESHES["fsdp 8"], tmp_path) if framework == "jax" else replace(torch, folder=tmp_path, workers=2, variables=())
    (node,) = job.launch(*OPTIONS)
    node.after(3)
    node.process.send_signal(signal.SIGTERM)
    assert node.end() == 75, node.story()
    assert node.event("stopped").step == node.event("saved").step


def test_a_checkpoint_of_another_training_is_refused(jax, one):
    (node,) = jax.launch(*OPTIONS, "--seed", "5")
    assert node.end() == 1
    assert "is of another training: seed was 20240731, is 5" in "".join(node.errors)
    assert one


def test_bfloat16_trains_with_float32_masters(jax, one, tmp_path):
    """The precision of Trainium: another rounding, the same fall."""
    losses = on(jax, MESHES["tensor 2, fsdp 2, data 2"], tmp_path).run(*OPTIONS, "--precision", "bfloat16").losses
    assert losses == pytest.approx(one, rel=0.01)
    assert losses != one


def test_the_laws_of_the_files_hold(jax, torch, tmp_path):
    """First values, files against the safetensors library, and which labels are answers."""
    assert law(jax, "spread", "-") == "spread"
    assert law(torch, "files", tmp_path) == "files"
    assert law(jax, "answers", "-") == "answers"


def exported(job: Job, python: Path, to: Path, *options: object) -> str:
    """A job's newest checkpoint as Hugging Face has it."""
    command = [python, job.lay_out() / "export_weights.py", "--checkpoint", job.folder / "checkpoints", "--to", to, *options]
    return subprocess.run(list(map(str, command)), capture_output=True, text=True, check=True).stdout


@pytest.mark.parametrize(("size", "kind"), [("tiny", "LlamaForCausalLM"), ("tiny-qwen", "Qwen3ForCausalLM")])
def test_what_was_trained_opens_in_transformers_with_equal_logits(size, kind, jax, torch, tmp_path):
    """Trained on a mesh in JAX, exported, opened by AutoModelForCausalLM."""
    job = on(jax, MESHES["tensor 2, fsdp 2, data 2"], tmp_path)
    job.run(*OPTIONS, "--size", size, "--steps", "10")
    assert '"step": 10' in exported(job, jax.python, tmp_path / "model")
    found = json.loads(law(torch, "logits", f"{tmp_path / 'model'}:{size}"))
    assert found["class"] == kind
    assert found["distance"] < 1e-4 * found["spread"]


def test_lora_begins_with_imported_weights_and_is_added_to_them(jax, torch, one, tmp_path):
    """Nothing changes before the first step; the weights stay; the export has both, and trains on with equal loss in either framework."""
    exported(jax, jax.python, tmp_path / "base")
    lora = ("--lora", "4", "--answers", "3,9", "--weights", tmp_path / "base", "--steps", "20", "--learning-rate", "0.01")
    job = on(jax, MESHES["tensor 2, fsdp 2, data 2"], tmp_path / "lora")
    tuned = job.run(*OPTIONS, *lora)
    names = subprocess.run(["grep", "-aoh", "lora_up\\|lora_down\\|proj.weight@", *(tmp_path / "lora/checkpoints/step-000000020").iterdir()], capture_output=True, text=True, check=False).stdout.split()  # fmt: skip
    assert set(names) == {"lora_up", "lora_down"}
    assert tuned.losses[20] < tuned.losses[1]
    by_torch = replace(torch, folder=tmp_path / "torch").run(*OPTIONS, *lora)
    assert by_torch.losses == pytest.approx(tuned.losses, rel=1e-4)
    exported(job, jax.python, tmp_path / "merged")
    again = ("--answers", "3,9", "--weights", tmp_path / "merged", "--steps", "1")
    assert on(jax, MESHES["fsdp 8"], tmp_path / "again").run(*OPTIONS, *again).losses[1] < tuned.losses[1]
    assert one


def test_weights_of_another_model_are_refused(jax, one, tmp_path):
    """With the tensor that differs."""
    exported(jax, jax.python, tmp_path / "base")
    (node,) = replace(jax, folder=tmp_path / "job").launch(*OPTIONS, "--size", "tiny-qwen", "--weights", tmp_path / "base")
    assert node.end() == 1
    assert "is it of this model?" in "".join(node.errors) or "has no tensor" in "".join(node.errors)
    assert one
