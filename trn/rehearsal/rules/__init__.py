"""`trn rehearse rules`: what the simulated cloud refuses."""
