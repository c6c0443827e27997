"""TensorFlow's two ways: a parameter server with workers that do not wait for each other, or workers in step (MultiWorkerMirrored).

Which one follows from TF_CONFIG: with tasks `ps` it is the parameter server, commanded by the chief; without, the workers run in step.
On Trainium, TensorFlow is not published for training (aws-neuron-sdk has tensorflow-neuronx for inference only): this runs on processors.
"""

import argparse
import json
import os
import sys
import time
from typing import Any

import tensorflow as tf

import checkpoints
import progress_lines

BATCH, FEATURES = 32, 16


def model() -> Any:
    """A small network, and its optimizer."""
    tf.keras.utils.set_random_seed(7)
    layers = [tf.keras.Input((FEATURES,)), tf.keras.layers.Dense(32, "relu"), tf.keras.layers.Dense(1)]
    network, optimizer = tf.keras.Sequential(layers), tf.keras.optimizers.SGD(0.02)
    optimizer.build(network.trainable_variables)
    return network, optimizer


def learn(network: Any, optimizer: Any, step: Any, replica: Any) -> Any:
    """One step of one worker on samples that follow from the step and the worker; gives its loss."""
    samples = tf.random.stateless_normal((BATCH, FEATURES), tf.stack([tf.cast(replica, tf.int64), tf.cast(step, tf.int64)]))
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean((network(samples) - tf.reduce_sum(samples, 1, keepdims=True)) ** 2)
    optimizer.apply_gradients(zip(tape.gradient(loss, network.trainable_variables), network.trainable_variables, strict=True))
    return loss


def restored(network: Any, optimizer: Any, done: Any, folder: str) -> tuple[Any, int]:
    """TensorFlow's own checkpoints, and the step that the newest is of."""
    manager = tf.train.CheckpointManager(
        tf.train.Checkpoint(network=network, optimizer=optimizer, step=done), folder or "/tmp/none", max_to_keep=3
    )
    if folder and manager.latest_checkpoint:
        manager.checkpoint.restore(manager.latest_checkpoint)
        progress_lines.event("resumed", step=int(done.numpy()), path=manager.latest_checkpoint)
    return manager, int(done.numpy())


def in_step(steps: int, every: int, folder: str) -> None:
    """Workers that wait for each other at every step: an all-reduce."""
    strategy = tf.distribute.MultiWorkerMirroredStrategy()
    task = json.loads(os.environ["TF_CONFIG"])["task"]
    with strategy.scope():
        network, optimizer = model()
        done = tf.Variable(tf.constant(0, tf.int64), trainable=False)

    @tf.function
    def step(number: Any) -> Any:
        losses = strategy.run(lambda: learn(network, optimizer, number, tf.distribute.get_replica_context().replica_id_in_sync_group))
        return strategy.reduce("MEAN", losses, axis=None)

    # Each worker takes part in saving; the first one's files count, the others' are thrown away.
    own = folder if not folder or task["index"] == 0 else f"{folder}-worker-{task['index']}"
    manager, first = restored(network, optimizer, done, own)
    for number in range(first + 1, steps + 1):
        began = time.monotonic()
        loss = float(step(tf.constant(number, tf.int64)))
        progress_lines.step(number, loss, BATCH * strategy.num_replicas_in_sync / (time.monotonic() - began))
        done.assign(number)
        if folder and (number % every == 0 or number == steps):
            save(manager, number, is_first=task["index"] == 0)


def by_server(steps: int, every: int, folder: str) -> None:
    """A chief that gives the workers their steps, workers that do them as fast as each can, and servers that hold the variables.

    A worker may use variables that others have changed meanwhile: the loss of a step is not repeatable.
    """
    resolver = tf.distribute.cluster_resolver.TFConfigClusterResolver()
    if resolver.task_type in ("ps", "worker"):
        server = tf.distribute.Server(
            resolver.cluster_spec(), job_name=resolver.task_type, task_index=resolver.task_id, protocol="grpc", start=True
        )
        server.join()
    strategy = tf.distribute.ParameterServerStrategy(resolver)
    coordinator = tf.distribute.coordinator.ClusterCoordinator(strategy)
    with strategy.scope():
        network, optimizer = model()
        done = tf.Variable(tf.constant(0, tf.int64), trainable=False)

    @tf.function
    def step(number: Any) -> Any:
        return strategy.run(lambda: learn(network, optimizer, number, tf.constant(7)))

    manager, first = restored(network, optimizer, done, folder)
    for begin in range(first, steps, every):
        began, end = time.monotonic(), min(begin + every, steps)
        losses = [coordinator.schedule(step, (tf.constant(number, tf.int64),)) for number in range(begin + 1, end + 1)]
        coordinator.join()
        speed = BATCH * len(losses) / (time.monotonic() - began)
        progress_lines.step(end, sum(float(loss.fetch()) for loss in losses) / len(losses), speed, devices=dict(spread(network)))
        done.assign(end)
        if folder:
            save(manager, end, is_first=True)


def save(manager: Any, step: int, *, is_first: bool) -> None:
    """Write a checkpoint; the first worker's counts, and says so."""
    began = time.monotonic()
    path = manager.save()
    if is_first:
        checkpoints.tell(step, path, began)


def spread(network: Any) -> list[tuple[str, str]]:
    """Where each variable is: job and task."""
    return [(variable.path, tf.DeviceSpec.from_string(variable.value.device).job or "here") for variable in network.trainable_variables]


def main(arguments: list[str]) -> int:
    """Trains as TF_CONFIG says; returns the exit code."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=100)
    parser.add_argument("--checkpoint-steps", type=int, default=20)
    asked = parser.parse_args(arguments)
    folder, _, _ = checkpoints.from_environment(os.environ)
    cluster = json.loads(os.environ["TF_CONFIG"])["cluster"]
    task = json.loads(os.environ["TF_CONFIG"])["task"]
    about = {"features": FEATURES, "batch": BATCH, "tasks": {role: len(members) for role, members in cluster.items()}}
    checkpoints.same_training(folder, about, first=task["index"] == 0 and task["type"] in ("chief", "worker"))
    progress_lines.event("started", pid=os.getpid(), steps=asked.steps)
    (by_server if "ps" in cluster else in_step)(asked.steps, asked.checkpoint_steps, folder)
    progress_lines.event("finished", step=asked.steps)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
