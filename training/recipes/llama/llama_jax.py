"""Llama 3 and Qwen3 in JAX: one function of the parameters, divided over a mesh by constraints (`data`, `fsdp`, `tensor`).

Layers are one loop over arrays with a leading axis; each is computed again on the way back. Between layers positions are divided over
`tensor`, within a layer heads and feed-forward units are: sequence and tensor parallelism. Logits exist for some positions at a time.
"""

from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
from jax.sharding import PartitionSpec as P

from first_values import frequencies
from llama_options import LORA_SCALE, Options, Shape
from llama_weights import Weight, block_weights, outer_weights

Tree = Any
READERS = ("data", "fsdp")
"""Mesh axes that have samples of their own."""
QUERIES = 1024
"""Queries whose attention exists at a time; training/memory.py counts on it."""


def specification(weight: Weight, fsdp: int, *, gathered: bool = False) -> P:
    """How a tensor is divided. `fsdp`: devices of that axis, which divide it where they can; `gathered`: by `tensor` alone."""
    axes: list[str | None] = [None] * len(weight.shape)
    if weight.fsdp is not None and not gathered and weight.shape[weight.fsdp] % fsdp == 0:
        axes[weight.fsdp] = "fsdp"
    if weight.tensor is not None:
        axes[weight.tensor] = "tensor"
    return P(*axes)


def losses(parameters: Tree, ids: jax.Array, counted: jax.Array, options: Options) -> jax.Array:
    """Sum of the losses of all labels that count. ids: int32 (batch, sequence + 1); counted: float32 (batch, sequence)."""
    hidden, head = states(parameters, ids[:, :-1], options)
    total = jnp.zeros(())
    for first in range(0, options.sequence, options.chunk):
        part = slice(first, first + options.chunk)
        total += jax.checkpoint(_loss)(hidden[:, part], head, ids[:, 1:][:, part], counted[:, part])
    return total


def states(parameters: Tree, ids: jax.Array, options: Options) -> tuple[jax.Array, jax.Array]:
    """The last state of each position, normalised: (batch, sequence, hidden); and what makes logits of it: (vocabulary, hidden)."""
    shape, half = options.shape, jnp.dtype(options.precision)
    outer = _gathered(parameters["outer"], outer_weights(shape), half)
    hidden = _placed(outer["tokens"][ids], READERS, "tensor")
    angles = jnp.arange(ids.shape[1], dtype=jnp.float32)[:, None] * frequencies(shape)
    block = partial(_block, turns=jnp.stack([jnp.cos(angles), jnp.sin(angles)]), options=options)
    if options.checkpoint_activations:
        block = jax.checkpoint(block)
    hidden, _ = jax.lax.scan(lambda state, weights: (block(state, weights), None), hidden, parameters["blocks"], unroll=options.unroll)
    return _placed(_norm(hidden, outer["last_norm"], shape), READERS), outer["tokens"] if shape.tied else outer["head"]


def _loss(hidden: jax.Array, head: jax.Array, labels: jax.Array, counted: jax.Array) -> jax.Array:
    """Of some positions. Logits are divided over `tensor`, so the label's own is found by comparing."""
    found = jnp.einsum("bsh,vh->bsv", hidden, head, preferred_element_type=jnp.float32)
    found = _placed(found, READERS, None, "tensor")
    own = jnp.sum(jnp.where(jnp.arange(found.shape[-1]) == labels[..., None], found, 0.0), axis=-1)
    return jnp.sum((jax.nn.logsumexp(found, axis=-1) - own) * counted)


def _block(hidden: jax.Array, weights: Tree, turns: jax.Array, options: Options) -> jax.Array:
    """Attention and feed-forward, each added to what came in: (batch, sequence, hidden)."""
    shape, half = options.shape, hidden.dtype
    own = block_weights(shape)
    for name in own if options.lora else ():
        if f"{name}_up" in weights:
            change = jnp.einsum("ro,ri->oi", weights[f"{name}_up"], weights[f"{name}_down"])
            weights = {**weights, name: weights[name] + LORA_SCALE * change}
    weights = _gathered({name: weights[name] for name in own}, own, half)
    batch, length, _ = hidden.shape

    def heads(name: str, inputs: jax.Array, count: int) -> jax.Array:
        found = jnp.einsum("bsi,oi->bso", inputs, weights[name]).reshape(batch, length, count, shape.head)
        return _placed(found, READERS, None, "tensor")

    inputs = _placed(_norm(hidden, weights["attention_norm"], shape), READERS)
    query, key, value = heads("query", inputs, shape.heads), heads("key", inputs, shape.groups), heads("value", inputs, shape.groups)
    if shape.head_norms:
        query, key = _norm(query, weights["query_norm"], shape), _norm(key, weights["key_norm"], shape)
    attended = _attention(_turned(query, turns), _turned(key, turns), value)
    hidden = hidden + _placed(jnp.einsum("bsi,oi->bso", attended, weights["output"]), READERS, "tensor")
    inputs = _placed(_norm(hidden, weights["norm"], shape), READERS)
    raised = jax.nn.silu(jnp.einsum("bsi,oi->bso", inputs, weights["gate"])) * jnp.einsum("bsi,oi->bso", inputs, weights["up"])
    raised = _placed(raised, READERS, None, "tensor")
    return hidden + _placed(jnp.einsum("bsi,oi->bso", raised, weights["down"]), READERS, "tensor")


def _attention(query: jax.Array, key: jax.Array, value: jax.Array) -> jax.Array:
    """Each position looks at itself and those before; some queries at a time: (batch, sequence, heads x head)."""
    batch, length, heads, head = query.shape
    groups = key.shape[2]
    query = query.reshape(batch, length, groups, heads // groups, head)

    @jax.checkpoint
    def some(query: jax.Array, key: jax.Array, value: jax.Array) -> jax.Array:
        scores = jnp.einsum("bqgrd,bkgd->bgrqk", query, key, preferred_element_type=jnp.float32) / head**0.5
        behind = key.shape[1] - query.shape[1]
        seen = jnp.arange(key.shape[1])[None] <= behind + jnp.arange(query.shape[1])[:, None]
        weights = jax.nn.softmax(jnp.where(seen, scores, -jnp.inf))
        return jnp.einsum("bgrqk,bkgd->bqgrd", weights.astype(value.dtype), value)

    parts = [
        some(query[:, first : first + QUERIES], key[:, : first + QUERIES], value[:, : first + QUERIES])
        for first in range(0, length, QUERIES)
    ]
    return jnp.concatenate(parts, axis=1).reshape(batch, length, heads * head)


def _turned(heads: jax.Array, turns: jax.Array) -> jax.Array:
    """Heads turned by their positions; the first half of a head and the second are a pair, as in Hugging Face's models."""
    first, second = jnp.split(heads.astype(jnp.float32), 2, axis=-1)
    cosine, sine = turns[0][None, :, None], turns[1][None, :, None]
    return jnp.concatenate([first * cosine - second * sine, second * cosine + first * sine], axis=-1).astype(heads.dtype)


def _norm(inputs: jax.Array, weight: jax.Array, shape: Shape) -> jax.Array:
    """RMS normalisation of the last axis, in float32."""
    wide = inputs.astype(jnp.float32)
    return (wide * jax.lax.rsqrt(jnp.mean(wide**2, axis=-1, keepdims=True) + shape.epsilon)).astype(inputs.dtype) * weight


def _gathered(weights: Tree, described: Any, half: Any) -> Tree:
    """Weights as products need them: rounded first, so that half as much is gathered over `fsdp`."""
    return {name: _constrained(weights[name].astype(half), specification(described[name], 1, gathered=True)) for name in described}


def _placed(array: jax.Array, *axes: Any) -> jax.Array:
    return _constrained(array, P(*axes))


def _constrained(array: jax.Array, wanted: P) -> jax.Array:
    """Divided over the mesh at hand; as it is where there is none."""
    return array if jax.sharding.get_abstract_mesh().empty else jax.lax.with_sharding_constraint(array, wanted)


def adamw(weight: jax.Array, gradient: jax.Array, moments: Tree, step: jax.Array, rate: jax.Array, decay: float) -> Tree:
    """A tensor and its moments after one step, in float32 (Loshchilov and Hutter, Decoupled Weight Decay, 2017, arXiv:1711.05101)."""
    first = 0.9 * moments["first"] + 0.1 * gradient
    second = 0.95 * moments["second"] + 0.05 * gradient**2
    change = (first / (1 - 0.9**step)) / (jnp.sqrt(second / (1 - 0.95**step)) + 1e-8)
    return weight - rate * (change + decay * weight), {"first": first, "second": second}


def make(shape: Shape, lora: int) -> Tree:
    """Descriptions of all tensors in the form of the parameters: those of the layers are one array each, with the layer as first axis."""
    return {"blocks": dict(block_weights(shape, lora)), "outer": dict(outer_weights(shape))}
