"""How many tensors travel in one message: a gradient of 1.3 GB in one piece would need as much memory again. Standard library only."""

LIMIT_BYTES = 25 * 2**20
"""As PyTorch's DistributedDataParallel takes by default (bucket_cap_mb)."""


def of(sizes: list[int], limit: int = LIMIT_BYTES) -> list[range]:
    """Ranges of tensors by their sizes in bytes, in order: each message has at most `limit`, or one tensor that is larger."""
    found, first, held = list[range](), 0, 0
    for number, size in enumerate(sizes):
        if number > first and held + size > limit:
            found.append(range(first, number))
            first, held = number, 0
        held += size
    return [*found, range(first, len(sizes))] if sizes else []
