"""`trn init`: a stack file from a few answers."""
