"""Samples of the `llama` recipe: sequences of a prepared set, and which of their tokens count in the loss."""

from functools import lru_cache

import numpy as np

import token_data
from llama_options import Options


class Samples:
    """The samples of a training by their place in the whole of it."""

    def __init__(self, options: Options) -> None:
        """Says in the log what is trained on. Raises WrongData."""
        token_data.announce(options.data)
        self.options = options
        self.text = token_data.NextToken(options.data, options.sequence, options.shape.vocabulary, options.seed)
        # Devices of one process ask for the same samples.
        self.row = lru_cache(maxsize=256)(self._row)

    def rows(self, first: int, count: int) -> np.ndarray:
        """int32 (count, sequence + 1)."""
        return np.stack([self.row(first + each) for each in range(count)])

    def _row(self, place: int) -> np.ndarray:
        return self.text.batch(place, 1)[0]


def counted(ids: np.ndarray, answers: tuple[int, int] | None) -> np.ndarray:
    """1 for each label that counts, float32 (rows, sequence): all, or those behind a token that begins an answer up to the one that ends it.

    ids: (rows, sequence + 1); labels are all but the first of each row.
    """
    if answers is None:
        return np.ones((ids.shape[0], ids.shape[1] - 1), np.float32)
    places = np.arange(ids.shape[1])[None]
    begun, ended = (np.maximum.accumulate(np.where(ids == token, places, -1), axis=1)[:, :-1] for token in answers)
    return (begun > ended).astype(np.float32)
