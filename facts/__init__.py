"""Pure data and functions about AWS, EKS, Neuron and Kubernetes: each fact in one place, with its source."""
