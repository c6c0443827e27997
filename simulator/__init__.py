"""The simulated cloud: records a Pulumi program, rehearses it in virtual time."""
