"""`trn check`: everything that can be known before money flows."""
