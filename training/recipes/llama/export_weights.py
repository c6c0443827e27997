"""Writes a checkpoint's weights in Hugging Face's layout: `python3 export_weights.py --checkpoint FOLDER --to FOLDER [--weights FOLDER]`.

What it writes opens by `AutoModelForCausalLM.from_pretrained`: config.json, model-*.safetensors in bfloat16, and their index. Low-rank
changes are added to the weights that they belong to. One tensor at a time is in memory. NumPy only.
"""

import argparse
import json
import os
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np

import checkpoints
import tensor_files
from llama_options import LORA_SCALE, SHAPES, Shape
from llama_weights import Weight, all_weights

FILE_BYTES = 5 * 10**9
"""Of one file at most, as Hugging Face writes them."""
TOKENIZER = ("tokenizer.json", "tokenizer_config.json", "special_tokens_map.json", "generation_config.json", "vocab.json", "merges.txt")
"""Files that go with the weights where they lie beside those that the training began with."""


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


def merged(checkpoint: tensor_files.Tensors, weights: tensor_files.Tensors | None, path: str, weight: Weight) -> np.ndarray:
    """A whole tensor with its low-rank change, float32."""
    whole = tuple((0, length) for length in weight.shape)
    if weights is None:
        return checkpoint.read(path, whole)
    values, stem = weights.read(path, whole), path.removesuffix("weight")
    if f"{stem}lora_up" not in checkpoint.pieces:
        return values
    up, down = (
        checkpoint.read(f"{stem}{name}", tuple((0, length) for length in checkpoint.shape(f"{stem}{name}")))
        for name in ("lora_up", "lora_down")
    )
    return values + np.float32(LORA_SCALE) * (up.T @ down)


def files(shape: Shape, limit: int) -> Iterator[list[tuple[str, Weight]]]:
    """Tensors by file, in their order."""
    found, size = list[tuple[str, Weight]](), 0
    for path, weight in all_weights(shape):
        taken = 2 * int(np.prod(weight.shape, dtype=np.int64))
        if found and size + taken > limit:
            yield found
            found, size = [], 0
        found.append((path, weight))
        size += taken
    yield found


def export(checkpoint: Path, to: Path, weights: str, limit: int = FILE_BYTES) -> int:
    """Writes the folder in one piece; gives the bytes. Raises TensorFileError where a tensor is missing."""
    tensors = tensor_files.Tensors(checkpoint)
    was = json.loads(tensors.about.get("fingerprint", "{}"))
    if was.get("size") not in SHAPES:
        raise tensor_files.TensorFileError(f"{checkpoint} is no checkpoint of this recipe: its files name no model")
    shape, lora = SHAPES[was["size"]], was["lora"]
    base = weights or was.get("weights", "")
    if lora and not base:
        raise tensor_files.TensorFileError(f"{checkpoint} has low-rank changes alone: name the weights that they belong to by --weights")
    beneath = tensor_files.Tensors(base) if lora else None
    partial = to.with_name(f"{to.name}.partial-{os.getpid()}")
    partial.mkdir(parents=True)
    parts, index = list(files(shape, limit)), dict[str, str]()
    for number, part in enumerate(parts, 1):
        name = f"model-{number:05}-of-{len(parts):05}.safetensors"
        described = dict(part)
        shapes = {path: weight.shape for path, weight in part}
        tensor_files.write_halved(partial / name, shapes, lambda path, described=described: merged(tensors, beneath, path, described[path]))
        index |= dict.fromkeys((path for path, _ in part), name)
    size = 2 * shape.parameters
    (partial / "model.safetensors.index.json").write_text(json.dumps({"metadata": {"total_size": size}, "weight_map": index}, indent=2))
    (partial / "config.json").write_text(json.dumps(config(shape), indent=2) + "\n")
    for name in TOKENIZER:
        if base and Path(base, name).is_file():
            shutil.copyfile(Path(base, name), partial / name)
    os.replace(partial, to)
    return size


def main(arguments: list[str]) -> int:
    """Exports the newest checkpoint of a folder, or one that is named itself; returns the exit code."""
    parser = argparse.ArgumentParser(description="weights of a checkpoint in Hugging Face's layout")
    parser.add_argument("--checkpoint", type=Path, required=True, help="a checkpoint, or the folder of a job's checkpoints: its newest")
    parser.add_argument("--to", type=Path, required=True, help="folder to write, which must not be there")
    parser.add_argument("--weights", default="", help="weights that a LoRA training began with, where they have moved")
    asked = parser.parse_args(arguments)
    if asked.to.exists():
        print(f"{asked.to} is there already: name another folder, or delete it", file=sys.stderr)
        return 1
    newest = checkpoints.newest(str(asked.checkpoint))
    try:
        size = export(newest[1] if newest is not None else asked.checkpoint, asked.to, asked.weights)
    except tensor_files.TensorFileError as error:
        print(error, file=sys.stderr)
        return 1
    print(f"{asked.to}: {size:,} bytes, step {newest[0] if newest is not None else asked.checkpoint.name}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
