"""Llama 3 and Qwen3 in PyTorch: plain modules whose tensors are divided over a mesh by DTensor and FSDP2.

Between layers positions are divided over `tensor`, within a layer heads and feed-forward units are: sequence and tensor parallelism, as
in llama_jax.py. Each layer is computed again on the way back, and logits exist for some positions at a time. Without a tensor axis the same
lines run on plain tensors.
"""

from functools import partial

import torch
from torch import nn
from torch.distributed.device_mesh import DeviceMesh
from torch.distributed.tensor import DTensor, Partial, Placement, Replicate, Shard, distribute_tensor
from torch.nn import functional
from torch.utils.checkpoint import checkpoint

from first_values import frequencies
from llama_options import LORA_SCALE, Options, Shape
from llama_weights import Weight, block_weights, is_trained, outer_weights

QUERIES = 1024
"""Queries whose attention exists at a time; training/memory.py counts on it."""


class Tensors(nn.Module):
    """Tensors by the names of llama_weights.py, without values yet: each is made with what one device has of it."""

    def __init__(self, described: dict[str, Weight], options: Options, mesh: DeviceMesh | None) -> None:
        super().__init__()
        self.described = described
        for name, weight in described.items():
            made = torch.empty(weight.shape, device="meta")
            if mesh is not None:
                made = distribute_tensor(made, mesh, [Replicate() if weight.tensor is None else Shard(weight.tensor)])
            self.register_parameter(name, nn.Parameter(made, requires_grad=is_trained(name, options.lora)))


class Block(Tensors):
    """Attention and feed-forward, each added to what came in."""

    def __init__(self, options: Options, mesh: DeviceMesh | None) -> None:
        super().__init__(dict(block_weights(options.shape, options.lora)), options, mesh)
        self.options, self.mesh = options, mesh

    def forward(self, hidden: torch.Tensor, turns: torch.Tensor) -> torch.Tensor:
        """hidden: (batch, sequence, hidden); turns: float32 (2, sequence, head / 2), cosine and sine of each position."""
        if self.options.checkpoint_activations:
            return checkpoint(self._computed, hidden, turns, use_reentrant=False)
        return self._computed(hidden, turns)

    def _computed(self, hidden: torch.Tensor, turns: torch.Tensor) -> torch.Tensor:
        shape = self.options.shape
        inputs = placed(norm(hidden, self.attention_norm, shape), Replicate())
        query, key, value = (self._heads(inputs, name) for name in ("query", "key", "value"))
        if shape.head_norms:
            query, key = norm(query, self.query_norm, shape), norm(key, self.key_norm, shape)
        attended = attention(local(query), local(key), local(value), turns)
        attended = attended if self.mesh is None else DTensor.from_local(attended, self.mesh, [Shard(2)], run_check=False)
        hidden = hidden + placed(self._product(attended, "output"), Shard(1))
        inputs = placed(norm(hidden, self.norm, shape), Replicate())
        raised = functional.silu(self._product(inputs, "gate")) * self._product(inputs, "up")
        return hidden + placed(self._product(raised, "down"), Shard(1))

    def _heads(self, inputs: torch.Tensor, name: str) -> torch.Tensor:
        """(batch, sequence, heads, head); each device of `tensor` has some of the heads."""
        return self._product(inputs, name).unflatten(-1, (-1, self.options.shape.head))

    def _product(self, inputs: torch.Tensor, name: str) -> torch.Tensor:
        weight = getattr(self, name)
        if self.options.lora:
            # As parts of one product: the change has the weight's form, and is small against the inputs' product.
            weight = weight + LORA_SCALE * (getattr(self, f"{name}_up").t() @ getattr(self, f"{name}_down"))
        return functional.linear(inputs, weight)


class Llama(Tensors):
    """The whole model; gives the sum of the losses of all labels that count."""

    def __init__(self, options: Options, mesh: DeviceMesh | None) -> None:
        super().__init__(dict(outer_weights(options.shape)), options, mesh)
        self.options, self.mesh = options, mesh
        self.blocks = nn.ModuleList(Block(options, mesh) for _ in range(options.shape.layers))

    def forward(self, ids: torch.Tensor, counted: torch.Tensor) -> torch.Tensor:
        """ids: int64 (batch, sequence + 1); counted: float32 (batch, sequence)."""
        hidden, labels = self.states(ids[:, :-1]), ids[:, 1:]
        head = self.tokens if self.options.shape.tied else self.head
        total = hidden.new_zeros((), dtype=torch.float32)
        for first in range(0, labels.shape[1], self.options.chunk):
            part = slice(first, first + self.options.chunk)
            total = total + checkpoint(
                partial(self._loss, head=head), hidden[:, part], labels[:, part], counted[:, part], use_reentrant=False
            )
        return total

    def states(self, ids: torch.Tensor) -> torch.Tensor:
        """The last state of each position, normalised, whole on each device of `tensor`: (batch, sequence, hidden)."""
        shape = self.options.shape
        angles = torch.arange(ids.shape[1], dtype=torch.float32)[:, None] * torch.from_numpy(frequencies(shape))
        turns = torch.stack([angles.cos(), angles.sin()]).to(ids.device)
        if self.mesh is not None:
            ids = DTensor.from_local(ids, self.mesh, [Replicate()], run_check=False)
        hidden = placed(functional.embedding(ids, self.tokens), Shard(1))
        for block in self.blocks:
            hidden = block(hidden, turns)
        return local(placed(norm(hidden, self.last_norm, shape), Replicate()))

    def _loss(self, hidden: torch.Tensor, labels: torch.Tensor, counted: torch.Tensor, head: torch.Tensor) -> torch.Tensor:
        """Of some positions. Logits are divided over `tensor`: each device adds up its own part of the vocabulary."""
        if self.mesh is None:
            found = functional.cross_entropy(functional.linear(hidden, head).float().flatten(0, 1), labels.flatten(), reduction="none")
            return (found * counted.flatten()).sum()
        inputs = DTensor.from_local(hidden, self.mesh, [Replicate()], run_check=False)
        logits = functional.linear(inputs, head).float()
        # The largest logit is only subtracted: nothing flows back through it.
        top = placed(logits.detach().amax(-1, keepdim=True), Replicate())
        spread = placed((logits - top).exp().sum(-1), Replicate()).log()
        mine = local(logits - top)
        first = self.mesh.get_local_rank() * mine.shape[-1]
        at = labels - first
        inside = (at >= 0) & (at < mine.shape[-1])
        own = mine.gather(-1, at.clamp(0, mine.shape[-1] - 1)[..., None])[..., 0] * inside
        own = placed(DTensor.from_local(own, self.mesh, [Partial()], run_check=False), Replicate())
        return (local(spread - own) * counted).sum()


def placed(tensor: torch.Tensor, where: Placement) -> torch.Tensor:
    """A tensor placed on the devices of `tensor`; as it is where there is one device."""
    return tensor.redistribute(placements=[where]) if isinstance(tensor, DTensor) else tensor


def local(tensor: torch.Tensor) -> torch.Tensor:
    """What this device has of a tensor."""
    return tensor.to_local() if isinstance(tensor, DTensor) else tensor


def norm(inputs: torch.Tensor, weight: torch.Tensor, shape: Shape) -> torch.Tensor:
    """RMS normalisation of the last axis, in float32."""
    wide = inputs.float()
    return (wide * torch.rsqrt(wide.square().mean(-1, keepdim=True) + shape.epsilon)).to(inputs.dtype) * weight


def turned(heads: torch.Tensor, turns: torch.Tensor) -> torch.Tensor:
    """Heads turned by their positions; the first half of a head and the second are a pair, as in Hugging Face's models."""
    first, second = heads.float().chunk(2, -1)
    cosine, sine = turns[0][None, :, None], turns[1][None, :, None]
    return torch.cat([first * cosine - second * sine, second * cosine + first * sine], -1).to(heads.dtype)


def attention(query: torch.Tensor, key: torch.Tensor, value: torch.Tensor, turns: torch.Tensor) -> torch.Tensor:
    """Each position looks at itself and those before; some queries at a time: (batch, sequence, heads x head) of this device."""
    query, key = turned(query, turns), turned(key, turns)
    repeats = query.shape[2] // key.shape[2]
    query, key, value = (each.transpose(1, 2) for each in (query, key.repeat_interleave(repeats, 2), value.repeat_interleave(repeats, 2)))
    parts = []
    for first in range(0, query.shape[2], QUERIES):
        last = min(first + QUERIES, query.shape[2])
        parts.append(checkpoint(_some, query[:, :, first:last], key[:, :, :last], value[:, :, :last], use_reentrant=False))
    return torch.cat(parts, 2).transpose(1, 2).flatten(2)


def _some(query: torch.Tensor, key: torch.Tensor, value: torch.Tensor) -> torch.Tensor:
    behind = key.shape[2] - query.shape[2]
    places = torch.arange(key.shape[2], device=query.device)
    seen = places[None] <= behind + torch.arange(query.shape[2], device=query.device)[:, None]
    scores = (query @ key.transpose(2, 3)).float() / query.shape[-1] ** 0.5
    return functional.softmax(scores.masked_fill(~seen, float("-inf")), -1).to(value.dtype) @ value
