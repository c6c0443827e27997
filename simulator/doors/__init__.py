"""The ways into the simulated account: the recorder of unit tests and rehearsals, and the providers of the real engine."""
