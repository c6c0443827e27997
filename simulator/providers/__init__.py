"""The simulated cloud behind Pulumi's provider protocol: the real engine runs the real program with no account."""
