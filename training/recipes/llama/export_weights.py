"""Writes a checkpoint's weights in Hugging Face's layout, and a line of JSON for each file: `python3 export_weights.py --checkpoint FOLDER --to FOLDER [--weights FOLDER]`.

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
from hugging_face import config
from llama_options import LORA_SCALE, SHAPES, Shape
from llama_weights import Weight, all_weights

FILE_BYTES = 5 * 10**9
"""Of one file at most, as Hugging Face writes them."""
TOKENIZER = ("tokenizer.json", "tokenizer_config.json", "special_tokens_map.json", "generation_config.json", "vocab.json", "merges.txt")
"""Files that go with the weights where they lie beside those that the training began with."""


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


def export(checkpoint: Path, to: Path, weights: str, limit: int = FILE_BYTES) -> tuple[int, int]:
    """Writes the folder in one piece; gives bytes and step. Raises TensorFileError where a tensor is missing."""
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
        print(json.dumps({"export": "file", "name": name, "of": len(parts)}), flush=True)
        index |= dict.fromkeys((path for path, _ in part), name)
    size = 2 * shape.parameters
    (partial / "model.safetensors.index.json").write_text(json.dumps({"metadata": {"total_size": size}, "weight_map": index}, indent=2))
    (partial / "config.json").write_text(json.dumps(config(shape), indent=2) + "\n")
    for name in TOKENIZER:
        if base and Path(base, name).is_file():
            shutil.copyfile(Path(base, name), partial / name)
    os.replace(partial, to)
    return size, int(tensors.about["step"])


def main(arguments: list[str]) -> int:
    """Exports the newest checkpoint of a folder, or one that is named itself; returns the exit code."""
    parser = argparse.ArgumentParser(description="weights of a checkpoint in Hugging Face's layout")
    parser.add_argument("--checkpoint", type=Path, required=True, help="a checkpoint, or the folder of a job's checkpoints: its newest")
    parser.add_argument("--to", type=Path, required=True, help="folder to write, which must not be there")
    parser.add_argument("--weights", default="", help="weights that a LoRA training began with, where they have moved")
    asked = parser.parse_args(arguments)
    newest = checkpoints.newest(str(asked.checkpoint))
    try:
        if asked.to.exists():
            raise tensor_files.TensorFileError(f"{asked.to} is there already: name another folder, or delete it")
        size, step = export(newest[1] if newest is not None else asked.checkpoint, asked.to, asked.weights)
    except tensor_files.TensorFileError as error:
        print(json.dumps({"export": "failed", "why": str(error)}), flush=True)
        return 1
    print(json.dumps({"export": "done", "to": str(asked.to), "bytes": size, "step": step}))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
