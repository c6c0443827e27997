"""What is done before a cluster is up: a stack file, its cost, capacity, checks, plans, and taking a cluster over."""
