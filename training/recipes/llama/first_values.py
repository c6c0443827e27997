"""What every process of the `llama` recipe computes by itself, the same on each: a part of a tensor before training, and rotary frequencies. NumPy only."""

import dataclasses
import zlib

import numpy as np

from llama_options import Shape
from llama_weights import Slices, Weight


def first_values(path: str, weight: Weight, slices: Slices, seed: int) -> np.ndarray:
    """A part of a tensor before training, float32.

    Each value follows from the seed, the tensor's path and the value's place in the whole tensor, by whole numbers alone: any division
    over devices has the same values to the bit, on any machine. The sum of eight even 16-bit numbers is near a normal distribution
    (Irwin-Hall), cut at 4.9 deviations.
    """
    lengths = [last - first for first, last in slices]
    if weight.zero or not weight.deviation:
        return np.full(lengths, 0.0 if weight.zero else 1.0, np.float32)
    place = np.zeros(lengths, np.uint64)
    for axis, (first, last) in enumerate(slices):
        along = np.arange(first, last, dtype=np.uint64) * np.uint64(np.prod(weight.shape[axis + 1 :], dtype=np.int64))
        place += along.reshape([-1 if each == axis else 1 for each in range(len(slices))])
    start = np.uint64((zlib.crc32(path.encode()) << 32) ^ (seed * 0x9E3779B97F4A7C15 & (2**64 - 1)))
    total = np.zeros(lengths, np.int32)
    for draw in (1, 2):
        number = _mixed((place << np.uint64(1)) + np.uint64(draw) ^ _mixed(np.atleast_1d(start)))
        for shift in (0, 16, 32, 48):
            total += ((number >> np.uint64(shift)) & np.uint64(0xFFFF)).astype(np.int32)
    # Mean 8 x 65535 / 2, variance 8 x (65536^2 - 1) / 12.
    return (total - np.int32(4 * 65535)).astype(np.float32) * np.float32(weight.deviation / (8 * (65536**2 - 1) / 12) ** 0.5)


def _mixed(values: np.ndarray) -> np.ndarray:
    """Each number far from its neighbours': the finaliser of splitmix64 (Steele et al., 2014); products wrap around."""
    values = (values ^ (values >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    values = (values ^ (values >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return values ^ (values >> np.uint64(31))


def frequencies(shape: Shape) -> np.ndarray:
    """Rotary frequencies, float32 (head / 2,). Scaled ones as in Llama 3.1: long waves are stretched, those between mixed."""
    found = 1.0 / np.float32(shape.base) ** (np.arange(0, shape.head, 2, dtype=np.float32) / np.float32(shape.head))
    if shape.scaling is None:
        return found.astype(np.float32)
    factor, low, high, original = dataclasses.astuple(shape.scaling)
    waves = 2 * np.pi / found
    share = np.clip((original / waves - low) / (high - low), 0.0, 1.0)
    return ((1 - share) * found / factor + share * found).astype(np.float32)
