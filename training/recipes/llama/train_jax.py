"""Training of Llama 3 and Qwen3 in JAX on one mesh of all devices: one process for each node, or for each core.

Toolchain jax-2.32 (beta), trn1 and trn2. Checkpoints are sharded: each process writes what its devices hold, and reads what they need.
"""

import os
import sys
import time
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.experimental import multihost_utils
from jax.sharding import Mesh, NamedSharding
from jax.sharding import PartitionSpec as P

import checkpoints
import llama_jax
import llama_options
import progress_lines
import sharded_checkpoint
import transformer_flops
from llama_options import Options, learning_rate
from llama_text import Samples, counted
from llama_weights import Slices, Weight, is_trained
from sharded_checkpoint import MOMENTS, Reader, Saver
from stop_request import STOPPED, StopRequest

Tree = Any


def join() -> None:
    """Joins the other processes, as the entry script has numbered them."""
    if int(os.environ.get("JAX_NUM_PROCESSES", "1")) > 1:
        jax.distributed.initialize(
            coordinator_address=os.environ["JAX_COORDINATOR_ADDRESS"],
            num_processes=int(os.environ["JAX_NUM_PROCESSES"]),
            process_id=int(os.environ["JAX_PROCESS_ID"]),
            # Slurm's, MPI's or Kubernetes' variables around us would otherwise have a word.
            cluster_detection_method="deactivate",
        )


class Model:
    """The arrays of one training on its mesh, and the compiled step."""

    def __init__(self, options: Options, shape: llama_options.Mesh) -> None:
        """`shape`: sizes of the mesh."""
        self.options, self.shape = options, shape
        devices = np.array(jax.devices()).reshape(shape.data, shape.fsdp, shape.tensor)
        self.mesh = Mesh(devices, ("data", "fsdp", "tensor"))
        described = llama_jax.make(options.shape, options.lora)
        self.trained, self.frozen = (
            {kind: {name: one for name, one in tensors.items() if is_trained(name, options.lora) is wanted} for kind, tensors in described.items()}
            for wanted in (True, False)
        )  # fmt: skip
        self.shardings = self._map(self._sharding, self.trained)
        self.split = NamedSharding(self.mesh, P(None, llama_jax.READERS))
        self.each = NamedSharding(self.mesh, P(("data", "fsdp", "tensor")))
        moments = self._map(lambda *of: dict.fromkeys(MOMENTS, self._sharding(*of)), self.trained)
        everywhere = NamedSharding(self.mesh, P())
        self.step = jax.jit(self._step, donate_argnums=(0, 2), out_shardings=(self.shardings, moments, everywhere, everywhere))

    def _map(self, of: Any, described: Tree) -> Tree:
        """What `of` gives for the kind, name and description of each tensor."""
        return {kind: {name: of(kind, name, one) for name, one in tensors.items()} for kind, tensors in described.items()}

    def _sharding(self, kind: str, _name: str, weight: Weight) -> NamedSharding:
        found = llama_jax.specification(weight, self.shape.fsdp)
        return NamedSharding(self.mesh, P(None, *found) if kind == "blocks" else found)

    def arrays(self, described: Tree, part: Any) -> Tree:
        """Arrays whose parts `part(path, weight, slices)` gives; each process asks for those of its own devices."""

        def array(kind: str, name: str, weight: Weight) -> jax.Array:
            shape = (self.options.shape.layers, *weight.shape) if kind == "blocks" else weight.shape

            def of_device(index: tuple[slice, ...]) -> np.ndarray:
                slices = tuple((each.indices(size)[0], each.indices(size)[1]) for each, size in zip(index, shape, strict=True))
                if kind != "blocks":
                    return part(weight.path, weight, slices)
                return np.stack([part(weight.path.format(layer=layer), weight, slices[1:]) for layer in range(*slices[0])])

            return jax.make_array_from_callback(shape, self._sharding(kind, name, weight), of_device)

        return self._map(array, described)

    def _step(
        self, trained: Tree, frozen: Tree, moments: Tree, ids: jax.Array, labels: jax.Array, wishes: jax.Array, numbers: jax.Array
    ) -> Tree:
        """New weights and moments, the mean loss, and whether any worker wishes to stop or to save, or still writes.

        ids: int32 (micro batches, sequences, sequence + 1); labels: those that count; numbers: step and learning rate.
        """  # fmt: skip

        def losses(trained: Tree, ids: jax.Array, labels: jax.Array) -> jax.Array:
            whole = {kind: {**frozen[kind], **trained[kind]} for kind in trained}
            return llama_jax.losses(whole, ids, labels, self.options)

        def add(sums: Tree, batch: Tree) -> tuple[Tree, None]:
            return jax.tree.map(jnp.add, sums, jax.value_and_grad(losses)(trained, *batch)), None

        if ids.shape[0] == 1:
            loss, gradients = jax.value_and_grad(losses)(trained, ids[0], labels[0])
        else:
            zeros = jax.tree.map(jnp.zeros_like, trained)
            (loss, gradients), _ = jax.lax.scan(add, (jnp.zeros(()), zeros), (ids, labels))
        gradients = jax.lax.with_sharding_constraint(gradients, self.shardings)
        count = jnp.maximum(jnp.sum(labels), 1.0)
        norm = jnp.sqrt(sum(jnp.sum(array**2) for array in jax.tree.leaves(gradients))) / count
        scale = jnp.minimum(1.0, self.options.clip / (norm + 1e-6)) / count

        def moved(kind: str, name: str, weight: Weight) -> Tree:
            decay = self.options.decay if len(weight.shape) > 1 else 0.0
            return llama_jax.adamw(trained[kind][name], gradients[kind][name] * scale, moments[kind][name], numbers[0], numbers[1], decay)

        new = self._map(moved, self.trained)
        weights, moments = ({kind: {name: pair[half] for name, pair in of.items()} for kind, of in new.items()} for half in (0, 1))
        return weights, moments, jnp.stack([loss / count, norm]), jnp.max(wishes, axis=0)

    def pieces(self, trained: Tree, moments: Tree) -> sharded_checkpoint.Pieces:
        """What this process writes of a checkpoint: the parts of its devices, each part of one process alone."""
        for kind, tensors in self.trained.items():
            for name, weight in tensors.items():
                arrays = {"": trained[kind][name], **{f"{moment}/": moments[kind][name][moment] for moment in MOMENTS}}
                for prefix, array in arrays.items():
                    for shard in array.addressable_shards:
                        if shard.replica_id == 0:
                            yield from self._of_shard(kind, f"{prefix}{weight.path}", array.shape, shard)

    def _of_shard(self, kind: str, path: str, shape: tuple[int, ...], shard: Any) -> sharded_checkpoint.Pieces:
        values = np.asarray(shard.data)
        slices: Slices = tuple((each.indices(size)[0], each.indices(size)[1]) for each, size in zip(shard.index, shape, strict=True))
        if kind != "blocks":
            yield path, slices, values
            return
        for number, layer in enumerate(range(*slices[0])):
            yield path.format(layer=layer), slices[1:], values[number]


def main(arguments: list[str]) -> int:
    """Trains to the last step, or until the job is asked to stop; returns the exit code."""
    options = llama_options.parse(arguments, os.environ.get("TRN_DATA", ""))
    join()
    stop = StopRequest()
    mesh = llama_options.mesh(jax.device_count(), os.environ)
    for conflict in llama_options.conflicts(options, mesh):
        raise llama_options.OptionError(conflict)
    samples = Samples(options)
    folder, interval_s, keep = checkpoints.from_environment(os.environ)
    model, first = Model(options, mesh), jax.process_index() == 0
    fingerprint = {**options.fingerprint, "text": samples.text.identity}
    if folder and first:
        checkpoints.clear(folder)
    reader = Reader(options, folder, fingerprint, mesh)
    trained, frozen = (model.arrays(described, reader.weight) for described in (model.trained, model.frozen))
    pairs = [model.arrays(model.trained, partial(reader.moment, moment)) for moment in MOMENTS]
    moments = model._map(lambda kind, name, _: dict(zip(MOMENTS, (pair[kind][name] for pair in pairs), strict=True)), model.trained)
    model_shape = options.shape
    # An embedding that is not the output's as well is looked up, and multiplies nothing.
    table = 0 if model_shape.tied else model_shape.vocabulary * model_shape.hidden
    said = transformer_flops.of_sequence(
        model_shape.parameters, model_shape.layers, model_shape.heads * model_shape.head, options.sequence, looked_up=table
    )
    progress_lines.event(
        "started",
        pid=os.getpid(),
        devices=jax.device_count(),
        parameters=options.shape.parameters,
        steps=options.steps,
        flops_per_sample=said,
    )
    reader.tell()
    due = checkpoints.Due(interval_s, options.checkpoint_steps)
    parts, own = options.accumulate(mesh), jax.local_device_count()
    shape = (parts, options.batch // parts, options.sequence + 1)

    def given(step: int) -> tuple[jax.Array, jax.Array]:
        """Samples of a step and which labels count; each process makes those of its own devices."""

        def of(index: tuple[slice, ...]) -> np.ndarray:
            rows = range(*index[1].indices(shape[1]))
            begin = [(step - 1) * options.batch + part * shape[1] + rows.start for part in range(parts)]
            return np.stack([samples.rows(each, len(rows)) for each in begin])

        def labels(index: tuple[slice, ...]) -> np.ndarray:
            return np.stack([counted(rows, options.answers) for rows in of(index)])

        wide = (*shape[:2], options.sequence)
        return jax.make_array_from_callback(shape, model.split, of), jax.make_array_from_callback(wide, model.split, labels)

    saver = Saver(folder, keep, jax.process_index(), fingerprint, mesh)

    def settle() -> None:
        """Ends the save that was begun."""
        saver.wait()
        multihost_utils.sync_global_devices("checkpoint")
        saver.finish()

    for step in range(reader.step + 1, options.steps + 1):
        began, last = time.monotonic(), step == options.steps
        # The first process's clock decides when to save; a stop may come from any.
        wishes = np.array([[stop.asked, last or (first and due.now(step)), saver.is_writing]] * own, np.int32)
        rate = learning_rate(options, step)
        numbers = np.array([step, rate], np.float32)
        with jax.set_mesh(model.mesh):
            trained, moments, figures, wish = model.step(
                trained, frozen, moments, *given(step), jax.make_array_from_process_local_data(model.each, wishes), numbers
            )
        loss, norm = np.asarray(figures.addressable_data(0)).tolist()
        stopping, saving, writing = np.asarray(wish.addressable_data(0)).tolist()
        speed = options.batch / (time.monotonic() - began) if step > reader.step + 1 else None
        progress_lines.step(step, loss, speed, learning_rate=rate, gradient_norm=norm)
        if not writing:
            saver.finish()
        if folder and (saving or stopping):
            settle()
            saver.begin(step, model.pieces(trained, moments))
            due.wrote()
        if stopping or last:
            settle()
        if stopping and not last:
            progress_lines.event("stopped", step=step)
            return STOPPED
    progress_lines.event("finished", step=options.steps)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
