"""The engine as it behaves: its state, its plans, its runs with a virtual clock, its crashes, and the way back from them."""
