"""Tokenised text for training: packed shards that `trn data prepare` wrote, or generated text; the order of samples follows from a seed alone.

A set is a folder. Its index is written last, so a folder with one is whole:

    index.json               {"format", "fingerprint", "type", "tokenizer": {"name", "sha256", "vocabulary"}, "special": {...}, "splits": {...}}
    train-00000.tokens       token ids of all documents, one after the other, little-endian, of `type`: uint16 or uint32
    train-00000.documents    uint32, where each document begins in the tokens, and at the end the number of tokens
    train-00000.sentences    the same for sentences, where the set was made for masked tokens

`splits` has `train` and `validation`: {"tokens", "documents", "sentences", "shards": [{"name", "tokens", "documents", "sentences", "sha256"}]}.
`special` has ids or null: padding, class, separator, mask; `begin` and `end` are what each document begins and ends with in the tokens.

A training asks for samples by their place in the whole of it: place p is sample `order(p)` of epoch p // samples. So the position
that a checkpoint keeps is one number, the samples that were used, and other batch sizes or numbers of workers go on from it.
NumPy only: JAX and PyTorch recipes both import it.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

import progress_lines

FORMAT = "trn-tokens-1"
INDEX = "index.json"
GENERATED = "generated"
"""Name of a set that is made up; never taken unless it is named."""
TRAIN, VALIDATION = "train", "validation"
GENERATED_SAMPLES = 2**20
ROUNDS = 6
"""Of the Feistel network that shuffles; 4 are enough for pseudorandom functions (Luby and Rackoff, 1988), ours are weaker."""


class WrongData(SystemExit):
    """The set cannot be used for this training: says why, and ends the worker with exit code 1 where nobody catches it."""


def asked_for(arguments: list[str]) -> str:
    """What the words of a command line take for data, before any other of them is looked at: else the job's set, or nothing."""
    parser = argparse.ArgumentParser(add_help=False, allow_abbrev=False)
    parser.add_argument("--data", default=os.environ.get("TRN_DATA", ""))
    return str(parser.parse_known_args(arguments)[0].data)


def announce(data: str) -> None:
    """Writes what is trained on, and ends a worker that was told neither a set nor `generated`. Call it before anything else is written."""
    if not data:
        raise WrongData("there is no data: name a set that `trn data prepare` made (data.path of the job file), or `--data generated`")
    if data == GENERATED:
        line = "data: GENERATED TEXT (--data generated): the loss falls, and nothing useful is learnt"
    else:
        index = read_index(data)
        split = index["splits"][TRAIN]
        line = f"data: {data}, {split['tokens']:,} tokens of {split['documents']:,} documents, {index['tokenizer']['name']}, fingerprint {index['fingerprint'][:12]}"
    if progress_lines.speaks():
        sys.stdout.write(line + "\n")
        sys.stdout.flush()


def read_index(folder: str) -> dict[str, Any]:
    """The index of a set. Raises WrongData where there is none, or one of another form."""
    try:
        index = json.loads(Path(folder, INDEX).read_text())
    except FileNotFoundError:
        raise WrongData(f"{folder} has no {INDEX}: it is no set that `trn data prepare` made, or not whole; run it (again)") from None
    except (OSError, ValueError) as error:
        raise WrongData(f"cannot read {folder}/{INDEX}: {error}") from error
    if not isinstance(index, dict) or index.get("format") != FORMAT:
        raise WrongData(f"{folder}/{INDEX} is not of the form {FORMAT}: make the set anew by `trn data prepare`")
    return index


def has(folder: str, split: str) -> bool:
    """Whether a set has text in a split."""
    return bool(read_index(folder)["splits"].get(split, {}).get("shards"))


class Shard:
    """One shard, read as far as it is needed."""

    def __init__(self, folder: str, about: dict[str, Any], kind: str) -> None:
        self.folder, self.about, self.kind = folder, about, kind

    @cached_property
    def tokens(self) -> np.ndarray:
        """All token ids."""
        return self._mapped("tokens", self.kind, self.about["tokens"])

    @cached_property
    def documents(self) -> np.ndarray:
        """Where documents begin, and the number of tokens."""
        return self._mapped("documents", "uint32", self.about["documents"] + 1)

    @cached_property
    def sentences(self) -> np.ndarray:
        """Where sentences begin, and the number of tokens."""
        return self._mapped("sentences", "uint32", self.about["sentences"] + 1)

    def _mapped(self, what: str, kind: str, count: int) -> np.ndarray:
        path = Path(self.folder, f"{self.about['name']}.{what}")
        try:
            found = np.memmap(path, np.dtype(kind).newbyteorder("<"), "r")
        except (OSError, ValueError) as error:
            raise WrongData(f"cannot read {path}: {error}") from error
        if len(found) != count:
            raise WrongData(f"{path} has {len(found)} entries, its index says {count}: it was changed; make the set anew")
        return found


class Tokens:
    """One split of a set."""

    def __init__(self, folder: str, split: str = TRAIN) -> None:
        self.index = read_index(folder)
        self.fingerprint: str = self.index["fingerprint"]
        self.vocabulary: int = self.index["tokenizer"]["vocabulary"]
        self.special: dict[str, int | None] = self.index["special"]
        found = self.index["splits"].get(split, {"shards": []})["shards"]
        if not found:
            raise WrongData(f"{folder} has no split `{split}`: make the set anew with `data.prepare.validation`")
        self.shards = [Shard(folder, about, self.index["type"]) for about in found]

    def fit(self, vocabulary: int) -> None:
        """Raises WrongData for a model whose vocabulary lacks ids of the set."""
        if self.vocabulary > vocabulary:
            name = self.index["tokenizer"]["name"]
            raise WrongData(
                f"the set has a vocabulary of {self.vocabulary} ({name}), the model one of {vocabulary}: take the model's tokenizer"
            )


class Sequences:
    """A split as sequences of `length` + 1 tokens, for training on the next token: the last of one is the first of the next."""

    def __init__(self, tokens: Tokens, length: int) -> None:
        self.length, self.shards = length, tokens.shards
        # How many sequences end with each shard; one does not go on into the next shard.
        self.ends = np.cumsum([max(0, shard.about["tokens"] - 1) // length for shard in tokens.shards])
        self.samples = int(self.ends[-1])
        self.identity = f"{tokens.fingerprint} in sequences of {length}"
        if not self.samples:
            raise WrongData(f"the set has no sequence of {length + 1} tokens: take a shorter one, or more text")

    def row(self, _epoch: int, index: int) -> np.ndarray:
        """One sample: (length + 1,)."""
        shard = int(np.searchsorted(self.ends, index, side="right"))
        begin = (index - (int(self.ends[shard - 1]) if shard else 0)) * self.length
        return self.shards[shard].tokens[begin : begin + self.length + 1]


class GeneratedSequences:
    """Made-up text: some words are far more frequent than others, and each second one follows from the one before, so that the loss falls."""

    samples = GENERATED_SAMPLES

    def __init__(self, vocabulary: int, length: int, split: str) -> None:
        self.vocabulary, self.length, self.stream = vocabulary, length, 1 + (split == VALIDATION)
        self.identity = f"{GENERATED} in sequences of {length}"

    def row(self, _epoch: int, index: int) -> np.ndarray:
        """One sample: (length + 1,)."""
        random = np.random.Generator(np.random.Philox(key=[0, self.stream], counter=[0, 0, 0, index]))
        words = (self.vocabulary * random.random(self.length + 1) ** 4).astype(np.int64)
        words[1::2] = (words[::2][: len(words[1::2])] * 7 + 1) % self.vocabulary
        return words


class NextToken:
    """Sequences in the order of a seed, each once in an epoch."""

    def __init__(self, data: str, length: int, vocabulary: int, seed: int, split: str = TRAIN) -> None:
        """`data`: folder of a set, or `generated`; `vocabulary`: the model's. Raises WrongData for a set that does not fit."""
        self.seed = seed
        if data == GENERATED:
            self.text: Sequences | GeneratedSequences = GeneratedSequences(vocabulary, length, split)
        else:
            tokens = Tokens(data, split)
            tokens.fit(vocabulary)
            self.text = Sequences(tokens, length)
        self.samples = self.text.samples
        """Sequences of one epoch."""
        self.identity = f"{self.text.identity}, seed {seed}"
        """Differs where the same position would be another sample: what a checkpoint must agree on with the run that resumes it."""

    def batch(self, first: int, count: int) -> np.ndarray:
        """Samples at the places `first` to `first + count` of the whole training: int32 (count, length + 1), inputs and labels in one."""
        epochs, indices = order(first, count, self.samples, self.seed)
        return np.stack([self.text.row(int(epoch), int(index)) for epoch, index in zip(epochs, indices, strict=True)]).astype(np.int32)


def order(first: int, count: int, samples: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Epoch and sample at each of the places `first` to `first + count` of a whole training: int64 (count,) each.

    Every sample comes once in an epoch, in another order each time. Nothing is kept: place by place by a Feistel network over
    the next power of four, walked on where it leads out of the samples.
    """
    epochs, places = np.divmod(np.arange(first, first + count, dtype=np.int64), samples)
    found = np.empty(count, np.int64)
    for epoch in np.unique(epochs):
        which = epochs == epoch
        found[which] = _shuffled(places[which].astype(np.uint64), samples, seed, int(epoch)).astype(np.int64)
    return epochs, found


def _shuffled(places: np.ndarray, samples: int, seed: int, epoch: int) -> np.ndarray:
    half = np.uint64(max(1, (max(samples - 1, 1).bit_length() + 1) // 2))
    mask = np.uint64((1 << int(half)) - 1)
    keys = np.random.Philox(key=[seed, epoch]).random_raw(ROUNDS)
    todo = np.ones(len(places), bool)
    while todo.any():
        left, right = places[todo] >> half, places[todo] & mask
        for key in keys:
            left, right = right, left ^ (_mixed(right ^ key) & mask)
        places[todo] = (left << half) | right
        todo = places >= np.uint64(samples)
    return places


def _mixed(values: np.ndarray) -> np.ndarray:
    """Each number far from its neighbours': the finaliser of splitmix64 (Steele et al., 2014); products wrap around."""
    values = (values ^ (values >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    values = (values ^ (values >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return values ^ (values >> np.uint64(31))
