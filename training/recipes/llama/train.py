"""Llama pretraining in native PyTorch: parameters, gradients and optimizer state sharded over all workers (FSDP2), block by block.

Toolchain torch-2.33 (beta, Trainium2 alone): the same script runs on `neuron` devices and, by gloo, on processors. Checkpoints are sharded
too: each worker writes its own part, so nothing of 8B parameters ever meets in one place; another number of workers can read them.
"""

import argparse
import math
import os
import sys
import time
from pathlib import Path

import torch
import torch.distributed as dist
import torch.distributed.checkpoint as sharded
from torch.distributed.checkpoint.state_dict import get_state_dict, set_state_dict
from torch.distributed.fsdp import MixedPrecisionPolicy, fully_shard
from torch.nn import functional

import checkpoints
import progress_lines
import transformer_flops
from llama_model import SIZES, Llama
from stop_request import STOPPED, StopRequest


class Text:
    """Token sequences: sample i follows from i, or is the i-th stretch of a file of token ids (`tokens.npy`, as `trn data` makes it)."""

    def __init__(self, folder: str, vocabulary: int, length: int) -> None:
        self.vocabulary, self.length, self.file = vocabulary, length, None
        if folder:
            import numpy as np

            self.file = np.load(Path(folder, "tokens.npy"), mmap_mode="r")

    def batch(self, first: int, count: int) -> torch.Tensor:
        """int64 (count, length + 1): a sequence and the token behind it."""
        return torch.stack([self._sample(first + row) for row in range(count)])

    def _sample(self, number: int) -> torch.Tensor:
        if self.file is not None:
            at = number % ((len(self.file) - 1) // self.length) * self.length
            return torch.from_numpy(self.file[at : at + self.length + 1].astype("int64"))
        # Some words are far more frequent than others, and each second one follows from the one before.
        random = torch.Generator().manual_seed(number)
        words = (self.vocabulary * torch.rand(self.length + 1, generator=random) ** 4).long()
        words[1::2] = (words[::2][: len(words[1::2])] * 7 + 1) % self.vocabulary
        return words


def learning_rate(top: float, step: int, steps: int) -> float:
    """Rises over the first twentieth of the steps, then falls along a cosine to a tenth."""
    rising = max(steps // 20, 1)
    if step <= rising:
        return top * step / rising
    return top * (0.1 + 0.45 * (1 + math.cos(math.pi * (step - rising) / max(steps - rising, 1))))


def parse(arguments: list[str]) -> argparse.Namespace:
    """Options of a command line."""
    parser = argparse.ArgumentParser(description="Llama pretraining, sharded by FSDP2")
    parser.add_argument("--size", choices=sorted(SIZES), default="8b")
    parser.add_argument("--batch", type=int, default=1, help="sequences of each worker")
    parser.add_argument("--sequence", type=int, default=4096)
    parser.add_argument("--steps", type=int, default=1000)
    parser.add_argument("--learning-rate", type=float, default=3e-4)
    parser.add_argument("--checkpoint-steps", type=int, default=0)
    return parser.parse_args(arguments)


def main(arguments: list[str]) -> int:
    """Trains to the last step, or until the job is asked to stop; returns the exit code."""
    asked = parse(arguments)
    device = torch.accelerator.current_accelerator() if torch.accelerator.is_available() else torch.device("cpu")
    assert device is not None
    dist.init_process_group(dist.get_default_backend_for_device(device))
    if device.type == "cpu":
        torch.set_num_threads(1)
    stop, (rank, count) = StopRequest(), (dist.get_rank(), dist.get_world_size())
    folder, interval_s, keep = checkpoints.from_environment(os.environ)

    # Made without memory, then each worker fills what is its own. The seed decides for a given number of workers.
    with torch.device("meta"):
        model = Llama(SIZES[asked.size])
    halves = MixedPrecisionPolicy(param_dtype=torch.bfloat16, reduce_dtype=torch.float32)
    for block in model.blocks:
        fully_shard(block, mp_policy=halves)
    fully_shard(model, mp_policy=halves)
    model.to_empty(device=device)
    torch.manual_seed(7)
    model.fill()
    optimizer = torch.optim.AdamW(model.parameters(), lr=asked.learning_rate, betas=(0.9, 0.95), weight_decay=0.1)
    # Of the whole model: a shard knows the size of the parameter that it is of.
    size, parameters = SIZES[asked.size], sum(one.numel() for one in model.parameters())
    flops = transformer_flops.of_sequence(parameters, size.layers, size.hidden, asked.sequence)
    progress_lines.event("started", pid=os.getpid(), devices=count, parameters=parameters, steps=asked.steps, flops_per_sample=flops)
    done = 0
    if folder and (found := checkpoints.newest(folder)):
        done, path = found
        kept, moments = get_state_dict(model, optimizer)
        sharded.load({"model": kept, "optimizer": moments}, checkpoint_id=path)
        set_state_dict(model, optimizer, model_state_dict=kept, optim_state_dict=moments)
        progress_lines.event("resumed", step=done, path=str(path))
    text, due = (
        Text(os.environ.get("TRN_DATA", ""), SIZES[asked.size].vocabulary, asked.sequence),
        checkpoints.Due(interval_s, asked.checkpoint_steps),
    )

    for step in range(done + 1, asked.steps + 1):
        began, rate = time.monotonic(), learning_rate(asked.learning_rate, step, asked.steps)
        for group in optimizer.param_groups:
            group["lr"] = rate
        ids = text.batch(((step - 1) * count + rank) * asked.batch, asked.batch).to(device)
        loss = functional.cross_entropy(model(ids[:, :-1]).float().flatten(0, 1), ids[:, 1:].flatten())
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        optimizer.zero_grad()
        # The first worker's clock decides when to save; a stop may come from any.
        last = step == asked.steps
        said = torch.stack([loss.detach(), loss.new_tensor(stop.asked), loss.new_tensor(last or (rank == 0 and due.now(step)))])
        dist.all_reduce(said)
        total, stopping, saving = said.tolist()
        progress_lines.step(step, total / count, asked.batch * count / (time.monotonic() - began), learning_rate=rate)
        if folder and (saving or stopping):
            partial = checkpoints.begin(folder, step)
            kept, moments = get_state_dict(model, optimizer)
            sharded.save({"model": kept, "optimizer": moments}, checkpoint_id=partial)
            if rank == 0:
                checkpoints.finish(folder, step, keep, began)
            due.wrote()
        if stopping and not last:
            progress_lines.event("stopped", step=step)
            dist.destroy_process_group()
            return STOPPED
    progress_lines.event("finished", step=asked.steps)
    dist.destroy_process_group()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
