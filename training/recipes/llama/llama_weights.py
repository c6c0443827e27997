"""The weights of the `llama` recipe by name: their sizes, and which axis each mesh axis divides.

Names and order of axes are those of Hugging Face's files, (outputs, inputs) for products: a folder of theirs and a checkpoint of ours
have the same tensors. Standard library only: `trn data import-weights` reads it as well.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
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
