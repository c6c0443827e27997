"""`trn rehearse change`: what a changed configuration would do to a cluster that is up."""
