"""The simulated cloud: records what a Pulumi program asks for, and rehearses it with a virtual clock."""
