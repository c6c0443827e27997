"""BERT in PyTorch: functions of the parameters, which are tensors by the names of initial_weights.py.

The same arithmetic as bert_jax.py: matrix products in bfloat16; normalisation, softmax and losses in float32. No module, so nothing
is copied when parameters move to a device: the decoder's weights stay those of the token embedding.
"""

import torch
from torch.nn import functional

from bert_options import Size

Parameters = dict[str, torch.Tensor]


def loss(parameters: Parameters, batch: dict[str, torch.Tensor], size: Size) -> torch.Tensor:
    """Mean loss of the masked tokens plus mean loss of the next sentence."""
    masked, following = losses(parameters, batch, size)
    return masked + following


def losses(parameters: Parameters, batch: dict[str, torch.Tensor], size: Size) -> tuple[torch.Tensor, torch.Tensor]:
    """Mean loss of the masked tokens, and that of the next sentence.

    ids, types: int64 (batch, sequence); mask: float32 (batch, sequence), 0 for padding; positions, labels, weights: (batch, predictions).
    """
    hidden = encode(parameters, batch, size)
    chosen = torch.gather(hidden, 1, batch["positions"][..., None].expand(-1, -1, size.hidden))
    chosen = _norm(parameters, "transform_norm", functional.gelu(_dense(parameters, "transform", chosen), approximate="tanh"))
    logits = (_half(chosen) @ _half(parameters["tokens"]).T).float() + parameters["vocabulary_bias"]
    tokens = -torch.gather(functional.log_softmax(logits, -1), 2, batch["labels"][..., None])[..., 0]
    masked = (tokens * batch["weights"]).sum() / batch["weights"].sum().clamp(min=1.0)
    pooled = torch.tanh(_dense(parameters, "pooler", hidden[:, 0]))
    answers = functional.log_softmax(_dense(parameters, "next", pooled), -1)
    return masked, -torch.gather(answers, 1, batch["next"][:, None]).mean()


def encode(parameters: Parameters, batch: dict[str, torch.Tensor], size: Size) -> torch.Tensor:
    """Last hidden state: float32 (batch, sequence, hidden)."""
    length = batch["ids"].shape[1]
    hidden = (
        functional.embedding(batch["ids"], parameters["tokens"])
        + parameters["positions"][:length]
        + functional.embedding(batch["types"], parameters["types"])
    )
    hidden = functional.dropout(_norm(parameters, "norm", hidden), size.dropout)
    bias = (1.0 - batch["mask"])[:, None, None, :] * -1e9
    for number in range(size.layers):
        layer = f"layers.{number}"
        attended = _dense(parameters, f"{layer}.output", _attention(parameters, layer, hidden, bias, size))
        hidden = _norm(parameters, f"{layer}.attention_norm", hidden + functional.dropout(attended, size.dropout))
        raised = _dense(parameters, f"{layer}.down", functional.gelu(_dense(parameters, f"{layer}.up", hidden), approximate="tanh"))
        hidden = _norm(parameters, f"{layer}.norm", hidden + functional.dropout(raised, size.dropout))
    return hidden


def _attention(parameters: Parameters, layer: str, hidden: torch.Tensor, bias: torch.Tensor, size: Size) -> torch.Tensor:
    """Self-attention of all heads, before its output projection."""
    batch, length, width = hidden.shape
    joint = _dense(parameters, f"{layer}.query_key_value", hidden).reshape(batch, length, 3, size.heads, width // size.heads)
    query, key, value = (_half(joint[:, :, part]).transpose(1, 2) for part in range(3))
    scores = (query @ key.transpose(2, 3)).float() / (width // size.heads) ** 0.5
    weights = functional.dropout(functional.softmax(scores + bias, -1), size.dropout)
    return (_half(weights) @ value).transpose(1, 2).reshape(batch, length, width)


def _half(tensor: torch.Tensor) -> torch.Tensor:
    return tensor.to(torch.bfloat16)


def _dense(parameters: Parameters, name: str, inputs: torch.Tensor) -> torch.Tensor:
    """A linear layer: product in bfloat16, result in float32."""
    return (_half(inputs) @ _half(parameters[f"{name}.weight"])).float() + parameters[f"{name}.bias"]


def _norm(parameters: Parameters, name: str, inputs: torch.Tensor) -> torch.Tensor:
    """Layer normalisation over the last axis."""
    return functional.layer_norm(inputs.float(), inputs.shape[-1:], parameters[f"{name}.scale"], parameters[f"{name}.bias"], 1e-12)
