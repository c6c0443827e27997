"""`trn recover`: the way back from a run that was killed, by importing what it had made."""
