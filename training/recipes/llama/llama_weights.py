"""The weights of the `llama` recipe by name: their sizes, which axis each mesh axis divides, and their first values.

Names and order of axes are those of Hugging Face's files, (outputs, inputs) for products: a folder of theirs and a checkpoint of ours
have the same tensors. NumPy only.
"""

import dataclasses
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from llama_options import Shape

Slices = tuple[tuple[int, int], ...]
"""First and last + 1 of each axis."""


@dataclass(frozen=True)
class Weight:
    """One tensor of a layer, or of the model."""

    path: str
    """In Hugging Face's files: `{layer}` stands for the layer's number."""
    shape: tuple[int, ...]
    tensor: int | None = None
    """Axis that devices of `tensor` divide; None where each has all of it."""
    fsdp: int | None = 0
    """Axis that devices of `fsdp` divide."""
    deviation: float = 0.02
    """Of the first values; 0 for ones."""
    zero: bool = False
    """Whether the first values are zeros."""


def block_weights(shape: Shape, lora: int = 0) -> Mapping[str, Weight]:
    """Tensors of one layer, by the names that the models use."""
    hidden, query, key = shape.hidden, shape.heads * shape.head, shape.groups * shape.head

    def norm(path: str, width: int) -> Weight:
        return Weight(f"model.layers.{{layer}}.{path}.weight", (width,), deviation=0)

    def product(path: str, outputs: int, inputs: int, tensor: int) -> Weight:
        return Weight(f"model.layers.{{layer}}.{path}.weight", (outputs, inputs), tensor, 1 - tensor)

    products = {
        "query": product("self_attn.q_proj", query, hidden, 0),
        "key": product("self_attn.k_proj", key, hidden, 0),
        "value": product("self_attn.v_proj", key, hidden, 0),
        "output": product("self_attn.o_proj", hidden, query, 1),
        "gate": product("mlp.gate_proj", shape.intermediate, hidden, 0),
        "up": product("mlp.up_proj", shape.intermediate, hidden, 0),
        "down": product("mlp.down_proj", hidden, shape.intermediate, 1),
    }
    norms = {"attention_norm": norm("input_layernorm", hidden), "norm": norm("post_attention_layernorm", hidden)}
    if shape.head_norms:
        norms |= {"query_norm": norm("self_attn.q_norm", shape.head), "key_norm": norm("self_attn.k_norm", shape.head)}
    changes = {}
    for name, weight in products.items() if lora else ():
        # The change of a product is up^T down, both (rank, width); up begins with zeros, so nothing changes at first.
        outputs, inputs = weight.shape
        path = weight.path.removesuffix("weight")
        changes[f"{name}_down"] = Weight(f"{path}lora_down", (lora, inputs), 1 if weight.tensor == 1 else None)
        changes[f"{name}_up"] = Weight(f"{path}lora_up", (lora, outputs), 1 if weight.tensor == 0 else None, zero=True)
    return {**norms, **products, **changes}


def outer_weights(shape: Shape) -> Mapping[str, Weight]:
    """Tensors outside of the layers."""
    found = {
        "tokens": Weight("model.embed_tokens.weight", (shape.vocabulary, shape.hidden), 0, 1),
        "last_norm": Weight("model.norm.weight", (shape.hidden,), deviation=0),
    }
    return found if shape.tied else {**found, "head": Weight("lm_head.weight", (shape.vocabulary, shape.hidden), 0, 1)}


def is_trained(name: str, lora: int) -> bool:
    """Whether a tensor changes in a training: with low-rank changes these alone."""
    return not lora or name.endswith(("_down", "_up"))


def all_weights(shape: Shape, lora: int = 0) -> Iterator[tuple[str, Weight]]:
    """Full path and description of every tensor."""
    for layer in range(shape.layers):
        for weight in block_weights(shape, lora).values():
            yield weight.path.format(layer=layer), weight
    for weight in outer_weights(shape).values():
        yield weight.path, weight


def first_values(path: str, weight: Weight, slices: Slices, seed: int) -> np.ndarray:
    """A part of a tensor before training, float32.

    Each value follows from the seed, the tensor's path and the value's place in the whole tensor, by whole numbers alone: any division
    over devices has the same values to the bit, on any machine. The sum of eight even 16-bit numbers is near a normal distribution
    (Irwin-Hall), cut at 4.9 deviations.
    """
    lengths = [last - first for first, last in slices]
    if weight.zero or not weight.deviation:
        return np.full(lengths, 0.0 if weight.zero else 1.0, np.float32)
    place = np.zeros(lengths, np.uint64)
    for axis, (first, last) in enumerate(slices):
        along = np.arange(first, last, dtype=np.uint64) * np.uint64(np.prod(weight.shape[axis + 1 :], dtype=np.int64))
        place += along.reshape([-1 if each == axis else 1 for each in range(len(slices))])
    start = np.uint64((zlib.crc32(path.encode()) << 32) ^ (seed * 0x9E3779B97F4A7C15 & (2**64 - 1)))
    total = np.zeros(lengths, np.int32)
    for draw in (1, 2):
        number = _mixed((place << np.uint64(1)) + np.uint64(draw) ^ _mixed(np.atleast_1d(start)))
        for shift in (0, 16, 32, 48):
            total += ((number >> np.uint64(shift)) & np.uint64(0xFFFF)).astype(np.int32)
    # Mean 8 x 65535 / 2, variance 8 x (65536^2 - 1) / 12.
    return (total - np.int32(4 * 65535)).astype(np.float32) * np.float32(weight.deviation / (8 * (65536**2 - 1) / 12) ** 0.5)


def _mixed(values: np.ndarray) -> np.ndarray:
    """Each number far from its neighbours': the finaliser of splitmix64 (Steele et al., 2014); products wrap around."""
    values = (values ^ (values >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    values = (values ^ (values >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return values ^ (values >> np.uint64(31))


def frequencies(shape: Shape) -> np.ndarray:
    """Rotary frequencies, float32 (head / 2,). Scaled ones as in Llama 3.1: long waves are stretched, those between mixed."""
    found = 1.0 / np.float32(shape.base) ** (np.arange(0, shape.head, 2, dtype=np.float32) / np.float32(shape.head))
    if shape.scaling is None:
        return found.astype(np.float32)
    factor, low, high, original = dataclasses.astuple(shape.scaling)
    waves = 2 * np.pi / found
    share = np.clip((original / waves - low) / (high - low), 0.0, 1.0)
    return ((1 - share) * found / factor + share * found).astype(np.float32)
