"""One way to change anything: a command that changes something is a value, and `executor.carry_out` carries every such value out."""
