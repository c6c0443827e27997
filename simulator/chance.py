"""Chance that depends on nothing but a seed and a key: the same on every machine and in every order of calls."""

import hashlib


def fraction(seed: int, *key: str) -> float:
    """A number in [0, 1) for a key."""
    return int(digest(seed, *key)[:13], 16) / 16**13


def digest(seed: int, *key: str) -> str:
    """64 hexadecimal digits for a key."""
    return hashlib.sha256("\x1f".join((str(seed), *key)).encode()).hexdigest()


def triangular(low: float, typical: float, high: float, at: float) -> float:
    """The value below which a triangular distribution leaves the fraction `at`; `low` and `high` are its ends."""
    if high == low:
        return low
    corner = (typical - low) / (high - low)
    if at < corner:
        return low + ((high - low) * (typical - low) * at) ** 0.5
    return high - ((high - low) * (high - typical) * (1 - at)) ** 0.5
