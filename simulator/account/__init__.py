"""The simulated account: what exists in it, what it refuses and why, and what it suffers."""

from simulator.account.world import World

__all__ = ["World"]
