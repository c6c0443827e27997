"""A Kubernetes control plane on this machine, built from Go modules: for the tests, and for practice with a real API server."""
