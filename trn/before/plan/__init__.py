"""`trn plan`: what the next `pulumi up` does to the running cluster, and which jobs it stops."""
