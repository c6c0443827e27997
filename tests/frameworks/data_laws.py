"""Laws of BERT's data, run by a Python that has NumPy: `data_laws.py FOLDERS_OF_MODULES... FOLDER_TO_WRITE_TO`. Fails by an assertion."""

# NumPy is in the environment of a framework, the modules in the folders of the recipes.
# pyright: reportMissingImports=false

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np

sys.path.extend(sys.argv[1:-1])
import pretraining_data as data
import token_data

VOCABULARY, LENGTH, PREDICTIONS, SEED = 512, 32, 5, 7


def packed(folder: Path) -> data.Packed:
    """Two shards of two documents of three sentences; each token says its document in its hundreds."""
    lengths = np.random.default_rng(1).integers(4, 12, 12)
    shards = []
    for number in range(2):
        own, name = lengths[6 * number : 6 * number + 6], f"train-{number:05}"
        tokens = np.concatenate([np.full(length, 100 * (2 * number + place // 3) + 10) for place, length in enumerate(own)])
        starts = np.concatenate([[0], np.cumsum(own)])
        for part, kind, values in (("tokens", "<u2", tokens), ("sentences", "<u4", starts), ("documents", "<u4", starts[::3])):
            values.astype(kind).tofile(folder / f"{name}.{part}")
        shards.append({"name": name, "tokens": len(tokens), "documents": 2, "sentences": 6, "sha256": ""})
    index = {
        "format": token_data.FORMAT, "fingerprint": "f" * 64, "type": "uint16",
        "tokenizer": {"name": "none", "sha256": "", "vocabulary": VOCABULARY},
        "special": {"padding": 0, "class": 1, "separator": 2, "mask": 3, "begin": None, "end": None},
        "splits": {"train": {"tokens": int(lengths.sum()), "documents": 4, "sentences": 12, "shards": shards}},
    }  # fmt: skip
    (folder / token_data.INDEX).write_text(json.dumps(index))
    return data.Packed(str(folder), VOCABULARY, token_data.TRAIN)


def made(text: Any, first: int, count: int) -> dict[str, np.ndarray]:
    """Samples of a text."""
    return data.batch(text, first, count, LENGTH, PREDICTIONS, VOCABULARY, SEED)


def a_batch_is_its_samples_one_by_one(text: Any) -> None:
    """So workers and micro batches may be cut in any way, and a resumed run sees what it would have seen."""
    whole, parts = made(text, 5, 8), [made(text, 5 + number, 1) for number in range(8)]
    for name, array in whole.items():
        assert (array == np.concatenate([part[name] for part in parts])).all(), name


def what_is_masked_can_be_checked(text: Any) -> None:
    found = made(text, 0, 64)
    there = found["weights"] > 0
    assert there.any(axis=1).all()
    positions = np.where(there, found["positions"], 1)
    # Only words are masked: no padding, and neither the first token nor a separator.
    assert (np.take_along_axis(found["mask"], positions, 1) == 1).all()
    assert not np.isin(found["labels"][there], text.special).any()
    masked = np.take_along_axis(found["ids"], positions, 1)[there] == text.special[3]
    assert 0.6 < masked.mean() < 0.95


def shapes_are_always_the_same(text: Any) -> None:
    """Each shape is compiled once."""
    for first in (0, 17, 1000):
        found = made(text, first, 3)
        assert found["ids"].shape == found["types"].shape == found["mask"].shape == (3, LENGTH)
        assert found["positions"].shape == found["labels"].shape == found["weights"].shape == (3, PREDICTIONS)


def what_follows_is_of_the_same_document(text: data.Packed) -> None:
    random = np.random.default_rng(3)
    nexts = 0
    for index in range(12):
        for _ in range(20):
            first, second, other = text.pair(index, LENGTH - 3, random)
            assert len(first) > 0
            assert len(first) + len(second) <= LENGTH - 3
            same = set(second // 100) == {first[-1] // 100}
            assert same != bool(other)
            nexts += not other
    assert nexts > 20


of_documents = packed(Path(sys.argv[-1]))
for some in (data.Generated(VOCABULARY), of_documents):
    a_batch_is_its_samples_one_by_one(some)
    what_is_masked_can_be_checked(some)
    shapes_are_always_the_same(some)
what_follows_is_of_the_same_document(of_documents)
print("laws hold")
