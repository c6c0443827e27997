"""The namespace of the program's keys in a stack file."""

NAMESPACE = "trn"
"""`trn:region`. In a file of its own: what only looks at a stack file needs no SDK."""
