"""Programs that run in pods of their own: Python's standard library only."""
