"""Shapes and options of the `llama` recipe: what the JAX and the PyTorch script share, and what `trn submit` computes memory from.

Standard library only: the command line reads it as well, in an environment without any framework.
"""

import argparse
import dataclasses
import json
import math
from collections.abc import Iterator, Mapping
from typing import NoReturn


@dataclasses.dataclass(frozen=True)
class Scaling:
    """Rotary frequencies below a wavelength are stretched for longer texts (Llama 3.1; `rope_scaling` of its config.json)."""

    factor: float
    low: float = 1.0
    high: float = 4.0
    original: int = 8192


@dataclasses.dataclass(frozen=True)
class Shape:
    """One model."""

    layers: int
    hidden: int
    heads: int
    groups: int
    """Heads of keys and values."""
    head: int
    """Width of one head."""
    intermediate: int
    vocabulary: int
    base: float
    """Of the rotary frequencies."""
    scaling: Scaling | None = None
    tied: bool = False
    """Whether the output's weights are those of the token embedding."""
    head_norms: bool = False
    """Whether queries and keys are normalised by head, as in Qwen3."""
    epsilon: float = 1e-5

    @property
    def block_parameters(self) -> int:
        """Of one layer."""
        attention = self.hidden * self.head * (2 * self.heads + 2 * self.groups)
        return attention + 3 * self.hidden * self.intermediate + 2 * self.hidden + (2 * self.head if self.head_norms else 0)

    @property
    def parameters(self) -> int:
        """Of the whole model."""
        return self.layers * self.block_parameters + (1 if self.tied else 2) * self.vocabulary * self.hidden + self.hidden


def _llama(layers: int, hidden: int, heads: int, intermediate: int, factor: float | None, head: int = 128, *, tied: bool = False) -> Shape:
    return Shape(layers, hidden, heads, 8, head, intermediate, 128_256, 500_000.0, Scaling(factor) if factor else None, tied)


def _qwen(layers: int, hidden: int, heads: int, intermediate: int, *, tied: bool = False) -> Shape:
    return Shape(layers, hidden, heads, 8, 128, intermediate, 151_936, 1_000_000.0, None, tied, head_norms=True, epsilon=1e-6)


SHAPES: Mapping[str, Shape] = {
    # Ours: the form of Llama 3 with a small vocabulary, for a first run of an hour.
    "llama3-0.1b": Shape(12, 768, 12, 4, 64, 2048, 32_000, 500_000.0, tied=True),
    "llama3-8b": _llama(32, 4096, 32, 14_336, None),
    "llama3-70b": _llama(80, 8192, 64, 28_672, None),
    "llama3.2-1b": _llama(16, 2048, 32, 8192, 32.0, head=64, tied=True),
    "llama3.2-3b": _llama(28, 3072, 24, 8192, 32.0, tied=True),
    "llama3.1-8b": _llama(32, 4096, 32, 14_336, 8.0),
    "llama3.1-70b": _llama(80, 8192, 64, 28_672, 8.0),
    "qwen3-0.6b": _qwen(28, 1024, 16, 3072, tied=True),
    "qwen3-1.7b": _qwen(28, 2048, 16, 6144, tied=True),
    "qwen3-4b": _qwen(36, 2560, 32, 9728, tied=True),
    "qwen3-8b": _qwen(36, 4096, 32, 12_288),
    "qwen3-14b": _qwen(40, 5120, 40, 17_408),
    "qwen3-32b": _qwen(64, 5120, 64, 25_600),
    # Train on two processor cores in seconds; good for nothing but to see that training works.
    "tiny": Shape(2, 64, 4, 2, 16, 128, 512, 500_000.0, Scaling(8.0, original=16)),
    "tiny-qwen": Shape(2, 64, 4, 2, 32, 128, 512, 1_000_000.0, tied=True, head_norms=True, epsilon=1e-6),
}
"""By name. Source: config.json of meta-llama and Qwen on the Hugging Face Hub; The Llama 3 Herd of Models, 2024, table 3 (arXiv:2407.21783);
Qwen3 Technical Report, 2025, table 1 (arXiv:2505.09388)."""


@dataclasses.dataclass(frozen=True)
class Mesh:
    """How the devices of a job share one model: `parallel` of the job file. devices = data x fsdp x tensor."""

    tensor: int
    """Devices that share each layer's products, and the positions between them; neighbours."""
    fsdp: int
    """Devices that share parameters, gradients and optimizer, and gather a layer when they come to it."""
    data: int = 1
    """Copies of all that."""

    @property
    def readers(self) -> int:
        """Groups of devices with samples of their own."""
        return self.data * self.fsdp

    @property
    def shards(self) -> int:
        """Parts of each parameter."""
        return self.fsdp * self.tensor


@dataclasses.dataclass(frozen=True)
class Options:
    """One training."""

    size: str
    batch: int
    """Sequences of one step, of all devices together."""
    micro: int
    """Sequences that a group of devices has at a time."""
    sequence: int
    steps: int
    learning_rate: float
    warmup: int
    """Steps in which the learning rate rises."""
    decay: float
    """Of weights with two axes."""
    clip: float
    """Largest norm of all gradients together."""
    chunk: int
    """Positions whose logits exist at a time."""
    precision: str
    """Of products and gathered weights; master weights, sums and optimizer are float32."""
    checkpoint_activations: bool
    lora: int
    """Rank of the low-rank changes that are trained in place of the weights; 0 trains the weights."""
    answers: tuple[int, int] | None
    """Tokens that begin and end an answer: only answers count in the loss (supervised fine-tuning). None counts everything."""
    seed: int
    data: str
    """Folder of a prepared data set, or `generated`."""
    weights: str
    """Folder of weights to begin with; empty for random ones."""
    checkpoint_steps: int
    unroll: int
    """Layers written out in one turn of the loop over them (JAX)."""

    @property
    def shape(self) -> Shape:
        """The model's dimensions."""
        return SHAPES[self.size]

    @property
    def fingerprint(self) -> dict[str, object]:
        """What a checkpoint must agree on with the run that resumes it. The mesh may be another one."""
        free = {"micro", "chunk", "checkpoint_activations", "checkpoint_steps", "unroll", "data"} | (set() if self.lora else {"weights"})
        return {name: value for name, value in dataclasses.asdict(self).items() if name not in free}

    def accumulate(self, mesh: Mesh) -> int:
        """Micro batches of one step."""
        return self.batch // (self.micro * mesh.readers)


LORA_SCALE = 2.0
"""What low-rank changes are multiplied with: alpha / rank with alpha = 2 x rank (Hu et al., LoRA, 2021, arXiv:2106.09685, section 4.1)."""


class OptionError(ValueError):
    """A word of the command line that cannot be."""


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        raise OptionError(message)


def parse(arguments: list[str], data: str = "") -> Options:
    """Options of a command line. `data`: the job's data set. Raises OptionError."""
    parser = _Parser(prog="train.py", description="Llama 3 and Qwen3: pretraining, supervised fine-tuning, LoRA", allow_abbrev=False)
    parser.add_argument("--size", choices=SHAPES, default="llama3.1-8b")
    parser.add_argument("--batch", type=_count, default=128, help="sequences of one step, of all devices together")
    parser.add_argument("--micro", type=_count, default=1, help="sequences that a group of devices has at a time")
    parser.add_argument("--sequence", type=_count, default=4096, help="tokens of one sequence")
    parser.add_argument("--steps", type=_count, default=1000, help="steps of the whole training, all its starts together")
    parser.add_argument("--learning-rate", type=float, default=3e-4, help="the highest one")
    parser.add_argument("--warmup", type=int, help="steps in which it rises; without it, a fiftieth of all")
    parser.add_argument("--decay", type=float, default=0.1, help="weight decay")
    parser.add_argument("--clip", type=float, default=1.0, help="largest norm of the gradients")
    parser.add_argument("--chunk", type=_count, default=1024, help="positions whose logits exist at a time")
    parser.add_argument("--precision", choices=["bfloat16", "float32"], default="bfloat16", help="of products and gathered weights")
    parser.add_argument("--keep-activations", action="store_true", help="do not compute them again on the way back: faster, if they fit")
    parser.add_argument("--lora", type=int, default=0, metavar="RANK", help="train low-rank changes of this rank; the weights stay")
    parser.add_argument(
        "--answers", type=_pair, metavar="BEGIN,END", help="ids of the tokens that begin and end an answer: only answers count"
    )
    parser.add_argument("--seed", type=int, default=20240731)
    parser.add_argument("--data", default=data, help="folder that `trn data prepare` made; `generated` makes text up")
    parser.add_argument("--weights", default="", help="folder of weights to begin with, as `trn data import-weights` makes it")
    parser.add_argument("--checkpoint-steps", type=int, default=0, help="beside the interval of the job file")
    parser.add_argument("--unroll", type=_count, default=1, help="layers written out in one turn of the loop over them (JAX)")
    found = vars(parser.parse_args(arguments))
    found["checkpoint_activations"] = not found.pop("keep_activations")
    if found["warmup"] is None:
        found["warmup"] = max(found["steps"] // 50, 1)
    return Options(**found)


def _count(text: str) -> int:
    value = int(text)
    if value < 1:
        raise ValueError
    return value


def _pair(text: str) -> tuple[int, int]:
    begin, end = (int(each) for each in text.split(","))
    return begin, end


def mesh(devices: int, environment: Mapping[str, str]) -> Mesh:
    """The mesh of a job with so many devices, from `TRN_PARALLEL`; without it all devices share one copy. Raises OptionError."""
    asked = json.loads(environment.get("TRN_PARALLEL") or "{}")
    tensor = asked.get("tensor", 1)
    fsdp = asked.get("fsdp") or max(devices // tensor, 1)
    if devices % (tensor * fsdp):
        raise OptionError(f"tensor {tensor} x fsdp {fsdp} does not divide {devices} devices")
    return Mesh(tensor, fsdp, devices // (tensor * fsdp))


def conflicts(options: Options, mesh: Mesh) -> Iterator[str]:
    """Why a model cannot be trained on a mesh; nothing where it can."""
    shape = options.shape
    for name, value in (("heads of keys and values", shape.groups), ("tokens of a sequence", options.sequence)):
        if value % mesh.tensor:
            yield f"tensor {mesh.tensor} does not divide the {value} {name}"
    for name, value in (("the hidden width", shape.hidden), ("the feed-forward width", shape.intermediate)):
        if value % mesh.shards:
            yield f"tensor {mesh.tensor} x fsdp {mesh.fsdp} does not divide {name} {value}"
    if shape.vocabulary % mesh.tensor:
        yield f"tensor {mesh.tensor} does not divide the vocabulary {shape.vocabulary}"
    if options.batch % (options.micro * mesh.readers):
        yield (
            f"a batch of {options.batch} sequences is no multiple of micro {options.micro} x {mesh.readers} groups"
            f" (data {mesh.data} x fsdp {mesh.fsdp})"
        )


def learning_rate(options: Options, step: int) -> float:
    """Of one step, the first being 1: it rises in a line, then falls along a cosine to a tenth (The Llama 3 Herd of Models, section 3.4)."""
    if step <= options.warmup:
        return options.learning_rate * step / options.warmup
    done = (step - options.warmup) / max(options.steps - options.warmup, 1)
    return options.learning_rate * (0.1 + 0.45 * (1 + math.cos(math.pi * done)))
