"""How a cluster ends: emptied, deleted, swept up after, and recovered from a run that was killed."""
