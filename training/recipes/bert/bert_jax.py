"""BERT in JAX: functions of the parameters, which are arrays by the names of initial_weights.py.

Matrix products in bfloat16; normalisation, softmax and losses in float32. Layers are written out one after the other, since loops on
the device were not supported by the Neuron compiler in 2.26 (JAX NeuronX, known limits) and nothing newer says otherwise.
"""

import jax
import jax.numpy as jnp

from bert_options import Size

Parameters = dict[str, jax.Array]


def loss(parameters: Parameters, batch: dict[str, jax.Array], key: jax.Array, size: Size) -> jax.Array:
    """Mean loss of the masked tokens plus mean loss of the next sentence."""
    masked, following = losses(parameters, batch, key, size)
    return masked + following


def losses(parameters: Parameters, batch: dict[str, jax.Array], key: jax.Array, size: Size) -> tuple[jax.Array, jax.Array]:
    """Mean loss of the masked tokens, and that of the next sentence.

    ids, types: int32 (batch, sequence); mask: float32 (batch, sequence), 0 for padding; positions, labels, weights: (batch, predictions).
    """
    hidden = encode(parameters, batch, key, size)
    chosen = jnp.take_along_axis(hidden, batch["positions"][..., None], axis=1)
    chosen = _norm(parameters, "transform_norm", jax.nn.gelu(_dense(parameters, "transform", chosen)))
    # The decoder's weights are those of the token embedding.
    logits = jnp.einsum("bph,vh->bpv", _half(chosen), _half(parameters["tokens"])).astype(jnp.float32) + parameters["vocabulary_bias"]
    tokens = -jnp.take_along_axis(jax.nn.log_softmax(logits), batch["labels"][..., None], axis=2)[..., 0]
    masked = jnp.sum(tokens * batch["weights"]) / jnp.maximum(jnp.sum(batch["weights"]), 1.0)
    pooled = jnp.tanh(_dense(parameters, "pooler", hidden[:, 0]))
    answers = jax.nn.log_softmax(_dense(parameters, "next", pooled).astype(jnp.float32))
    following = -jnp.mean(jnp.take_along_axis(answers, batch["next"][:, None], axis=1))
    return masked, following


def encode(parameters: Parameters, batch: dict[str, jax.Array], key: jax.Array, size: Size) -> jax.Array:
    """Last hidden state: float32 (batch, sequence, hidden)."""
    keys = jax.random.split(key, 1 + 3 * size.layers)
    length = batch["ids"].shape[1]
    hidden = parameters["tokens"][batch["ids"]] + parameters["positions"][:length] + parameters["types"][batch["types"]]
    hidden = _dropout(keys[0], _norm(parameters, "norm", hidden), size.dropout)
    bias = (1.0 - batch["mask"])[:, None, None, :] * -1e9
    for number in range(size.layers):
        layer = f"layers.{number}"
        own = keys[1 + 3 * number : 4 + 3 * number]
        attended = _dense(parameters, f"{layer}.output", _attention(parameters, layer, hidden, bias, own[0], size))
        hidden = _norm(parameters, f"{layer}.attention_norm", hidden + _dropout(own[1], attended, size.dropout))
        raised = _dense(parameters, f"{layer}.down", jax.nn.gelu(_dense(parameters, f"{layer}.up", hidden)))
        hidden = _norm(parameters, f"{layer}.norm", hidden + _dropout(own[2], raised, size.dropout))
    return hidden


def _attention(parameters: Parameters, layer: str, hidden: jax.Array, bias: jax.Array, key: jax.Array, size: Size) -> jax.Array:
    """Self-attention of all heads, before its output projection."""
    batch, length, width = hidden.shape
    joint = _dense(parameters, f"{layer}.query_key_value", hidden).reshape(batch, length, 3, size.heads, width // size.heads)
    query, key_, value = (_half(joint[:, :, part]) for part in range(3))
    scores = jnp.einsum("bqnd,bknd->bnqk", query, key_).astype(jnp.float32) / (width // size.heads) ** 0.5
    weights = _dropout(key, jax.nn.softmax(scores + bias), size.dropout)
    return jnp.einsum("bnqk,bknd->bqnd", _half(weights), value).reshape(batch, length, width)


def _half(array: jax.Array) -> jax.Array:
    return array.astype(jnp.bfloat16)


def _dense(parameters: Parameters, name: str, inputs: jax.Array) -> jax.Array:
    """A linear layer: product in bfloat16, result in float32."""
    return (_half(inputs) @ _half(parameters[f"{name}.weight"])).astype(jnp.float32) + parameters[f"{name}.bias"]


def _norm(parameters: Parameters, name: str, inputs: jax.Array) -> jax.Array:
    """Layer normalisation over the last axis."""
    inputs = inputs.astype(jnp.float32)
    centred = inputs - jnp.mean(inputs, axis=-1, keepdims=True)
    normal = centred * jax.lax.rsqrt(jnp.mean(centred**2, axis=-1, keepdims=True) + 1e-12)
    return normal * parameters[f"{name}.scale"] + parameters[f"{name}.bias"]


def _dropout(key: jax.Array, inputs: jax.Array, rate: float) -> jax.Array:
    return jnp.where(jax.random.bernoulli(key, 1.0 - rate, inputs.shape), inputs / (1.0 - rate), 0.0)
