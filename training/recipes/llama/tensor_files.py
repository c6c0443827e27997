"""Tensors in files of the safetensors form: eight bytes with the length of a header, the header in JSON, and the values.

A checkpoint is a folder of such files, written by all processes at once: each tensor in pieces, named `PATH@FIRST:LAST,...`, as the devices
had them. A folder of Hugging Face's is read the same way: a tensor without `@` is a piece that is the whole. Any part of a tensor is
put together from the pieces that it meets, so a checkpoint goes on under another mesh. NumPy only (huggingface/safetensors, README, format).
"""

import json
import math
import struct
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import NamedTuple

import numpy as np

Slices = tuple[tuple[int, int], ...]
TYPES = {"F32": np.dtype("<f4"), "F16": np.dtype("<f2"), "BF16": np.dtype("<u2")}
"""Types of the form that are read, and how NumPy has them; bfloat16 as its bits."""
ALIGNMENT, PART = 8, 2**24
"""Of a header's length in bytes, and values that are written at a time."""


class TensorFileError(Exception):
    """A folder has not what is asked of it; says what."""


class Piece(NamedTuple):
    """A part of a tensor in a file."""

    file: Path
    begin: int
    kind: str
    slices: Slices


def write(path: Path, tensors: Iterable[tuple[str, np.ndarray]], about: Mapping[str, str]) -> None:
    """Writes one file of float32 arrays."""
    arrays = dict(tensors)
    _write(path, {name: array.shape for name, array in arrays.items()}, arrays.__getitem__, about, "F32")


def write_halved(path: Path, shapes: Mapping[str, tuple[int, ...]], values: Callable[[str], np.ndarray]) -> None:
    """Writes one file of bfloat16, rounded to the nearest. `values` gives the float32 of a name when it is its turn: one is in memory at a time."""
    _write(path, shapes, values, {}, "BF16")


def _write(
    path: Path, shapes: Mapping[str, tuple[int, ...]], values: Callable[[str], np.ndarray], about: Mapping[str, str], kind: str
) -> None:
    # Hugging Face's libraries ask which framework wrote a file.
    header, end = dict[str, object](__metadata__={"format": "pt", **about}), 0
    for name, shape in shapes.items():
        begin, end = end, end + math.prod(shape) * TYPES[kind].itemsize
        header[name] = {"dtype": kind, "shape": shape, "data_offsets": [begin, end]}
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % ALIGNMENT)
    with path.open("wb") as file:
        file.write(struct.pack("<Q", len(text)) + text)
        for name in shapes:
            array = np.ascontiguousarray(values(name), np.float32).reshape(-1)
            for first in range(0, array.size, PART):
                part = array[first : first + PART]
                file.write((_halved(part) if kind == "BF16" else part).tobytes())


def piece_name(path: str, slices: Slices) -> str:
    """Name of a piece in a file."""
    return f"{path}@{','.join(f'{first}:{last}' for first, last in slices)}"


class Tensors:
    """All tensors of a folder, read as far as they are asked for."""

    def __init__(self, folder: str | Path) -> None:
        """Reads the headers. Raises TensorFileError for a folder without such files, or with one that is cut off."""
        self.folder, self.pieces, self.about = Path(folder), dict[str, list[Piece]](), dict[str, str]()
        for file in sorted(self.folder.glob("*.safetensors")):
            self._read_header(file)
        if not self.pieces:
            raise TensorFileError(f"{folder} has no .safetensors files")

    def _read_header(self, file: Path) -> None:
        size = file.stat().st_size
        with file.open("rb") as opened:
            (length,) = struct.unpack("<Q", opened.read(8).ljust(8, b"\xff"))
            if length + 8 > size:
                raise TensorFileError(f"{file} is cut off, or no safetensors file")
            try:
                header = json.loads(opened.read(length))
                self.about.update(header.pop("__metadata__", {}))
                for name, said in header.items():
                    path, _, where = name.partition("@")
                    slices = tuple((0, length) for length in said["shape"])
                    if where:
                        slices = tuple((int(first), int(last)) for first, last in (each.split(":") for each in where.split(",")))
                    begin, end = said["data_offsets"]
                    if 8 + length + end > size:
                        raise TensorFileError(f"{file} is cut off: {name} ends behind it")
                    self.pieces.setdefault(path, []).append(Piece(file, 8 + length + begin, said["dtype"], slices))
            except (ValueError, KeyError, TypeError, AttributeError) as error:
                raise TensorFileError(f"{file} is no safetensors file: {error}") from error

    def shape(self, path: str) -> tuple[int, ...]:
        """Of a whole tensor."""
        return tuple(max(last for _, last in axis) for axis in zip(*(piece.slices for piece in self._of(path)), strict=True))

    def read(self, path: str, slices: Slices) -> np.ndarray:
        """A part of a tensor, float32. Raises TensorFileError where a tensor or a part of it is not there."""
        lengths = [last - first for first, last in slices]
        found, filled, wanted = np.empty(lengths, np.float32), 0, int(np.prod(lengths, dtype=np.int64))
        for piece in self._of(path):
            common = [(max(a, c), min(b, d)) for (a, b), (c, d) in zip(slices, piece.slices, strict=True)]
            if any(first >= last for first, last in common):
                continue
            within = np.memmap(piece.file, TYPES[piece.kind], "r", piece.begin, tuple(last - first for first, last in piece.slices))
            part = within[tuple(slice(first - start, last - start) for (first, last), (start, _) in zip(common, piece.slices, strict=True))]
            here = tuple(slice(first - start, last - start) for (first, last), (start, _) in zip(common, slices, strict=True))
            found[here] = _widened(part) if piece.kind == "BF16" else part
            filled += part.size
            if filled == wanted:
                return found
        if wanted:
            raise TensorFileError(f"{self.folder} has not all of {path}: {filled} of {wanted} values of {slices}")
        return found

    def _of(self, path: str) -> list[Piece]:
        if path not in self.pieces:
            raise TensorFileError(f"{self.folder} has no tensor {path}")
        pieces = self.pieces[path]
        if unknown := sorted({piece.kind for piece in pieces} - set(TYPES)):
            raise TensorFileError(f"{self.folder}: {path} is of type {', '.join(unknown)}; {', '.join(TYPES)} are read")
        return pieces


def _halved(array: np.ndarray) -> np.ndarray:
    """Bits of the nearest bfloat16, of two equally near ones the even; NaN stays one."""
    bits = array.view(np.uint32)
    rounded = (bits + np.uint32(0x7FFF) + ((bits >> np.uint32(16)) & np.uint32(1))) >> np.uint32(16)
    return np.where(np.isnan(array), np.uint32(0x7FC0), rounded).astype(np.uint16)


def _widened(bits: np.ndarray) -> np.ndarray:
    return (bits.astype(np.uint32) << np.uint32(16)).view(np.float32)
