"""`trn run`: a script of one's own, as a job of the stack's cluster."""
