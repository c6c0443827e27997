"""The account behind the Kubernetes API: what the API server of the simulated cluster holds, request by request."""
