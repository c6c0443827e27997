"""Looks at text that is kept from training: the same samples each time, and the perplexity of their masked tokens. NumPy only."""

import math
from collections.abc import Iterator

import numpy as np

import pretraining_data
import progress_lines
import token_data
from bert_options import Options

STREAM = 2
"""What masks these samples, and makes up generated ones."""


class Validation:
    """The samples of one process's devices."""

    def __init__(self, options: Options, devices: int, first: int, own: int) -> None:
        """`devices` in all; `own` of them from `first` on are this process's."""
        self.options, self.devices, self.first, self.own = options, devices, first, own
        is_there = options.data == token_data.GENERATED or token_data.has(options.data, token_data.VALIDATION)
        wanted = options.validate_steps > 0 and is_there
        self.text = pretraining_data.text_of(options.data, options.model.vocabulary, token_data.VALIDATION) if wanted else None

    def is_due(self, step: int) -> bool:
        """Whether to look after this step: every so many, and after the last."""
        return self.text is not None and (step % self.options.validate_steps == 0 or step == self.options.steps)

    def batches(self) -> Iterator[dict[str, np.ndarray]]:
        """This process's part of each micro batch."""
        assert self.text is not None
        options, size = self.options, self.options.batch
        for number in range(options.validation_batches):
            first = (number * self.devices + self.first) * size
            yield pretraining_data.batch(
                self.text, first, self.own * size, options.sequence, options.predictions, options.model.vocabulary, options.seed, STREAM
            )

    def tell(self, step: int, loss: float) -> None:
        """Writes what a look found: mean loss of the masked tokens over all devices and batches."""
        perplexity = math.exp(min(loss, 700.0))
        progress_lines.event("measured", step=step, split=token_data.VALIDATION, loss=loss, perplexity=round(perplexity, 4))
