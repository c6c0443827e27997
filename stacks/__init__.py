"""The stack: its configuration, and the composition of components and add-ons into one cluster."""
