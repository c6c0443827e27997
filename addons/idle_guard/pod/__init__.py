"""What runs in the guard's pod, with Python's standard library only. The files lie in the pod side by side, as a package."""
