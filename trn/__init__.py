"""The `trn` command line: what Pulumi does not see."""
