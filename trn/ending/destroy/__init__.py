"""`trn destroy`: drain, `pulumi destroy`, sweep, in one command that may be run again after any failure."""
