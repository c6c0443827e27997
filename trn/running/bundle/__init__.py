"""`trn bundle`: one archive of all that can be read about a stack, for a bug report or a colleague, without its secrets."""
