"""What a stack is given and does not make, read from the account or from a description."""
