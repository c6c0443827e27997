"""What others made and a stack may use: how it is described, what a stack asks of it, and what is wrong with it."""
