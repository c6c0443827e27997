"""`trn status`: whether a cluster that is up has what its hardware and its configuration promise."""
