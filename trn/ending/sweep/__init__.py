"""`trn sweep`: what a cluster left in the account, found by exact tags and by its VPC, and deleted."""
