"""`trn engine`: the real Pulumi CLI against the simulated cloud."""
