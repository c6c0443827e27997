"""`trn rehearse chaos`: random faults against random clusters."""
