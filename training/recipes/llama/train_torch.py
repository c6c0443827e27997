"""Training of Llama 3 and Qwen3 in native PyTorch on one mesh of all workers: FSDP2, and tensor and sequence parallelism by DTensor.

Toolchain torch-2.33 (beta, Trainium2 and 3 alone): the same script runs on `neuron` devices and, by gloo, on processors. Checkpoints
are sharded: each worker writes what it holds, and reads what it needs.
"""

import os
import sys
import time

import numpy as np
import torch
import torch.distributed as dist
from torch.distributed.device_mesh import DeviceMesh, init_device_mesh
from torch.distributed.fsdp import MixedPrecisionPolicy, fully_shard
from torch.distributed.tensor import Shard

import checkpoints
import llama_options
import progress_lines
import sharded_checkpoint
import transformer_flops
from llama_options import Mesh, Options, learning_rate
from llama_text import Samples, counted
from llama_torch import Llama, Tensors, local
from llama_weights import Slices, Weight
from sharded_checkpoint import MOMENTS, Reader, Saver
from stop_request import STOPPED, StopRequest


class Part:
    """What this worker has of one tensor, and of its moments."""

    def __init__(self, path: str, weight: Weight, parameter: torch.nn.Parameter, mesh: Mesh, place: tuple[int, int, int]) -> None:
        """`place`: this worker's in data, fsdp and tensor."""
        self.path, self.weight, self.parameter, self.is_trained = path, weight, parameter, parameter.requires_grad
        _, fsdp, tensor = place
        divided = {weight.tensor: (tensor, mesh.tensor)} | {_fsdp_axis(weight): (fsdp, mesh.fsdp)}
        self.slices: Slices = tuple(_share(length, *divided.get(axis, (0, 1))) for axis, length in enumerate(weight.shape))
        self.copies = mesh.data * (1 if weight.tensor is not None else mesh.tensor)
        """Workers that have the same part."""
        self.is_first = place[0] == 0 and (weight.tensor is not None or tensor == 0)
        """Whether this one of them writes it."""
        self.moments = {moment: torch.zeros_like(self.values) for moment in MOMENTS if self.is_trained}

    @property
    def values(self) -> torch.Tensor:
        """Master weights, float32."""
        return local(self.parameter.data)

    @property
    def gradient(self) -> torch.Tensor:
        """Summed over all workers that have samples of their own."""
        assert self.parameter.grad is not None
        return local(self.parameter.grad)

    def fill(self, part: np.ndarray, of: torch.Tensor) -> None:
        """Copies values from the processor's memory."""
        if part.size:
            of.copy_(torch.from_numpy(np.ascontiguousarray(part)))


def _fsdp_axis(weight: Weight) -> int:
    """FSDP divides each tensor: the axis that the tensor axis leaves, else the first."""
    return 0 if weight.fsdp is None else weight.fsdp


def _share(length: int, number: int, count: int) -> tuple[int, int]:
    """First and last + 1 of one of `count` parts, as torch.chunk divides: the last ones may be empty."""
    part = -(-length // count)
    return min(number * part, length), min((number + 1) * part, length)


class Training:
    """The model of one training on its mesh."""

    def __init__(self, options: Options, mesh: Mesh, device: torch.device) -> None:
        self.options, self.mesh, self.device = options, mesh, device
        whole = init_device_mesh(device.type, (mesh.data, mesh.fsdp, mesh.tensor), mesh_dim_names=("data", "fsdp", "tensor"))
        place = whole.get_coordinate()
        assert place is not None
        self.reader = place[0] * mesh.fsdp + place[1]
        """Which of the groups with samples of their own this worker is in."""
        self.model = Llama(options, whole["tensor"] if mesh.tensor > 1 else None)
        readers = whole["data", "fsdp"] if mesh.data > 1 else whole["fsdp"]
        for block in self.model.blocks:
            self._shard(block, readers)
        self._shard(self.model, readers)
        self.model.to_empty(device=device)
        self.parts = [
            Part(weight.path.format(layer=layer), weight, getattr(tensors, name), mesh, (place[0], place[1], place[2]))
            for layer, tensors in enumerate([*self.model.blocks, self.model])
            for name, weight in _described(tensors).items()
        ]

    def _shard(self, tensors: torch.nn.Module, readers: DeviceMesh) -> None:
        """Divides a layer, or what is outside of the layers, over the workers, who gather it when they come to it."""
        half = torch.bfloat16 if self.options.precision == "bfloat16" else None
        axes = {getattr(tensors, name): _fsdp_axis(weight) for name, weight in _described(tensors).items()}
        fully_shard(
            tensors,
            mesh=readers,
            mp_policy=MixedPrecisionPolicy(param_dtype=half, reduce_dtype=torch.float32),
            shard_placement_fn=lambda parameter: Shard(axes[parameter]),
        )

    @torch.no_grad()
    def load(self, reader: Reader) -> None:
        """Weights and moments from where the training begins."""
        for part in self.parts:
            part.fill(reader.weight(part.path, part.weight, part.slices), part.values)
            for moment, values in part.moments.items():
                part.fill(reader.moment(moment, part.path, part.weight, part.slices), values)

    def add(self, ids: np.ndarray, labels: np.ndarray, count: float) -> torch.Tensor:
        """Adds one micro batch's gradients, of the sum of all losses over `count`; gives this part of the sum."""
        loss = self.model(torch.from_numpy(ids).long().to(self.device), torch.from_numpy(labels).to(self.device))
        # FSDP takes the mean over the groups.
        (loss * (self.mesh.readers / count)).backward()
        return loss.detach()

    def norm(self) -> torch.Tensor:
        """Of all gradients together; one number is summed over all workers."""
        squares = [part.gradient.float().square().sum() / part.copies for part in self.parts if part.is_trained]
        total = torch.stack(squares).sum()
        dist.all_reduce(total)
        return total.sqrt()

    @torch.no_grad()
    def update(self, scale: torch.Tensor, step: int, rate: float) -> None:
        """AdamW in float32, as llama_jax.adamw (Loshchilov and Hutter, Decoupled Weight Decay, 2017, arXiv:1711.05101)."""
        for part in self.parts:
            if not part.is_trained:
                continue
            gradient, weight, (first, second) = part.gradient * scale, part.values, part.moments.values()
            first.mul_(0.9).add_(gradient, alpha=0.1)
            second.mul_(0.95).addcmul_(gradient, gradient, value=0.05)
            change = (first / (1 - 0.9**step)) / ((second / (1 - 0.95**step)).sqrt() + 1e-8)
            decay = self.options.decay if len(part.weight.shape) > 1 else 0.0
            weight.sub_(rate * (change + decay * weight))
            part.parameter.grad = None

    def pieces(self) -> sharded_checkpoint.Pieces:
        """What this worker writes of a checkpoint."""
        for part in self.parts:
            for prefix, values in {"": part.values, **{f"{name}/": moment for name, moment in part.moments.items()}}.items():
                if part.is_first and part.is_trained:
                    yield f"{prefix}{part.path}", part.slices, values.cpu().numpy()


def _described(tensors: torch.nn.Module) -> dict[str, Weight]:
    assert isinstance(tensors, Tensors)
    return tensors.described


def main(arguments: list[str]) -> int:
    """Trains to the last step, or until the job is asked to stop; returns the exit code."""
    options = llama_options.parse(arguments, os.environ.get("TRN_DATA", ""))
    device = torch.accelerator.current_accelerator() if torch.accelerator.is_available() else torch.device("cpu")
    assert device is not None
    dist.init_process_group(dist.get_default_backend_for_device(device))
    if device.type == "cpu":
        torch.set_num_threads(1)
    stop, (rank, count) = StopRequest(), (dist.get_rank(), dist.get_world_size())
    mesh = llama_options.mesh(count, os.environ)
    for conflict in llama_options.conflicts(options, mesh):
        raise llama_options.OptionError(conflict)
    samples = Samples(options)
    folder, interval_s, keep = checkpoints.from_environment(os.environ)
    fingerprint = {**options.fingerprint, "text": samples.text.identity}
    if folder and rank == 0:
        checkpoints.clear(folder)
    training, reader = Training(options, mesh, device), Reader(options, folder, fingerprint, mesh)
    training.load(reader)
    model_shape = options.shape
    # An embedding that is not the output's as well is looked up, and multiplies nothing.
    table = 0 if model_shape.tied else model_shape.vocabulary * model_shape.hidden
    said = transformer_flops.of_sequence(
        model_shape.parameters, model_shape.layers, model_shape.heads * model_shape.head, options.sequence, looked_up=table
    )
    progress_lines.event(
        "started", pid=os.getpid(), devices=count, parameters=options.shape.parameters, steps=options.steps, flops_per_sample=said
    )
    reader.tell()
    due = checkpoints.Due(interval_s, options.checkpoint_steps)
    saver = Saver(folder, keep, rank, fingerprint, mesh)

    def settle() -> None:
        """Ends the save that was begun."""
        saver.wait()
        dist.barrier()
        saver.finish()

    parts, micro = options.accumulate(mesh), options.micro * mesh.readers

    for step in range(reader.step + 1, options.steps + 1):
        began, last = time.monotonic(), step == options.steps
        begin = (step - 1) * options.batch + training.reader * options.micro
        rows = [samples.rows(begin + part * micro, options.micro) for part in range(parts)]
        labels = [counted(each, options.answers) for each in rows]
        # How many labels count in the whole step, and whether any worker wishes to stop or to save, or still writes:
        # the first one's clock decides when to save.
        wishes = [stop.asked, last or (rank == 0 and due.now(step)), saver.is_writing]
        numbers = torch.tensor([sum(float(each.sum()) for each in labels), *map(float, wishes)], device=device)
        dist.all_reduce(numbers)
        counting, stopping, saving, writing = numbers.tolist()
        counting = max(counting / mesh.tensor, 1.0)
        total = sum((training.add(ids, each, counting) for ids, each in zip(rows, labels, strict=True)), torch.zeros((), device=device))
        dist.all_reduce(total)
        norm = training.norm()
        training.update((options.clip / (norm + 1e-6)).clamp(max=1.0), step, rate := learning_rate(options, step))
        loss, speed = total.item() / mesh.tensor / counting, options.batch / (time.monotonic() - began)
        progress_lines.step(step, loss, speed if step > reader.step + 1 else None, learning_rate=rate, gradient_norm=norm.item())
        if not writing:
            saver.finish()
        if folder and (saving or stopping):
            settle()
            saver.begin(step, training.pieces())
            due.wrote()
        if stopping or last:
            settle()
        if stopping and not last:
            progress_lines.event("stopped", step=step)
            dist.destroy_process_group()
            return STOPPED
    progress_lines.event("finished", step=options.steps)
    dist.destroy_process_group()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
