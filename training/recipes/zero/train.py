"""What data parallelism keeps on each worker: everything (DDP), a share of the optimizer's state (ZeRO 1), or a share of all (FSDP2, ZeRO 3).

The same small network, the same losses, and what each worker holds of parameters and optimizer state, in bytes. ZeRO is DeepSpeed's word
(Rajbhandari et al., 2020, arXiv:1910.02054); these are PyTorch's own, which need no DeepSpeed.
"""

import argparse
import os
import sys
import time

import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.fsdp import fully_shard
from torch.distributed.optim import ZeroRedundancyOptimizer
from torch.nn.parallel import DistributedDataParallel

import progress_lines

WIDTH, BATCH = 256, 32


def network() -> nn.Sequential:
    """The same weights on each worker."""
    torch.manual_seed(7)
    return nn.Sequential(nn.Linear(16, WIDTH), nn.GELU(), nn.Linear(WIDTH, WIDTH), nn.GELU(), nn.Linear(WIDTH, 1))


def sharded(mode: str, model: nn.Sequential, device: torch.device) -> tuple[nn.Module, torch.optim.Optimizer]:
    """The model and its optimizer, laid out over the workers."""
    model = model.to(device)
    if mode == "fsdp":
        for layer in model:
            if list(layer.parameters()):
                fully_shard(layer)
        fully_shard(model)
        return model, torch.optim.AdamW(model.parameters(), lr=1e-3)
    parallel = DistributedDataParallel(model)
    if mode == "ddp":
        return parallel, torch.optim.AdamW(parallel.parameters(), lr=1e-3)
    return parallel, ZeroRedundancyOptimizer(parallel.parameters(), torch.optim.AdamW, lr=1e-3)


def held(tensors: list[torch.Tensor]) -> int:
    """Bytes of tensors on this worker alone."""
    return sum(tensor.numel() * tensor.element_size() for tensor in (getattr(one, "_local_tensor", one) for one in tensors))


def moments(optimizer: torch.optim.Optimizer) -> list[torch.Tensor]:
    """The optimizer's own tensors on this worker, without its step counts."""
    states = optimizer.optim.state if isinstance(optimizer, ZeroRedundancyOptimizer) else optimizer.state
    return [tensor for state in states.values() for name, tensor in state.items() if name != "step"]


def main(arguments: list[str]) -> int:
    """Trains on made-up samples; returns the exit code."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--mode", choices=["ddp", "zero", "fsdp"], default="fsdp")
    parser.add_argument("--steps", type=int, default=20)
    asked = parser.parse_args(arguments)
    device = torch.accelerator.current_accelerator() if torch.accelerator.is_available() else torch.device("cpu")
    assert device is not None
    dist.init_process_group(dist.get_default_backend_for_device(device))
    torch.set_num_threads(1)
    rank, count = dist.get_rank(), dist.get_world_size()
    whole = network()
    # Two operations for each weight, and twice as many back.
    flops = 6 * sum(one.numel() for one in whole.parameters())
    model, optimizer = sharded(asked.mode, whole, device)
    progress_lines.event("started", pid=os.getpid(), devices=count, mode=asked.mode, steps=asked.steps, flops_per_sample=flops)
    for step in range(1, asked.steps + 1):
        began = time.monotonic()
        samples = torch.randn(BATCH, 16, generator=torch.Generator().manual_seed(step * count + rank)).to(device)
        loss = ((model(samples) - samples.sum(1, keepdim=True)) ** 2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        mean = loss.detach().clone()
        dist.all_reduce(mean)
        progress_lines.step(step, mean.item() / count, BATCH * count / (time.monotonic() - began))
    bytes_held = {"parameter_bytes": held(list(model.parameters())), "optimizer_bytes": held(moments(optimizer))}
    progress_lines.event("finished", step=asked.steps, mode=asked.mode, **bytes_held)
    dist.destroy_process_group()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
