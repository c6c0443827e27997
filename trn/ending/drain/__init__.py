"""`trn drain`: empties a cluster of what Pulumi did not make, so that a destroy finds it idle."""
