"""What runs in the cluster: one folder per add-on, with its settings, declaration, values and contract."""
