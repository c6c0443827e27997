"""Laws of the llama recipe's files, run in a framework's environment: `python llama_laws.py RECIPE_FILES LAW FOLDER...`; prints what it found."""

# NumPy and the frameworks are in environments of their own, the modules in the folder of the recipe.
# pyright: reportMissingImports=false

import json
import sys
from pathlib import Path

sys.path.insert(0, sys.argv[1])

import numpy as np

import tensor_files
from first_values import first_values
from llama_options import SHAPES
from llama_weights import all_weights


def whole(tensors: tensor_files.Tensors, path: str) -> np.ndarray:
    """One tensor of a folder."""
    return tensors.read(path, tuple((0, length) for length in tensors.shape(path)))


def first(folder: str) -> str:
    """Whether a checkpoint has the first values of one process, to the bit."""
    tensors = tensor_files.Tensors(folder)
    was = json.loads(tensors.about["fingerprint"])
    wrong = []
    for path, weight in all_weights(SHAPES[was["size"]], was["lora"]):
        if path in tensors.pieces:
            expected = first_values(path, weight, tuple((0, length) for length in weight.shape), was["seed"])
            if whole(tensors, path).tobytes() != expected.tobytes():
                wrong.append(path)
    return f"{len(tensors.pieces) // 3} tensors, other: {wrong}"


def spread(_: str) -> str:
    """Mean and deviation of first values, and whether neighbours, rows, tensors and seeds are alike."""
    by_path = dict(all_weights(SHAPES["llama3.2-1b"]))
    path = "model.layers.0.mlp.gate_proj.weight"
    part = ((0, 512), (0, 2048))
    values = first_values(path, by_path[path], part, 1)
    others = [
        first_values(path, by_path[path], part, 2),
        first_values(path.replace("0", "1"), by_path[path], part, 1),
        np.roll(values, 1, 0),
        np.roll(values, 1, 1),
    ]
    alike = max(abs(float(np.corrcoef(values.ravel(), other.ravel())[0, 1])) for other in others)
    assert abs(float(values.mean())) < 1e-4
    assert abs(float(values.std()) / 0.02 - 1) < 0.01
    assert abs(float((np.abs(values) < 0.02).mean()) - 0.6827) < 0.01, "not normal"
    assert alike < 0.005, alike
    return "spread"


def refusal(place: Path) -> str:
    """Why a tensor of a folder cannot be read."""
    try:
        tensor_files.Tensors(place).read("w", ((0, 4), (0, 6)))
    except tensor_files.TensorFileError as error:
        return str(error)
    return "none"


def files(folder: str) -> str:
    """What is written is what the safetensors library reads, and the other way round; damage is found."""
    from safetensors.numpy import load_file, save_file

    place = Path(folder)
    values = np.arange(24, dtype=np.float32).reshape(4, 6) - 7.3
    tensor_files.write(place / "a.safetensors", [(tensor_files.piece_name("w", ((0, 4), (0, 3))), values[:, :3])], {"step": "1"})
    tensor_files.write(place / "b.safetensors", [(tensor_files.piece_name("w", ((0, 4), (3, 6))), values[:, 3:])], {})
    assert (load_file(place / "a.safetensors")["w@0:4,0:3"] == values[:, :3]).all()
    tensors = tensor_files.Tensors(place)
    assert (tensors.read("w", ((1, 3), (2, 5))) == values[1:3, 2:5]).all()
    assert (tensors.shape("w"), tensors.about["step"]) == ((4, 6), "1")
    save_file({"h": values.astype(np.float16)}, place / "c.safetensors")
    assert (tensor_files.Tensors(place).read("h", ((0, 4), (0, 6))) == values.astype(np.float16)).all()
    (place / "b.safetensors").unlink()
    for says, damage in (("has not all of w", None), ("is cut off", 20), ("is cut off", 4)):
        if damage is not None:
            (place / "a.safetensors").write_bytes((place / "a.safetensors").read_bytes()[:-damage])
        said = refusal(place)
        assert says in said, said
    return "files"


def answers(_: str) -> str:
    """Labels from behind the token that begins an answer up to the one that ends it."""
    from llama_text import counted

    ids = np.array([[5, 8, 1, 2, 9, 3, 8, 4, 4]])
    assert counted(ids, (8, 9)).tolist() == [[0, 1, 1, 1, 0, 0, 1, 1]]
    assert counted(ids, None).sum() == 8
    return "answers"


def logits(folder: str) -> str:
    """Largest distance between logits of `transformers` and those of our two models' PyTorch one, from the same exported folder."""
    import torch
    from transformers import AutoModelForCausalLM

    from llama_options import parse
    from llama_torch import Llama

    size, name = folder.split(":")[1], folder.split(":")[0]
    theirs = AutoModelForCausalLM.from_pretrained(name, dtype=torch.float32)
    tensors, ours = tensor_files.Tensors(name), Llama(parse(["--size", size, "--precision", "float32", "--sequence", "48"]), None)
    ours.to_empty(device="cpu")
    with torch.no_grad():
        for layer, described in enumerate([*ours.blocks, ours]):
            for key, weight in described.described.items():
                getattr(described, key).copy_(torch.from_numpy(whole(tensors, weight.path.format(layer=layer))))
        ids = torch.randint(0, 512, (2, 48), generator=torch.Generator().manual_seed(3))
        head = ours.tokens if SHAPES[size].tied else ours.head
        distance = (theirs(ids).logits - torch.nn.functional.linear(ours.states(ids), head)).abs().max().item()
    spreads = theirs(ids).logits.std().item()
    return json.dumps({"distance": distance, "spread": spreads, "class": type(theirs).__name__})


print({law.__name__: law for law in (first, spread, files, answers, logits)}[sys.argv[2]](sys.argv[3]))
