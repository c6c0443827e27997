"""The memory sum of a model that many devices share: against published sizes, by laws, and in what `trn submit` refuses."""

from dataclasses import replace
from typing import Any

import pytest

from facts.catalogue import NEURON_TYPES
from tests.training.sites import group, site, site_of_type
from training import memory
from training.check import problems
from training.environment import environment
from training.job import Job, parse_job
from training.plan import plan
from training.recipes.llama import hugging_face
from training.recipes.llama.llama_options import SHAPES, Mesh, OptionError, conflicts, learning_rate, mesh, parse

PUBLISHED = {
    "llama3.2-1b": 1_235_814_400,
    "llama3.2-3b": 3_212_749_824,
    "llama3.1-8b": 8_030_261_248,
    "llama3.1-70b": 70_553_706_496,
    "qwen3-0.6b": 596_049_920,
    "qwen3-1.7b": 1_720_574_976,
    "qwen3-4b": 4_022_468_096,
    "qwen3-8b": 8_190_735_360,
    "qwen3-14b": 14_768_307_200,
    "qwen3-32b": 32_762_123_264,
}
"""Parameters that the Hugging Face Hub shows for the model of each name (half of `total_size` in its model.safetensors.index.json)."""


@pytest.mark.parametrize("name", PUBLISHED)
def test_a_shape_has_the_parameters_of_the_published_model(name: str):
    """A wrong width would be found by nobody before its weights are loaded."""
    assert SHAPES[name].parameters == PUBLISHED[name]


def test_the_sum_of_8b_on_one_chip_row_is_what_a_pencil_gives():
    """Llama 3.1 8B on 64 devices, tensor 4, fsdp 16, one sequence of 4,096: each part by its own formula."""
    held = memory.of_llama(parse(["--size", "llama3.1-8b", "--batch", "16"]), Mesh(tensor=4, fsdp=16))
    own, block, embeddings = 8_030_261_248 / 64, 218_112_000, 2 * 128_256 * 4096
    assert held.optimizer == 8 * own
    assert held.gradients == 4 * own + 4 * (block + embeddings) / 4
    assert held.parameters == 4 * own + 2 * (2 * block + embeddings) / 4
    assert held.logits == 8 * 1024 * 128_256 / 4 + 2 * 4096 * 4096
    assert 32 * 2 * 4096 * 4096 / 4 < held.activations < 2 * memory.GIB


def test_without_checkpointing_8b_does_not_fit_where_it_fits_with_it():
    """What made the recipe of two trn2.48xlarge fail: saved activations of all layers, against 24 GiB a core, even with attention in parts."""
    on = Mesh(tensor=1, fsdp=128)
    kept = memory.of_llama(parse(["--keep-activations"]), on)
    assert kept.activations > 24 * memory.GIB
    assert not memory.fits(kept, NEURON_TYPES["trn2.48xlarge"])
    assert memory.fits(memory.of_llama(parse([]), on), NEURON_TYPES["trn2.48xlarge"])


@pytest.mark.parametrize("part", ["parameters", "gradients", "optimizer", "activations", "logits"])
def test_no_part_grows_with_more_devices_in_tensor(part: str):
    one, four = (memory.of_llama(parse(["--batch", "128"]), Mesh(tensor, 128 // tensor)) for tensor in (1, 4))
    assert getattr(four, part) <= getattr(one, part)


def test_low_rank_changes_need_next_to_no_optimizer():
    whole, lora = (memory.of_llama(parse(["--lora", str(rank)]), Mesh(1, 128)) for rank in (0, 16))
    assert lora.optimizer < 0.01 * whole.optimizer
    assert lora.gradients < 0.01 * whole.gradients


def test_a_smaller_logical_core_has_less_memory():
    """Trainium2: four logical cores of 24 GiB each, or eight of 12 (aws-neuron-sdk, logical core configuration)."""
    chip = NEURON_TYPES["trn2.48xlarge"]
    assert [memory.of_core(chip, size) / memory.GIB for size in (None, 2, 1)] == [24, 24, 12]
    assert memory.of_core(NEURON_TYPES["trn1.32xlarge"]) / memory.GIB == 16


@pytest.mark.parametrize("name", PUBLISHED)
def test_the_fewest_nodes_fit_and_half_of_them_do_not(name: str):
    instance, options = NEURON_TYPES["trn1.32xlarge"], parse(["--size", name])
    found = memory.smallest(options, instance)
    assert found is not None
    nodes, on, held = found
    assert memory.fits(held, instance)
    assert nodes == 1 or memory.smallest(options, instance, nodes // 2) is None
    assert on.data * on.shards == nodes * instance.logical_core_count


def llama(*args: str, **keys: Any) -> Job:
    """A job of the recipe on one node of 64 devices, or what the keys say."""
    image = "registry.example/torch-neuron:2.33.0"
    return parse_job(
        {"name": "l", "recipe": "llama", "toolchain": "torch-2.33", "image": image, "args": ["--data", "generated", *args], **keys}
    )


TRN2 = site_of_type("trn2.48xlarge", largest_size=16)
WRONG: dict[str, tuple[Job, str, str, str]] = {
    "activations of all layers": (
        llama("--keep-activations", "--batch", "64"), "args", "activations 30.2", "leave --keep-activations out; it fits on 1 node with",
    ),
    "70B without tensor parallelism": (llama("--size", "llama3.1-70b"), "args", "GiB, with tensor 1 x fsdp 64 x data 1", "it fits on 1 node with `parallel: {tensor: 8, fsdp: 8}`"),
    "too long a sequence": (llama("--size", "llama3.1-70b", "--sequence", "131072", "--batch", "64"), "args", "= ", "docs/recipes/llama.md"),
    "a mesh that does not divide": (llama(parallel={"tensor": 3}), "parallel", "divide the 64 devices", "leave `fsdp` out"),
    "a mesh beyond a node": (llama(parallel={"tensor": 64}, workersPerNode=4, nodes=16), "parallel", "tensor the 4 of a node", "leave `fsdp` out"),
    "more parts than heads": (llama(parallel={"tensor": 16}, nodes=2), "parallel", "does not divide the 8 heads", "other numbers"),
    "a batch that does not divide": (llama("--batch", "100"), "parallel", "no multiple of micro 1 x 64", "other options"),
    "an option that there is not": (llama("--sizes", "8b"), "args", "unrecognized arguments: --sizes", "lists the options"),
    "a mesh for a recipe without one": (
        parse_job({"name": "b", "recipe": "zero", "toolchain": "torch-2.33", "image": "r.example/t:1", "parallel": {"tensor": 2}}), "parallel", "whole model", "take the recipe",
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", WRONG)
def test_what_cannot_be_shared_is_refused_with_the_sum_or_the_reason(case: str):
    """Two nodes cost 72 dollars an hour while they find out by themselves."""
    job, path, wrong, hint = WRONG[case]
    (problem,) = problems(job, TRN2)
    assert problem.path == path
    assert wrong in problem.wrong
    assert hint in problem.hint


def test_the_refusal_shows_the_sum():
    """Each part in GiB, the total, and what a core has."""
    (problem,) = problems(llama("--size", "llama3.1-70b", "--batch", "64"), TRN2)
    assert "parameters 11.2 + gradients 15.1 + optimizer 8.2 + activations" in str(problem)
    assert "at most 21.6 GiB of the 24 GiB of a logical core of trn2.48xlarge" in problem.allowed


@pytest.mark.parametrize(("toolchain", "devices"), [("torch-2.33", 64), ("jax-2.32", 64)])
def test_a_mesh_counts_devices_and_not_processes(toolchain: str, devices: int):
    """JAX has one process for all cores of a node."""
    job = llama("--size", "qwen3-8b", "--batch", str(devices), toolchain=toolchain)
    assert problems(job if toolchain == "torch-2.33" else job.model_copy(update={"image": None}), TRN2) == []


def test_the_pods_get_the_mesh():
    job = llama("--batch", "8", parallel={"tensor": 8, "fsdp": 8})
    assert environment(plan(job, TRN2))["TRN_PARALLEL"] == '{"tensor": 8, "fsdp": 8}'
    assert "TRN_PARALLEL" not in environment(plan(llama(), TRN2))


def test_what_the_two_keys_leave_makes_copies():
    """devices = data x fsdp x tensor."""
    assert mesh(128, {"TRN_PARALLEL": '{"tensor": 4, "fsdp": 8}'}) == Mesh(tensor=4, fsdp=8, data=4)
    assert mesh(128, {"TRN_PARALLEL": '{"tensor": 4}'}) == Mesh(tensor=4, fsdp=32)
    assert mesh(128, {}) == Mesh(tensor=1, fsdp=128)
    with pytest.raises(OptionError, match="does not divide 12 devices"):
        mesh(12, {"TRN_PARALLEL": '{"tensor": 8}'})


def test_a_model_without_a_known_site_is_not_judged():
    """Other nodes' memory is not that of Neuron cores."""
    assert [each.path for each in problems(llama(), site(node_groups={}))] == ["nodeGroup"]


def test_the_learning_rate_rises_and_falls_to_a_tenth():
    options = parse(["--steps", "100", "--warmup", "10", "--learning-rate", "1"])
    rates = [learning_rate(options, step) for step in (1, 10, 55, 100)]
    assert rates == pytest.approx([0.1, 1.0, 0.55, 0.1])


def test_a_checkpoint_may_go_on_with_other_micro_batches_and_no_other_model():
    options = parse(["--data", "generated"])
    assert replace(options, micro=2, checkpoint_activations=False, weights="/w").fingerprint == options.fingerprint
    for change in ({"size": "qwen3-8b"}, {"batch": 64}, {"seed": 1}, {"lora": 8}, {"answers": (1, 2)}):
        assert replace(options, **change).fingerprint != options.fingerprint
    lora = replace(options, lora=8)
    assert replace(lora, weights="/other").fingerprint != lora.fingerprint


def test_tiny_shapes_take_the_mesh_of_the_tests():
    for name in ("tiny", "tiny-qwen"):
        assert list(conflicts(parse(["--size", name, "--sequence", "32", "--batch", "16"]), Mesh(2, 2, 2))) == []


def test_a_group_of_the_stack_is_found_by_its_memory():
    """The refusal names the type of the group that the job runs on."""
    both = site(node_groups={"a": group("a", "trn1.32xlarge"), "b": group("b", "trn2.48xlarge")})
    (problem,) = problems(
        llama("--size", "llama3.1-70b", nodeGroup="a", toolchain="jax-2.32", image="r.example/jax:1", parallel={"tensor": 8}), both
    )
    assert "trn1.32xlarge" in problem.allowed


def test_a_shape_is_told_from_one_with_the_same_tensors():
    """Llama 3 and 3.1 differ in rotary positions alone: weights of one train badly as the other, and nothing else would say so."""
    older = {"model_type": "llama", "rope_theta": 500000.0, "rope_scaling": None, "rms_norm_eps": 1e-05}
    newer = {**older, "rope_scaling": {"rope_type": "llama3", "factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0, "original_max_position_embeddings": 8192}}  # fmt: skip
    newest = {"model_type": "llama", "rope_parameters": {"rope_theta": 500000.0, **newer["rope_scaling"]}}
    assert list(hugging_face.conflicts(SHAPES["llama3-8b"], older)) == []
    assert list(hugging_face.conflicts(SHAPES["llama3.1-8b"], newer)) == []
    assert list(hugging_face.conflicts(SHAPES["llama3.1-8b"], newest)) == []
    assert "factor of the rotary positions is None, not 8.0" in list(hugging_face.conflicts(SHAPES["llama3.1-8b"], older))
    assert "model_type is llama, not qwen3" in list(hugging_face.conflicts(SHAPES["qwen3-8b"], older))


@pytest.mark.parametrize("name", SHAPES)
def test_what_we_write_of_a_shape_is_of_it(name: str):
    assert list(hugging_face.conflicts(SHAPES[name], hugging_face.config(SHAPES[name]))) == []
    assert len([other for other in SHAPES if not list(hugging_face.conflicts(SHAPES[other], hugging_face.config(SHAPES[name])))]) == 1
