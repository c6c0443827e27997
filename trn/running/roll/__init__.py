"""`trn roll`: replaces the nodes of one group at a time that its jobs agree to."""
