"""`trn logs`: the last lines of every worker of a job."""
