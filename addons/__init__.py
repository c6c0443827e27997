"""What runs in the cluster: one add-on per file, each with its values as a pure function."""
