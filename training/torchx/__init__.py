"""TorchX on the stack's cluster: a component and named resources. Nothing of the program imports it; TorchX is in the extra `trn[torchx]`."""
