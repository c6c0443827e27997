"""`trn top`: NeuronCores and device memory of many nodes in one view."""
