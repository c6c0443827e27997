"""`trn rehearse upgrade`: a Kubernetes upgrade in the virtual clock, with jobs on the nodes."""
