"""What is done with a cluster that is up: looks at it, sizes, versions, nodes."""
