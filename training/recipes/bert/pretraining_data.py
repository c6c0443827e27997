"""Samples for BERT pretraining: sample i of epoch e is a function of the seed, e and i, so a resumed run sees what it would have seen.

Text is either generated, or read from a folder with tokenised text that `trn data` prepares:

    tokens.npy     token ids, uint16 or int32, all sentences one after the other
    sentences.npy  int64, where each sentence begins in tokens.npy, and at the end the number of tokens
    documents.npy  int64, the first sentence of each document, and at the end the number of sentences
"""

import hashlib
from pathlib import Path

import numpy as np

PADDING, CLASS, SEPARATOR, MASK, FIRST_WORD = 0, 1, 2, 3, 4
"""Ids of the special tokens in generated text. Those of tokenised text are in its `special.npy`, in this order."""


class Generated:
    """Text that is made up. As in real text some words are far more frequent than others, so that the loss falls from the start.

    A second half that does not follow the first has frequent words of its own.
    """

    special = (PADDING, CLASS, SEPARATOR, MASK)

    def __init__(self, vocabulary: int, samples: int = 4096) -> None:
        self.words, self.samples = vocabulary - FIRST_WORD, samples
        self.identity = f"generated, {samples} samples of {vocabulary} words"

    def pair(self, _index: int, length: int, random: np.random.Generator) -> tuple[np.ndarray, np.ndarray, int]:
        """Two sentences of together `length` tokens, and 1 where the second does not follow the first."""
        # The fourth power of an even number between 0 and 1: half of the words are among the first 6 %.
        words = (self.words * random.random(length) ** 4).astype(np.int32)
        other, middle = int(random.integers(2)), length // 2
        second = self.words - 1 - words[middle:] if other else words[middle:]
        return FIRST_WORD + words[:middle], FIRST_WORD + second, other


class Tokenised:
    """Text from a folder, read as far as it is needed."""

    def __init__(self, folder: str) -> None:
        def load(name: str) -> np.ndarray:
            return np.load(Path(folder, name), mmap_mode="r")

        self.tokens, self.sentences, self.documents = load("tokens.npy"), load("sentences.npy"), load("documents.npy")
        self.special = tuple(int(token) for token in load("special.npy"))
        self.samples = len(self.sentences) - 1
        # Lengths, and the ids at both ends: another text differs in one of them, and a copy of the folder in none.
        ends = [np.asarray(self.tokens[:4096]), np.asarray(self.tokens[-4096:]), np.asarray(self.special)]
        digest = hashlib.sha256(b"".join(array.astype(np.int64).tobytes() for array in ends)).hexdigest()[:16]
        self.identity = f"{len(self.tokens)} tokens, {self.samples} sentences, {len(self.documents) - 1} documents, {digest}"

    def pair(self, index: int, length: int, random: np.random.Generator) -> tuple[np.ndarray, np.ndarray, int]:
        """Text from sentence `index` on, and what follows it or, every second time, text of another document."""
        document = int(np.searchsorted(self.documents, index, side="right")) - 1
        end = int(self.sentences[self.documents[document + 1]])
        begin = int(self.sentences[index])
        # The first part ends with a sentence, near the middle.
        middle = int(np.searchsorted(self.sentences, begin + length // 2, side="left"))
        cut = min(max(int(self.sentences[min(middle, len(self.sentences) - 1)]), begin + 1), begin + length - 1, end)
        first, other = self.tokens[begin:cut], int(random.integers(2))
        if cut >= end:
            other = 1
        if other:
            cut = int(self.sentences[random.integers(self.samples)])
            end = len(self.tokens)
        return first, self.tokens[cut : min(cut + length - len(first), end)], other


def position(sample: int, samples: int, seed: int) -> tuple[int, int]:
    """Epoch, and which of the samples comes as the `sample`-th of the whole training: each once in an epoch, in another order each time."""
    epoch, place = divmod(sample, samples)
    random = np.random.Generator(np.random.Philox(key=[seed, epoch]))
    factor, shift = int(random.integers(samples)) | 1, int(random.integers(samples))
    while np.gcd(factor, samples) != 1:
        factor += 2
    return epoch, (factor * place + shift) % samples


def batch(
    text: Generated | Tokenised, first: int, count: int, sequence: int, predictions: int, vocabulary: int, seed: int
) -> dict[str, np.ndarray]:
    """Samples `first` to `first + count` of the whole training.

    ids, types, mask: int32 and float32 (count, sequence); positions, labels, weights: (count, predictions); next: int32 (count,).
    """
    made = {
        "ids": np.full((count, sequence), text.special[0], np.int32),
        "types": np.zeros((count, sequence), np.int32),
        "mask": np.zeros((count, sequence), np.float32),
        "positions": np.zeros((count, predictions), np.int32),
        "labels": np.zeros((count, predictions), np.int32),
        "weights": np.zeros((count, predictions), np.float32),
        "next": np.zeros((count,), np.int32),
    }
    for row in range(count):
        epoch, index = position(first + row, text.samples, seed)
        random = np.random.Generator(np.random.Philox(key=[seed, epoch], counter=[0, 0, 1, index]))
        _fill(made, row, text.pair(index, sequence - 3, random), text.special, predictions, vocabulary, random)
    return made


def _fill(
    made: dict[str, np.ndarray],
    row: int,
    pair: tuple[np.ndarray, np.ndarray, int],
    special: tuple[int, ...],
    predictions: int,
    vocabulary: int,
    random: np.random.Generator,
) -> None:
    """Writes one sample: [CLS] first [SEP] second [SEP], masked as in Devlin et al., 3.1."""
    _, begin, separator, masked = special
    first, second, other = pair
    ids = np.concatenate([[begin], first, [separator], second, [separator]]).astype(np.int32)
    words = np.concatenate([np.arange(len(first)) + 1, np.arange(len(second)) + len(first) + 2])
    count = min(predictions, max(1, round(0.15 * len(ids))))
    chosen = np.sort(random.permutation(words)[:count])
    made["positions"][row, : len(chosen)] = chosen
    made["labels"][row, : len(chosen)] = ids[chosen]
    made["weights"][row, : len(chosen)] = 1.0
    # 80 % become [MASK], 10 % any token, 10 % stay.
    fate = random.random(len(chosen))
    ids[chosen[fate < 0.8]] = masked
    changed = chosen[(fate >= 0.8) & (fate < 0.9)]
    ids[changed] = random.integers(vocabulary, size=len(changed))
    made["ids"][row, : len(ids)] = ids
    made["types"][row, len(first) + 2 : len(ids)] = 1
    made["mask"][row, : len(ids)] = 1.0
    made["next"][row] = other
