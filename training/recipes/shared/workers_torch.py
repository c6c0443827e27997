"""The workers of a PyTorch job: processes on one device each, by XLA on Trainium or by gloo on the processor.

Toolchain xla-2.30 (frozen): torch-neuronx 2.9 is PyTorch/XLA. On the processor the same script runs by gloo, or with PJRT_DEVICE=CPU
through XLA in one process: PJRT's CPU client has no collectives between processes.
"""

import importlib.util
import os
from typing import Any

import torch
import torch.distributed as dist

import buckets


class Workers:
    """This worker among the others."""

    def __init__(self) -> None:
        """Joins the others, as torchrun has numbered them, where its launcher has not done so."""
        self.xla: Any = None
        joined = dist.is_initialized()
        xla = (
            dist.get_backend() == "xla" if joined else "PJRT_DEVICE" in os.environ or importlib.util.find_spec("torch_neuronx") is not None
        )
        if xla:
            import torch_xla
            import torch_xla.distributed.xla_backend

            self.xla = torch_xla
            if not joined:
                dist.init_process_group("xla", init_method="xla://")
            self.device = torch_xla.device()
        else:
            torch.set_num_threads(1)
            if not joined:
                dist.init_process_group("gloo")
            self.device = torch.device("cpu")
        self.rank, self.count = dist.get_rank(), dist.get_world_size()

    def seed(self, *numbers: int) -> None:
        """Lets dropout follow from these numbers alone, so that a resumed run leaves out what it would have left out."""
        value = 0
        for number in numbers:
            value = (value * 1_000_003 + number + 1) % 2**31
        if self.xla is not None:
            import torch_xla.core.xla_model

            torch_xla.core.xla_model.set_rng_state(value)
        else:
            torch.manual_seed(value)

    def add(self, tensors: list[torch.Tensor]) -> list[torch.Tensor]:
        """Sums of tensors over all workers, in messages of several."""
        parts = buckets.of([tensor.numel() * tensor.element_size() for tensor in tensors])
        return [tensor for part in parts for tensor in self._add_at_once(tensors[part.start : part.stop])]

    def _add_at_once(self, tensors: list[torch.Tensor]) -> list[torch.Tensor]:
        """Sums of tensors that travel in one message."""
        if self.xla is not None:
            import torch_xla.core.xla_model

            return torch_xla.core.xla_model.all_reduce(torch_xla.core.xla_model.REDUCE_SUM, tensors) or tensors
        joint = torch.cat([tensor.reshape(-1) for tensor in tensors])
        dist.all_reduce(joint)
        return [part.view_as(tensor) for part, tensor in zip(joint.split([tensor.numel() for tensor in tensors]), tensors, strict=True)]

    def run(self) -> None:
        """Lets the device run what was asked of it so far, as one graph."""
        if self.xla is not None:
            self.xla.sync()

    def leave(self) -> None:
        """Leaves the others."""
        dist.destroy_process_group()
