"""Names that the shell completes. Each loads as little as it can: it runs at every press of the key."""

from operations.stack_names import stacks_here


def stacks(incomplete: str) -> list[str]:
    """Stacks with a file in the nearest project."""
    return [name for name in stacks_here() if name.startswith(incomplete)]
