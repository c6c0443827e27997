"""The stack as Pulumi knows it: file, program, state, plans."""
