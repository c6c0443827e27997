"""Jobs as the cluster has them, of whatever launcher."""
