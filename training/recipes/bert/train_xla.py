"""BERT pretraining in PyTorch, data parallel: one process for each NeuronCore, by XLA; by gloo where there is none.

Each worker adds up the gradients of its micro batches by itself; one all-reduce follows at the step's end, together with the loss and
the workers' wish to stop or to save. Toolchain xla-2.30 (frozen): the vendor publishes nothing newer of this kind.
"""

import dataclasses
import json
import os
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import torch

import bert_options
import bert_torch
import checkpoints
import initial_weights
import optimizer_torch
import pretraining_data
import progress_lines
import token_data
from stop_request import STOPPED, StopRequest
from validation import Validation
from workers_torch import Workers


def copied(state: dict[str, Any], fingerprint: dict[str, object], position: int) -> Callable[[Path], None]:
    """Copies parameters and moments to the processor's memory, where no step changes them; gives what writes the copy, what the run was, and the samples that it has used."""
    there = {kind: {name: tensor.detach().cpu().clone() for name, tensor in tensors.items()} for kind, tensors in state.items()}
    return partial(torch.save, {"fingerprint": json.dumps(fingerprint), "position": position, "state": there})


@torch.no_grad()
def load(path: Path, state: dict[str, Any], fingerprint: dict[str, object]) -> int:
    """Copies the tensors of a file into the state, and gives the samples that were used; leaves with a sentence where the file is of another training."""
    found = torch.load(path, map_location="cpu", weights_only=True)
    checkpoints.refuse(path, json.loads(found["fingerprint"]), fingerprint)
    for kind, tensors in state.items():
        for name, tensor in tensors.items():
            tensor.copy_(found["state"][kind][name].to(tensor.device))
    return int(found["position"])


def main(arguments: list[str]) -> int:
    """Trains to the last step, or until the job is asked to stop; returns the exit code."""
    # Before the framework writes anything.
    token_data.announce(token_data.asked_for(arguments))
    workers = Workers()
    stop = StopRequest()
    options = bert_options.parse(arguments, workers.count, os.environ.get("TRN_DATA", ""))
    folder, interval_s, keep = checkpoints.from_environment(os.environ)
    size, micro = options.model, options.batch * workers.count
    text = pretraining_data.text_of(options.data, size.vocabulary)
    validation = Validation(options, workers.count, workers.rank, 1)
    fingerprint = options.fingerprint(workers.count, text.identity)
    background = checkpoints.Background(folder, keep)

    made = initial_weights.weights(size, options.seed)
    parameters = {name: torch.from_numpy(array).to(workers.device).requires_grad_() for name, array in made.items()}
    moments = optimizer_torch.initial(parameters)
    state = {"parameters": parameters, **moments}
    count = sum(array.size for array in made.values())
    flops = bert_options.flops_of_sequence(options, count)
    progress_lines.event("started", pid=os.getpid(), devices=workers.count, parameters=count, steps=options.steps, flops_per_sample=flops)
    done = position = 0
    if folder and (found := checkpoints.newest(folder)):
        done, path = found
        position = load(path, state, fingerprint)
        progress_lines.event("resumed", step=done, path=str(path))
    elif options.first:
        # The moments begin anew.
        path = bert_options.first_checkpoint(options, checkpoints.newest(options.first))
        found = torch.load(path, map_location="cpu", weights_only=True)
        there = json.loads(found["fingerprint"])
        checkpoints.refuse(path, {"size": there["size"], "text": there["text"]}, {"size": options.size, "text": text.identity})
        with torch.no_grad():
            for name, parameter in parameters.items():
                parameter.copy_(found["state"]["parameters"][name].to(parameter.device))
        progress_lines.event("resumed", step=0, path=str(path))
    due = checkpoints.Due(interval_s, options.checkpoint_steps)

    def batch(number: int) -> dict[str, torch.Tensor]:
        """This worker's part of one micro batch of the step."""
        first = position + number * micro + workers.rank * options.batch
        return given(
            pretraining_data.batch(text, first, options.batch, options.sequence, options.predictions, size.vocabulary, options.seed)
        )

    def given(arrays: dict[str, np.ndarray]) -> dict[str, torch.Tensor]:
        tensors = {name: torch.from_numpy(array) for name, array in arrays.items()}
        return {name: (tensor.long() if tensor.dtype == torch.int32 else tensor).to(workers.device) for name, tensor in tensors.items()}

    def number(value: float) -> torch.Tensor:
        return torch.tensor(value, dtype=torch.float32).to(workers.device)

    @torch.no_grad()
    def look() -> float:
        """Mean loss of the masked tokens that are kept from training, with nothing left out."""
        whole, total = dataclasses.replace(size, dropout=0.0), number(0.0)
        for each in validation.batches():
            total = total + bert_torch.losses(parameters, given(each), whole)[0]
            workers.run()
        return workers.add([total / (options.validation_batches * workers.count)])[0].item()

    for step in range(done + 1, options.steps + 1):
        began = time.monotonic()
        total = number(0.0)
        for part in range(options.accumulate):
            workers.seed(options.seed, step, part, workers.rank)
            loss = bert_torch.loss(parameters, batch(part), size)
            loss.backward()
            total = total + loss.detach()
            workers.run()
        # The first worker's clock decides when to save; a stop may come from any.
        last = step == options.steps
        wishes = torch.stack([number(stop.asked), number(last or (workers.rank == 0 and due.now(step)))])
        names, share = list(parameters), 1.0 / (options.accumulate * workers.count)
        sums = workers.add([parameters[name].grad * share for name in names] + [total * share, wishes])
        rate = bert_options.learning_rate(options, step)
        optimizer_torch.update(options.optimizer, parameters, moments, dict(zip(names, sums, strict=False)), number(step), number(rate))
        for parameter in parameters.values():
            parameter.grad = None
        workers.run()
        value, (stopping, saving) = sums[-2].item(), (wish > 0 for wish in sums[-1].tolist())
        position += micro * options.accumulate
        speed = micro * options.accumulate / (time.monotonic() - began) if step > done + 1 else None
        progress_lines.step(step, value, speed, learning_rate=rate)
        if validation.is_due(step) and not stopping:
            validation.tell(step, look())
        if folder and (saving or stopping):
            if workers.rank == 0:
                background.write(step, partial(copied, state, fingerprint, position))
                if stopping or last:
                    background.wait()
            due.wrote()
        if stopping and not last:
            progress_lines.event("stopped", step=step)
            workers.leave()
            return STOPPED
    progress_lines.event("finished", step=options.steps)
    workers.leave()
    return 0
