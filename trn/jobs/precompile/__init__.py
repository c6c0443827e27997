"""`trn precompile`: the compile cache of a job, filled before it starts."""
