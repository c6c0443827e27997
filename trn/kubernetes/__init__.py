"""The cluster's API server: a client behind a small protocol, jobs, pods, and why they wait."""
