"""config.json of Hugging Face's model folders: what ours says, and whether another's is of a shape. Standard library only."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from llama_options import Shape


def config(shape: Shape) -> dict[str, object]:
    """config.json of a shape, with the keys of `LlamaConfig` and `Qwen3Config` (huggingface/transformers)."""
    kind, model = ("Qwen3ForCausalLM", "qwen3") if shape.head_norms else ("LlamaForCausalLM", "llama")
    scaling = None
    if shape.scaling is not None:
        scaling = {
            "rope_type": "llama3",
            "factor": shape.scaling.factor,
            "low_freq_factor": shape.scaling.low,
            "high_freq_factor": shape.scaling.high,
            "original_max_position_embeddings": shape.scaling.original,
        }
    return {
        "architectures": [kind],
        "model_type": model,
        "hidden_size": shape.hidden,
        "intermediate_size": shape.intermediate,
        "num_hidden_layers": shape.layers,
        "num_attention_heads": shape.heads,
        "num_key_value_heads": shape.groups,
        "head_dim": shape.head,
        "vocab_size": shape.vocabulary,
        "rms_norm_eps": shape.epsilon,
        "rope_theta": shape.base,
        "rope_scaling": scaling,
        "tie_word_embeddings": shape.tied,
        "attention_bias": False,
        "hidden_act": "silu",
        # Published lengths (config.json of each on the Hub).
        "max_position_embeddings": 40_960 if shape.head_norms else 131_072,
        "torch_dtype": "bfloat16",
    }


def conflicts(shape: Shape, found: Mapping[str, Any]) -> Iterator[str]:
    """What a config.json says otherwise than a shape: its tensors may have the same sizes, as Llama 3 and 3.1 do, and another meaning."""
    expected = _plain(config(shape))
    said = _plain(found)
    for key in (
        "model_type",
        "hidden_size",
        "num_hidden_layers",
        "num_attention_heads",
        "num_key_value_heads",
        "rms_norm_eps",
        "tie_word_embeddings",
    ):
        if key in said and said[key] != expected[key]:
            yield f"{key} is {said[key]}, not {expected[key]}"
    for key in ("rope_theta", "rope_type", "factor", "low_freq_factor", "high_freq_factor", "original_max_position_embeddings"):
        if said.get(key) != expected.get(key):
            yield f"{key} of the rotary positions is {said.get(key)}, not {expected.get(key)}"


def _plain(found: Mapping[str, Any]) -> dict[str, Any]:
    """With the keys of rotary positions beside the others: they are in `rope_parameters` since transformers 5, before in `rope_scaling`."""
    rotary = {**(found.get("rope_scaling") or {}), **(found.get("rope_parameters") or {})}
    rotary["rope_type"] = rotary.get("rope_type") or rotary.pop("type", None)
    if rotary["rope_type"] == "default":
        rotary["rope_type"] = None
    return {**found, **rotary}
