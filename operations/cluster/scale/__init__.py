"""`trn scale`: sets the size of one node group, and says what goes on billing."""
