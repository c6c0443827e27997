"""Pages and pictures of a cluster, a rehearsal, a change and a training."""
