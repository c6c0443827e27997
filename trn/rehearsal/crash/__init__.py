"""`trn rehearse crash`: the run killed at every resource."""
