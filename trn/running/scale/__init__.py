"""`trn scale`: sets the size of one node group, and lists what is still billed."""
