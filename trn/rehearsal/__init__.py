"""Commands that rehearse: on the simulated cloud, without an account."""
