"""`trn cancel`: ends a job, with a checkpoint where it keeps any."""
