"""Pictures of a rehearsal: its timeline, the network and cluster it made, and one page with everything in it."""
