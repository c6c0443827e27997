"""Laws of BERT's data, run by a Python that has NumPy: `data_laws.py FOLDER_OF_THE_RECIPE FOLDER_TO_WRITE_TO`. Fails by an assertion."""

# NumPy is in the environment of a framework, the module in the folder of the recipe.
# pyright: reportMissingImports=false

import sys
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, sys.argv[1])
import pretraining_data as data

VOCABULARY, LENGTH, PREDICTIONS, SEED = 512, 32, 5, 7


def tokenised(folder: Path) -> data.Tokenised:
    """Four documents of three sentences; each token says its document in its hundreds."""
    lengths = np.random.default_rng(1).integers(4, 12, 12)
    tokens = np.concatenate([np.full(length, 100 * (number // 3) + 10) for number, length in enumerate(lengths)])
    np.save(folder / "tokens.npy", tokens.astype(np.uint16))
    np.save(folder / "sentences.npy", np.concatenate([[0], np.cumsum(lengths)]))
    np.save(folder / "documents.npy", np.array([0, 3, 6, 9, 12]))
    np.save(folder / "special.npy", np.array([0, 1, 2, 3]))
    return data.Tokenised(str(folder))


def made(text: Any, first: int, count: int) -> dict[str, np.ndarray]:
    """Samples of a text."""
    return data.batch(text, first, count, LENGTH, PREDICTIONS, VOCABULARY, SEED)


def every_sample_comes_once_in_an_epoch() -> None:
    for samples in (1, 2, 12, 97, 4096):
        for epoch in (0, 3):
            seen = [data.position(epoch * samples + place, samples, SEED) for place in range(samples)]
            assert sorted(index for _, index in seen) == list(range(samples)), samples
            assert {found for found, _ in seen} == {epoch}


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


def what_follows_is_of_the_same_document(text: data.Tokenised) -> None:
    random = np.random.default_rng(3)
    nexts = 0
    for index in range(12):
        for _ in range(20):
            first, second, other = text.pair(index, LENGTH - 3, random)
            assert len(first) > 0
            assert len(first) + len(second) <= LENGTH - 3
            if not other:
                nexts += 1
                assert set(second // 100) == {first[-1] // 100}
    assert nexts > 20


every_sample_comes_once_in_an_epoch()
of_documents = tokenised(Path(sys.argv[2]))
for some in (data.Generated(VOCABULARY), of_documents):
    a_batch_is_its_samples_one_by_one(some)
    what_is_masked_can_be_checked(some)
    shapes_are_always_the_same(some)
what_follows_is_of_the_same_document(of_documents)
print("laws hold")
