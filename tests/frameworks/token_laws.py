"""Laws of the reader of packed shards, run by a Python that has NumPy: `token_laws.py FOLDERS_OF_MODULES... FOLDER_TO_WRITE_TO`. Fails by an assertion."""

# NumPy is in the environment of a framework, the module in the folder of the recipes.
# pyright: reportMissingImports=false

import json
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np

sys.path.extend(sys.argv[1:-1])
import token_data

LENGTH, VOCABULARY, SEED = 8, 1000, 7
SHARDS = (50, 3, 129)
"""Tokens of each shard; the second is too short for a sequence."""


def written(folder: Path) -> str:
    """A set of three shards; each token is its place in the whole split."""
    shards, first = [], 0
    for number, count in enumerate(SHARDS):
        name = f"train-{number:05}"
        np.arange(first, first + count, dtype="<u2").tofile(folder / f"{name}.tokens")
        np.array([0, count], "<u4").tofile(folder / f"{name}.documents")
        shards.append({"name": name, "tokens": count, "documents": 1, "sentences": 0, "sha256": ""})
        first += count
    index = {
        "format": token_data.FORMAT,
        "fingerprint": "f" * 64,
        "type": "uint16",
        "tokenizer": {"name": "none", "sha256": "", "vocabulary": VOCABULARY},
        "special": {},
        "splits": {"train": {"tokens": first, "documents": len(shards), "sentences": 0, "shards": shards}},
    }
    (folder / token_data.INDEX).write_text(json.dumps(index))
    return str(folder)


def every_sample_comes_once_in_an_epoch() -> None:
    for samples in (1, 2, 3, 12, 97, 4096, 4097):
        epochs, found = token_data.order(0, 3 * samples, samples, SEED)
        assert epochs.tolist() == sorted(epochs.tolist())
        for epoch in range(3):
            assert sorted(found[epochs == epoch]) == list(range(samples)), samples


def the_order_is_another_one_in_each_epoch_and_for_each_seed() -> None:
    _, found = token_data.order(0, 2000, 1000, SEED)
    _, other = token_data.order(0, 1000, 1000, SEED + 1)
    for one in (found[1000:], other):
        # Two random orders agree in one place, by expectation.
        assert (found[:1000] == one).sum() < 10
    # Neighbours in the order are no neighbours in the set: their mean distance is a third of it.
    assert 300 < np.abs(np.diff(found[:1000])).mean() < 366


def no_sample_is_seen_twice_after_a_resume(text: token_data.NextToken) -> None:
    """Whatever is cut where: the position is a number of samples, and the second run may take other batches."""
    whole = text.batch(0, text.samples)
    for stop, then in ((1, 1), (5, 3), (text.samples - 1, 7)):
        parts = [text.batch(place, 1) for place in range(stop)]
        for place in range(stop, text.samples, then):
            parts.append(text.batch(place, min(then, text.samples - place)))
        assert (np.concatenate(parts) == whole).all()
    assert len({row.tobytes() for row in whole}) == text.samples


def a_sequence_is_a_stretch_of_one_shard(text: token_data.NextToken) -> None:
    """With the first token of the one behind it, so that every token but the first is once a label."""
    rows = text.batch(0, text.samples)
    assert rows.dtype == np.int32
    assert (np.diff(rows, axis=1) == 1).all()
    expected = [0 + LENGTH * number for number in range(49 // LENGTH)] + [53 + LENGTH * number for number in range(128 // LENGTH)]
    assert sorted(rows[:, 0].tolist()) == expected


def what_does_not_fit_is_refused(folder: str) -> None:
    for given, why in (
        ((folder, LENGTH, VOCABULARY - 1, SEED), "has a vocabulary of 1000"),
        ((folder, 500, VOCABULARY, SEED), "no sequence of 501 tokens"),
        ((folder, LENGTH, VOCABULARY, SEED, "validation"), "no split `validation`"),
        ((f"{folder}/none", LENGTH, VOCABULARY, SEED), "has no index.json"),
    ):
        assert why in refusal(lambda given=given: token_data.NextToken(*given))


def a_shard_that_was_cut_off_is_refused(folder: Path) -> None:
    path = folder / "train-00000.tokens"
    whole = path.read_bytes()
    path.write_bytes(whole[:-2])
    said = refusal(lambda: token_data.NextToken(str(folder), LENGTH, VOCABULARY, SEED).batch(0, 22))
    assert "has 49 entries, its index says 50" in said
    path.write_bytes(whole)


def refusal(act: Callable[[], object]) -> str:
    """Why a set is refused."""
    try:
        act()
    except token_data.WrongData as error:
        return str(error)
    return "not refused"


every_sample_comes_once_in_an_epoch()
the_order_is_another_one_in_each_epoch_and_for_each_seed()
place = written(Path(sys.argv[-1]))
of_shards = token_data.NextToken(place, LENGTH, VOCABULARY, SEED)
a_sequence_is_a_stretch_of_one_shard(of_shards)
no_sample_is_seen_twice_after_a_resume(of_shards)
what_does_not_fit_is_refused(place)
a_shard_that_was_cut_off_is_refused(Path(place))
assert of_shards.identity != token_data.NextToken(place, LENGTH, VOCABULARY, SEED + 1).identity
made_up = token_data.NextToken("generated", LENGTH, VOCABULARY, SEED)
assert (made_up.batch(3, 4)[2] == made_up.batch(5, 1)[0]).all()
assert not (made_up.batch(0, 4) == token_data.NextToken("generated", LENGTH, VOCABULARY, SEED, "validation").batch(0, 4)).all()
print("laws hold")
