"""`trn watch`: how far a training is, from its log alone."""
