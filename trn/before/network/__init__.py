"""`trn network`: a network that others keep and a stack uses."""
