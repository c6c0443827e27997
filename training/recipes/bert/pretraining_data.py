"""Samples for BERT pretraining: which one comes when follows from the seed and its place in the whole training, so a resumed run sees what it would have seen.

Text is a set that `trn data prepare` made with sentences, where every sentence begins one sample of an epoch, or generated.
"""

import numpy as np

import token_data

PADDING, CLASS, SEPARATOR, MASK, FIRST_WORD = 0, 1, 2, 3, 4
"""Ids of the special tokens in generated text."""
SPECIAL = ("padding", "class", "separator", "mask")
"""Those of a set, in this order."""


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


class Packed:
    """Text of a set, read as far as it is needed."""

    def __init__(self, folder: str, vocabulary: int, split: str) -> None:
        """Raises token_data.WrongData for a set that is not for this model, or for BERT."""
        tokens = token_data.Tokens(folder, split)
        tokens.fit(vocabulary)
        found = [tokens.special.get(name) for name in SPECIAL]
        if None in found or not all(shard.about["sentences"] for shard in tokens.shards):
            raise token_data.WrongData(
                f"{folder} is not for BERT: it needs a tokenizer with [PAD], [CLS], [SEP] and [MASK], and `sentences`"
            )
        self.special = tuple(int(token) for token in found if token is not None)
        self.shards, self.identity = tokens.shards, f"{tokens.fingerprint} by sentences"
        self.beside = 0 if tokens.special.get("end") is None else 1
        """Tokens at the end of a document that are none of its words."""
        self.ends = np.cumsum([shard.about["sentences"] for shard in tokens.shards])
        self.samples = int(self.ends[-1])

    def _place(self, index: int) -> tuple[token_data.Shard, int, int]:
        """Shard of a sentence, where it begins there, and where its document ends."""
        number = int(np.searchsorted(self.ends, index, side="right"))
        shard = self.shards[number]
        begin = int(shard.sentences[index - (int(self.ends[number - 1]) if number else 0)])
        return shard, begin, self._end(shard, begin)

    def _end(self, shard: token_data.Shard, begin: int) -> int:
        document = int(np.searchsorted(shard.documents, begin, side="right"))
        return max(int(shard.documents[document]) - self.beside, begin + 1)

    def pair(self, index: int, length: int, random: np.random.Generator) -> tuple[np.ndarray, np.ndarray, int]:
        """Text from sentence `index` on, and what follows it or, every second time, text of another document."""
        shard, begin, end = self._place(index)
        # The first part ends with a sentence, near the middle.
        middle = int(np.searchsorted(shard.sentences, begin + length // 2, side="left"))
        cut = min(max(int(shard.sentences[middle]) if middle < len(shard.sentences) else end, begin + 1), begin + length - 1, end)
        first, other = shard.tokens[begin:cut], int(random.integers(2))
        if cut >= end:
            other = 1
        if other:
            # A few draws meet another document, unless there is none.
            here = (shard, end)
            for _ in range(8):
                shard, cut, end = self._place(int(random.integers(self.samples)))
                if (shard, end) != here:
                    break
        return first, shard.tokens[cut : min(cut + length - len(first), end)], other


Text = Generated | Packed


def text_of(data: str, vocabulary: int, split: str = token_data.TRAIN) -> Text:
    """The text of a set's folder, or of `generated`."""
    return Generated(vocabulary) if data == token_data.GENERATED else Packed(data, vocabulary, split)


def batch(
    text: Text, first: int, count: int, sequence: int, predictions: int, vocabulary: int, seed: int, stream: int = 1
) -> dict[str, np.ndarray]:
    """Samples `first` to `first + count` of the whole training. `stream`: another one masks, and makes up, something else.

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
    for row, (epoch, index) in enumerate(zip(*map(np.ndarray.tolist, token_data.order(first, count, text.samples, seed)), strict=True)):
        random = np.random.Generator(np.random.Philox(key=[seed, epoch], counter=[0, 0, stream, index]))
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
