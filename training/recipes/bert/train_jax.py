"""BERT pretraining in JAX, data parallel: one process for each node (or core), one copy of the model on each device.

The devices of all processes form one axis. Each device adds up the gradients of its micro batches by itself; one all-reduce
follows in the step's last function, together with the loss and the workers' wish to stop or to save.
Toolchain jax-2.32 (beta): how well it trains BERT-large on trn1 is not established.
"""

import dataclasses
import json
import os
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, NamedSharding
from jax.sharding import PartitionSpec as P

import bert_jax
import bert_options
import checkpoints
import initial_weights
import optimizer_jax
import pretraining_data
import progress_lines
import token_data
from stop_request import STOPPED, StopRequest
from validation import Validation

Tree = Any
HEARTBEAT_S = 20


def join() -> None:
    """Joins the other processes, as the entry script has numbered them."""
    if int(os.environ.get("JAX_NUM_PROCESSES", "1")) > 1:
        jax.distributed.initialize(
            coordinator_address=os.environ["JAX_COORDINATOR_ADDRESS"],
            num_processes=int(os.environ["JAX_NUM_PROCESSES"]),
            process_id=int(os.environ["JAX_PROCESS_ID"]),
            # Slurm's, MPI's or Kubernetes' variables around us would otherwise have a word.
            cluster_detection_method="deactivate",
            # JAX's own 100 seconds are as long as the nodes would wait for a process that is gone.
            heartbeat_timeout_seconds=HEARTBEAT_S,
        )


class Steps:
    """The compiled functions of one training."""

    def __init__(self, options: bert_options.Options, mesh: Mesh) -> None:
        self.options = options
        every, each = P(), P("devices")
        # Gradients belong to each device until the step's end: `check_vma` would reduce them for each micro batch.
        share = partial(jax.shard_map, mesh=mesh, check_vma=False)
        sums = (each, each)
        self.zeros = jax.jit(share(self._zeros, in_specs=(every,), out_specs=sums))
        self.add = jax.jit(share(self._add, in_specs=(every, sums, each, every), out_specs=sums), donate_argnums=1)
        self.look = jax.jit(share(self._look, in_specs=(every, each), out_specs=every))
        self.finish = jax.jit(
            share(self._finish, in_specs=(every, every, sums, each, every, every), out_specs=(every, every, every, every)),
            donate_argnums=(0, 1, 2),
        )

    def _zeros(self, parameters: Tree) -> Tree:
        """Sums of gradients and losses before a step's first micro batch; the leading axis is that of the devices."""
        return jax.tree.map(lambda array: jnp.zeros((1, *array.shape), array.dtype), parameters), jnp.zeros(1)

    def _add(self, parameters: Tree, sums: Tree, batch: Tree, where: jax.Array) -> Tree:
        """Adds one micro batch. `where`: step and micro batch, which with the device decide what dropout leaves out."""
        # The generator that JAX NeuronX asks for (jax_default_prng_impl=rbg in its guide).
        key = jax.random.key(self.options.seed, impl="rbg")
        for number in (where[0], where[1], jax.lax.axis_index("devices")):
            key = jax.random.fold_in(key, number)
        loss, gradients = jax.value_and_grad(bert_jax.loss)(parameters, batch, key, self.options.model)
        return jax.tree.map(lambda total, new: total + new, sums[0], jax.tree.map(lambda new: new[None], gradients)), sums[1] + loss

    def _look(self, parameters: Tree, batch: Tree) -> jax.Array:
        """Mean loss of the masked tokens of one micro batch, with nothing left out."""
        size = dataclasses.replace(self.options.model, dropout=0.0)
        return jax.lax.pmean(bert_jax.losses(parameters, batch, jax.random.key(0, impl="rbg"), size)[0], "devices")

    def _finish(self, parameters: Tree, state: Tree, sums: Tree, wishes: jax.Array, step: jax.Array, rate: jax.Array) -> Tree:
        """New parameters and state, mean loss, and whether any worker wishes to stop or to save."""
        mean = jax.tree.map(lambda total: jax.lax.pmean(total[0], "devices") / self.options.accumulate, sums)
        parameters, state = optimizer_jax.update(self.options.optimizer, parameters, state, mean[0], step, rate)
        return parameters, state, mean[1], jax.lax.pmax(wishes[0], "devices")


def copied(tree: Tree, fingerprint: dict[str, object], position: int) -> Callable[[Path], None]:
    """Copies all arrays of a tree out of the device, whose next step reuses their memory; gives what writes the copy, what the run was, and the samples that it has used."""
    arrays = {f"array_{number}": np.array(array.addressable_data(0)) for number, array in enumerate(jax.tree.leaves(tree))}

    def save(path: Path) -> None:
        with path.open("wb") as file:
            np.savez(file, fingerprint=np.asarray(json.dumps(fingerprint)), position=np.int64(position), **arrays)

    return save


def load(path: Path, tree: Tree, fingerprint: dict[str, object], sharding: NamedSharding) -> tuple[Tree, int]:
    """The tree with the arrays of a file, and the samples that were used; leaves with a sentence where the file is of another training."""
    with np.load(path) as file:
        checkpoints.refuse(path, json.loads(str(file["fingerprint"])), fingerprint)
        leaves, shape = jax.tree.flatten(tree)
        found = jax.tree.unflatten(shape, [jax.device_put(file[f"array_{number}"], sharding) for number in range(len(leaves))])
        return found, int(file["position"])


def main(arguments: list[str]) -> int:
    """Trains to the last step, or until the job is asked to stop; returns the exit code."""
    # Before the framework writes anything.
    token_data.announce(token_data.asked_for(arguments))
    join()
    stop = StopRequest()
    devices, own = jax.device_count(), jax.local_device_count()
    options = bert_options.parse(arguments, devices, os.environ.get("TRN_DATA", ""))
    folder, interval_s, keep = checkpoints.from_environment(os.environ)
    size, micro = options.model, options.batch * devices
    background = checkpoints.Background(folder, keep)
    text = pretraining_data.text_of(options.data, size.vocabulary)
    validation = Validation(options, devices, jax.process_index() * own, own)
    mesh = Mesh(np.array(jax.devices()), ("devices",))
    everywhere, split = NamedSharding(mesh, P()), NamedSharding(mesh, P("devices"))
    steps = Steps(options, mesh)
    fingerprint = options.fingerprint(devices, text.identity)

    parameters = jax.device_put(initial_weights.weights(size, options.seed), everywhere)
    state = jax.device_put(optimizer_jax.initial(parameters), everywhere)
    count = sum(array.size for array in jax.tree.leaves(parameters))
    flops = bert_options.flops_of_sequence(options, count)
    progress_lines.event("started", pid=os.getpid(), devices=devices, parameters=count, steps=options.steps, flops_per_sample=flops)
    done = position = 0
    if folder and (found := checkpoints.newest(folder)):
        done, path = found
        (parameters, state), position = load(path, (parameters, state), fingerprint, everywhere)
        progress_lines.event("resumed", step=done, path=str(path))
    elif options.first:
        # The parameters come first in the file, and the moments begin anew.
        path = bert_options.first_checkpoint(options, checkpoints.newest(options.first))
        with np.load(path) as file:
            there = json.loads(str(file["fingerprint"]))
            checkpoints.refuse(path, {"size": there["size"], "text": there["text"]}, {"size": options.size, "text": text.identity})
            leaves, shape = jax.tree.flatten(parameters)
            parameters = jax.tree.unflatten(shape, [jax.device_put(file[f"array_{number}"], everywhere) for number in range(len(leaves))])
        progress_lines.event("resumed", step=0, path=str(path))
    due = checkpoints.Due(interval_s, options.checkpoint_steps)

    def given(local: np.ndarray) -> jax.Array:
        return jax.make_array_from_process_local_data(split, local)

    def batch(number: int) -> Tree:
        """This process's part of one micro batch of the step; processes come in the order of their devices."""
        first = position + number * micro + jax.process_index() * own * options.batch
        made = pretraining_data.batch(
            text, first, own * options.batch, options.sequence, options.predictions, size.vocabulary, options.seed
        )
        return jax.tree.map(given, made)

    for step in range(done + 1, options.steps + 1):
        began = time.monotonic()
        sums = steps.zeros(parameters)
        for number in range(options.accumulate):
            # The device works on a micro batch while the next one is made.
            sums = steps.add(parameters, sums, batch(number), np.array([step, number], np.int32))
        # The first process's clock decides when to save; a stop may come from any.
        last = step == options.steps
        wishes = np.array([[stop.asked, last or (jax.process_index() == 0 and due.now(step))]] * own, np.int32)
        rate = np.float32(bert_options.learning_rate(options, step))
        parameters, state, loss, wish = steps.finish(parameters, state, sums, given(wishes), np.int32(step), rate)
        value, (stopping, saving) = float(loss), np.asarray(wish.addressable_data(0)).tolist()
        position += micro * options.accumulate
        taken = time.monotonic() - began
        speed = micro * options.accumulate / taken if step > done + 1 else None
        progress_lines.step(step, value, speed, learning_rate=float(rate))
        if validation.is_due(step) and not stopping:
            found = [float(steps.look(parameters, jax.tree.map(given, each))) for each in validation.batches()]
            validation.tell(step, sum(found) / len(found))
        if folder and (saving or stopping):
            if jax.process_index() == 0:
                background.write(step, partial(copied, (parameters, state), fingerprint, position))
                if stopping or last:
                    background.wait()
            due.wrote()
        if stopping and not last:
            progress_lines.event("stopped", step=step)
            return STOPPED
    progress_lines.event("finished", step=options.steps)
    return 0
