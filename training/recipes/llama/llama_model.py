"""A Llama: RMS normalisation, rotary positions, grouped-query attention, gated feed-forward. One block is what FSDP shards at a time."""

import dataclasses

import torch
from torch import nn
from torch.nn import functional


@dataclasses.dataclass(frozen=True)
class Size:
    """One model. Source of `8b`: Llama team, The Llama 3 Herd of Models, 2024, table 3 (arXiv:2407.21783)."""

    layers: int
    hidden: int
    heads: int
    groups: int
    """Heads of keys and values."""
    intermediate: int
    vocabulary: int
    base: float = 500_000.0
    """Of the rotary frequencies."""


SIZES = {
    "8b": Size(layers=32, hidden=4096, heads=32, groups=8, intermediate=14_336, vocabulary=128_256),
    "tiny": Size(layers=2, hidden=64, heads=4, groups=2, intermediate=128, vocabulary=512),
}


class Norm(nn.Module):
    """RMS normalisation, in float32."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(width))

    def forward(self, inputs: torch.Tensor) -> torch.Tensor:
        """Of the last axis."""
        wide = inputs.float()
        return (wide * torch.rsqrt(wide.square().mean(-1, keepdim=True) + 1e-5)).to(inputs.dtype) * self.weight


class Block(nn.Module):
    """Attention and feed-forward, each added to what came in."""

    def __init__(self, size: Size) -> None:
        super().__init__()
        self.size, head = size, size.hidden // size.heads
        self.attention_norm, self.norm = Norm(size.hidden), Norm(size.hidden)
        self.query = nn.Linear(size.hidden, size.heads * head, bias=False)
        self.key = nn.Linear(size.hidden, size.groups * head, bias=False)
        self.value = nn.Linear(size.hidden, size.groups * head, bias=False)
        self.output = nn.Linear(size.heads * head, size.hidden, bias=False)
        self.gate = nn.Linear(size.hidden, size.intermediate, bias=False)
        self.up = nn.Linear(size.hidden, size.intermediate, bias=False)
        self.down = nn.Linear(size.intermediate, size.hidden, bias=False)

    def forward(self, hidden: torch.Tensor, turns: torch.Tensor) -> torch.Tensor:
        """hidden: (batch, sequence, hidden); turns: (2, sequence, head / 2), cosine and sine of each position."""
        batch, length, _ = hidden.shape
        inputs = self.attention_norm(hidden)
        query = _turned(self.query(inputs).view(batch, length, self.size.heads, -1), turns)
        key = _turned(self.key(inputs).view(batch, length, self.size.groups, -1), turns)
        value = self.value(inputs).view(batch, length, self.size.groups, -1)
        repeats = self.size.heads // self.size.groups
        key, value = key.repeat_interleave(repeats, 2), value.repeat_interleave(repeats, 2)
        attended = functional.scaled_dot_product_attention(
            query.transpose(1, 2), key.transpose(1, 2), value.transpose(1, 2), is_causal=True
        )
        hidden = hidden + self.output(attended.transpose(1, 2).reshape(batch, length, -1))
        inputs = self.norm(hidden)
        return hidden + self.down(functional.silu(self.gate(inputs)) * self.up(inputs))


def _turned(heads: torch.Tensor, turns: torch.Tensor) -> torch.Tensor:
    """Heads turned by their positions: (batch, sequence, heads, head)."""
    first, second = heads.float().chunk(2, -1)
    cosine, sine = turns[0][None, :, None], turns[1][None, :, None]
    return torch.cat([first * cosine - second * sine, first * sine + second * cosine], -1).to(heads.dtype)


class Llama(nn.Module):
    """The whole model; gives logits for the next token."""

    def __init__(self, size: Size) -> None:
        super().__init__()
        self.size = size
        self.tokens = nn.Embedding(size.vocabulary, size.hidden)
        self.blocks = nn.ModuleList(Block(size) for _ in range(size.layers))
        self.norm = Norm(size.hidden)
        self.logits = nn.Linear(size.hidden, size.vocabulary, bias=False)

    @torch.no_grad()
    def fill(self) -> None:
        """First weights: a normal distribution of 0.02; norms 1. Each worker fills its own shard."""
        for parameter in self.parameters():
            if parameter.ndim > 1:
                nn.init.normal_(parameter, std=0.02)
            else:
                nn.init.ones_(parameter)

    def forward(self, ids: torch.Tensor) -> torch.Tensor:
        """ids: int64 (batch, sequence)."""
        head = self.size.hidden // self.size.heads
        frequencies = self.size.base ** (-torch.arange(0, head, 2, device=ids.device, dtype=torch.float32) / head)
        angles = torch.arange(ids.shape[1], device=ids.device, dtype=torch.float32)[:, None] * frequencies
        turns, hidden = torch.stack([angles.cos(), angles.sin()]), self.tokens(ids)
        for block in self.blocks:
            hidden = block(hidden, turns)
        return self.logits(self.norm(hidden))
