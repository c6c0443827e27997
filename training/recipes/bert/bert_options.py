"""Sizes, options and learning rate of BERT pretraining: what the JAX and the PyTorch script share."""

import argparse
import dataclasses
import math


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

    def fingerprint(self, devices: int, data: str) -> dict[str, object]:
        """What a checkpoint must agree on with the run that resumes it. The number of devices may differ, the batch of all may not.

        `data`: identity of the text; the folder's name means nothing.
        """
        same = ("size", "steps", "sequence", "predictions", "optimizer", "learning_rate", "warmup", "seed", "dropout")
        return {"sequences_per_step": self.batch * self.accumulate * devices, "data": data, **{name: getattr(self, name) for name in same}}


def parse(arguments: list[str], devices: int, data: str) -> Options:
    """Options of a command line for so many devices in all. `data`: the job's data set, or empty."""
    parser = argparse.ArgumentParser(description="BERT pretraining: masked tokens and next sentence")
    parser.add_argument("--size", choices=sorted(SIZES), default="large")
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
    tiny = found.size == "tiny"
    batch, accumulate = found.batch or (8 if tiny else 16), found.accumulate or (2 if tiny else 32)
    sequence = found.sequence or (32 if tiny else 128)
    if sequence > SIZES[found.size].positions:
        parser.error(f"--sequence {sequence}: the model has {SIZES[found.size].positions} positions")
    # 15 % of the tokens are masked (Devlin et al., 3.1); 20 of 128, as in the original's data.
    rate, warmup = paper_rate(batch * accumulate * devices)
    return Options(
        size=found.size,
        batch=batch,
        accumulate=accumulate,
        steps=found.steps or (60 if tiny else 7038),  # 90 % of the original's training at 32,768 sequences is 7,038 steps
        sequence=sequence,
        predictions=math.ceil(0.15 * sequence),
        optimizer=found.optimizer,
        learning_rate=found.learning_rate or (0.03 if tiny else rate),
        warmup=0.1 if tiny else warmup,
        seed=found.seed,
        data=found.data,
        validate_steps=found.validate_steps,
        validation_batches=found.validation_batches,
        checkpoint_steps=found.checkpoint_steps,
        dropout=SIZES[found.size].dropout if found.dropout is None else found.dropout,
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
