"""Checkpoints of a shared model: each process writes the parts that its devices hold, and any mesh reads the parts that it needs.

A checkpoint is a folder with one file of each process, in the form of tensor_files.py: weights by their paths, and the optimizer's
moments as `first/PATH` and `second/PATH`. What the training was stands in each file's header. NumPy only; JAX and PyTorch alike.
"""

import json
import sys
import threading
import time
from collections.abc import Iterable, Mapping
from dataclasses import asdict
from pathlib import Path

import numpy as np

import checkpoints
import hugging_face
import progress_lines
import tensor_files
from first_values import first_values
from llama_options import Mesh, Options
from llama_weights import Slices, Weight

Pieces = Iterable[tuple[str, Slices, np.ndarray]]
MOMENTS = ("first", "second")


def write(folder: str, step: int, process: int, pieces: Pieces, fingerprint: Mapping[str, object], mesh: Mesh) -> None:
    """Writes one process's part of a checkpoint, which is whole when all have and one has called `checkpoints.finish`."""
    place = checkpoints.begin(folder, step)
    place.mkdir(parents=True, exist_ok=True)
    about = {"step": str(step), "fingerprint": json.dumps(fingerprint, sort_keys=True), "mesh": json.dumps(asdict(mesh))}
    named = ((tensor_files.piece_name(path, slices), values) for path, slices, values in pieces if values.size)
    tensor_files.write(place / f"process-{process:05}.safetensors", named, about)


class Saver:
    """Writes this process's parts while training goes on, one checkpoint at a time: it is whole when all processes have, and the first one names it."""

    def __init__(self, folder: str, keep: int, process: int, fingerprint: Mapping[str, object], mesh: Mesh) -> None:
        self.folder, self.keep, self.process, self.fingerprint, self.mesh = folder, keep, process, fingerprint, mesh
        self.step: int | None = None
        """What is being written; the same on all processes."""
        self.began = 0.0
        self.error: BaseException | None = None
        self.thread = threading.Thread()

    def begin(self, step: int, pieces: Pieces) -> None:
        """Copies the parts to where no step changes them, and begins to write the copies."""
        self.began, self.step = time.monotonic(), step
        copies = [(path, slices, np.array(values)) for path, slices, values in pieces]
        self.thread = threading.Thread(target=self._write, args=(step, copies))
        self.thread.start()

    def _write(self, step: int, copies: Pieces) -> None:
        try:
            write(self.folder, step, self.process, copies, self.fingerprint, self.mesh)
        except BaseException as error:
            self.error = error

    @property
    def is_writing(self) -> bool:
        """Whether this process's part is not on disk yet; raises what went wrong with it."""
        if self.error is not None:
            raise self.error
        return self.thread.is_alive()

    def wait(self) -> None:
        """Until this process's part is on disk."""
        if self.step is not None:
            self.thread.join()
            assert not self.is_writing

    def finish(self) -> None:
        """Names the checkpoint. All processes call it when all have written."""
        if self.step is not None and self.process == 0:
            checkpoints.finish(self.folder, self.step, self.keep, self.began)
        self.step = None


class Reader:
    """Where a training begins: at its newest checkpoint, with weights of a folder, or with random ones."""

    def __init__(self, options: Options, folder: str, fingerprint: Mapping[str, object], mesh: Mesh) -> None:
        """Leaves with a sentence where the checkpoint is of another training, or a file cannot be read."""
        self.options, self.mesh = options, mesh
        found = checkpoints.newest(folder) if folder else None
        self.step, self.path = found if found is not None else (0, None)
        try:
            self.checkpoint = tensor_files.Tensors(self.path) if self.path is not None else None
            self.weights = tensor_files.Tensors(options.weights) if options.weights else None
        except tensor_files.TensorFileError as error:
            sys.exit(str(error))
        config = Path(options.weights, "config.json")
        if options.weights and config.is_file():
            for conflict in hugging_face.conflicts(options.shape, json.loads(config.read_text())):
                sys.exit(f"{config}: {conflict}: it is no {options.size}; take the --size that it is")
        if self.checkpoint is not None:
            self._compare(json.loads(self.checkpoint.about.get("fingerprint", "{}")), fingerprint)

    def _compare(self, was: Mapping[str, object], fingerprint: Mapping[str, object]) -> None:
        now = json.loads(json.dumps(fingerprint))
        other = [f"{name} was {was.get(name)}, is {now.get(name)}" for name in sorted({*was, *now}) if was.get(name) != now.get(name)]
        if other:
            sys.exit(f"{self.path} is of another training: {'; '.join(other)}; take another folder, or the same options")

    def tell(self) -> None:
        """Says that the training goes on, and on which mesh where it is another one."""
        if self.checkpoint is not None:
            was, now = json.loads(self.checkpoint.about.get("mesh", "{}")), asdict(self.mesh)
            progress_lines.event(
                "resumed", step=self.step, path=str(self.path), **({} if was == now else {"mesh": now, "mesh_before": was})
            )

    def weight(self, path: str, weight: Weight, slices: Slices) -> np.ndarray:
        """A part of a tensor."""
        changed = not self.options.lora or "lora_" in path
        if self.checkpoint is not None and changed:
            return self._read(self.checkpoint, path, weight, slices)
        if self.weights is not None and "lora_" not in path:
            return self._read(self.weights, path, weight, slices)
        return first_values(path, weight, slices, self.options.seed)

    def moment(self, moment: str, path: str, weight: Weight, slices: Slices) -> np.ndarray:
        """A part of one of the optimizer's moments."""
        if self.checkpoint is None:
            return np.zeros([last - first for first, last in slices], np.float32)
        return self._read(self.checkpoint, f"{moment}/{path}", weight, slices)

    def _read(self, tensors: tensor_files.Tensors, path: str, weight: Weight, slices: Slices) -> np.ndarray:
        try:
            if (shape := tensors.shape(path)) != weight.shape:
                sys.exit(f"{tensors.folder}: {path} is {shape}, {self.options.size} has {weight.shape}; is it of this model?")
            return tensors.read(path, slices)
        except tensor_files.TensorFileError as error:
            sys.exit(str(error))
