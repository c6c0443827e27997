"""`trn verify`: everything that `trn status` looks at, and what only shows when something runs: mounts, gangs, drivers, collectives."""
