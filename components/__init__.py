"""The AWS parts of the cluster: one Pulumi component in each file."""
