"""`trn shell`: a shell in a pod of the cluster."""
