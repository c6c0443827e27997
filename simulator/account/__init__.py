"""The simulated account: what exists in it, what it refuses and why, and what follows from each change."""
