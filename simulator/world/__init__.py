"""The simulated account: what exists in it, what it refuses and why, and what it suffers."""

from simulator.world.world import World

__all__ = ["World"]
