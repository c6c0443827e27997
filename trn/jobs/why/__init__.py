"""`trn why`: the one thing that holds a job up, and the next command."""
