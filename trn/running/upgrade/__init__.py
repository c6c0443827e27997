"""`trn upgrade`: the cluster's Kubernetes, one minor after the other, in the order that version skew allows."""
