"""Practice: the commands of `trn` against a simulated account that is kept on disk."""
