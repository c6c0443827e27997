"""What `trn` asks of the cluster's API server, through the official client."""
