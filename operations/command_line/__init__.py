"""The grammar of `trn`: which word on a line is the stack and which is not, help, completion, errors of usage and exit codes."""
