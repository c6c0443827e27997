"""Sizes, options and learning rate of BERT pretraining: what the JAX and the PyTorch script share."""

import argparse
import dataclasses
import math
import sys
from pathlib import Path

import transformer_flops


@dataclasses.dataclass(frozen=True)
class Size:
    """One model. Source of `base` and `large`: Devlin et al., BERT, 2018, section 3 (arXiv:1810.04805)."""

    layers: int
    hidden: int
    heads: int
    intermediate: int
    vocabulary: int
    positions: int
    dropout: float = 0.1


SIZES = {
    "large": Size(layers=24, hidden=1024, heads=16, intermediate=4096, vocabulary=30522, positions=512),
    "base": Size(layers=12, hidden=768, heads=12, intermediate=3072, vocabulary=30522, positions=512),
    # Trains on two processor cores in seconds; good for nothing but to see that training works.
    "tiny": Size(layers=2, hidden=64, heads=2, intermediate=128, vocabulary=512, positions=64),
}
LAMB_BATCH = 32_768
LAMB_RATE = 5e-3
"""Learning rate at a batch of 32,768 sequences of 128 tokens, and the batch (You et al., LAMB, 2019, arXiv:1904.00962)."""


@dataclasses.dataclass(frozen=True)
class Options:
    """One training."""

    size: str
    batch: int
    """Sequences for each device and micro batch."""
    accumulate: int
    """Micro batches of one step."""
    steps: int
    sequence: int
    """Tokens of one sequence."""
    predictions: int
    """Masked tokens of one sequence, at most: a fixed number, since each shape is compiled once."""
    optimizer: str
    learning_rate: float
    warmup: float
    """Share of the steps in which the learning rate rises."""
    seed: int
    phase: int
    """1: sequences of 128 tokens from new weights. 2: of 512, from the weights of the first (Devlin et al., 2018, A.2)."""
    first: str
    """Folder with the checkpoints of phase 1, whose newest weights phase 2 begins with; empty in phase 1."""
    data: str
    """Folder of a set that `trn data prepare` made, or `generated`."""
    validate_steps: int
    """Steps from one look at the validation split to the next; 0 for none."""
    validation_batches: int
    """Micro batches of a look, the same ones each time."""
    checkpoint_steps: int
    """Steps from one checkpoint to the next, beside the interval of the job file; 0 leaves it to that."""

    dropout: float
    """Share of values that are left out."""

    @property
    def model(self) -> Size:
        """The model's dimensions."""
        return dataclasses.replace(SIZES[self.size], dropout=self.dropout)

    def fingerprint(self, devices: int, text: object) -> dict[str, object]:
        """What a checkpoint must agree on with the run that resumes it. The number of devices may differ, the batch of all may not.

        `text`: what the data are, wherever they lie.
        """
        same = ("size", "phase", "steps", "sequence", "predictions", "optimizer", "learning_rate", "warmup", "seed", "dropout")
        return {"sequences_per_step": self.batch * self.accumulate * devices, "text": text, **{name: getattr(self, name) for name in same}}


def parse(arguments: list[str], devices: int, data: str) -> Options:
    """Options of a command line for so many devices in all. `data`: the job's data set, or empty."""
    parser = argparse.ArgumentParser(description="BERT pretraining: masked tokens and next sentence")
    parser.add_argument("--size", choices=sorted(SIZES), default="large")
    parser.add_argument("--phase", type=int, choices=[1, 2], default=1, help="2: 512 tokens, from the weights of --from")
    parser.add_argument("--from", dest="first", default="", metavar="FOLDER", help="checkpoints of phase 1")
    parser.add_argument("--batch", type=int, help="sequences for each device and micro batch")
    parser.add_argument("--accumulate", type=int, help="micro batches of one step")
    parser.add_argument("--steps", type=int, help="steps of the whole training, all its starts together")
    parser.add_argument("--sequence", type=int, help="tokens of one sequence")
    parser.add_argument("--optimizer", choices=["lamb", "adamw"], default="lamb", help="LAMB keeps batches of 32,768 sequences stable")
    parser.add_argument("--learning-rate", type=float, help="without it, that of the LAMB paper for the batch")
    parser.add_argument("--dropout", type=float)
    parser.add_argument("--seed", type=int, default=20181011)
    parser.add_argument("--data", default=data, help="folder that `trn data prepare` made; `generated` makes text up")
    parser.add_argument(
        "--validate-steps", type=int, default=200, help="steps from one look at the validation split to the next; 0 for none"
    )
    parser.add_argument("--validation-batches", type=int, default=8, help="micro batches of a look")
    parser.add_argument("--checkpoint-steps", type=int, default=0)
    found = parser.parse_args(arguments)
    tiny, second = found.size == "tiny", found.phase == 2
    if second != bool(found.first):
        parser.error("--phase 2 goes on from the weights of phase 1: --phase 2 --from FOLDER")
    # Four times as long, a sequence needs four times the memory and more: fewer in one micro batch, and as many in a step.
    usual = (2, 256) if second else (16, 32)
    batch, accumulate = found.batch or (8 if tiny else usual[0]), found.accumulate or (2 if tiny else usual[1])
    sequence = found.sequence or ((64 if second else 32) if tiny else (512 if second else 128))
    if sequence > SIZES[found.size].positions:
        parser.error(f"--sequence {sequence}: the model has {SIZES[found.size].positions} positions")
    # 15 % of the tokens are masked (Devlin et al., 3.1); 20 of 128, as in the original's data.
    rate, warmup = paper_rate(batch * accumulate * devices)
    return Options(
        size=found.size,
        batch=batch,
        accumulate=accumulate,
        # 90 % of the original's training at 32,768 sequences is 7,038 steps, and the last 10 % at 512 tokens 782.
        steps=found.steps or (60 if tiny else 782 if second else 7038),
        sequence=sequence,
        predictions=math.ceil(0.15 * sequence),
        optimizer=found.optimizer,
        learning_rate=found.learning_rate or (0.03 if tiny else rate),
        warmup=0.1 if tiny else warmup,
        seed=found.seed,
        phase=found.phase,
        first=found.first,
        data=found.data,
        validate_steps=found.validate_steps,
        validation_batches=found.validation_batches,
        checkpoint_steps=found.checkpoint_steps,
        dropout=SIZES[found.size].dropout if found.dropout is None else found.dropout,
    )


def first_checkpoint(options: Options, found: tuple[int, Path] | None) -> Path:
    """The checkpoint whose weights phase 2 begins with; leaves with a sentence where phase 1 left none."""
    if found is None:
        sys.exit(f"--from {options.first} has no checkpoint of phase 1")
    return found[1]


def flops_of_sequence(options: Options, parameters: int) -> int:
    """Operations of one sequence: tables are looked up, the output is computed for the masked tokens alone, and the pooler for one, which is left out."""
    size = options.model
    tables = (size.vocabulary + size.positions + 2 + size.hidden) * size.hidden
    output = size.vocabulary * size.hidden + size.hidden * size.hidden
    # The decoder's weights are those of the token table: they are looked up for every token, and multiplied with some.
    counted = parameters + size.vocabulary * size.hidden
    return transformer_flops.of_sequence(
        counted, size.layers, size.hidden, options.sequence, looked_up=tables, for_some=output, some=options.predictions
    )


def paper_rate(sequences_per_step: int) -> tuple[float, float]:
    """Learning rate and share of warm-up steps for a batch: the rate grows with its square root, warm-up with the batch."""
    share = sequences_per_step / LAMB_BATCH
    return LAMB_RATE * math.sqrt(share), min(0.2 * share, 0.2)


def learning_rate(options: Options, step: int) -> float:
    """Of one step, the first being 1: it rises in a line, then falls in a line to zero."""
    rising = max(round(options.warmup * options.steps), 1)
    if step <= rising:
        return options.learning_rate * step / rising
    return options.learning_rate * max(options.steps - step, 0) / max(options.steps - rising, 1)
