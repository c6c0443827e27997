"""AWS building blocks of the cluster, one thing per file; each a Pulumi component."""
