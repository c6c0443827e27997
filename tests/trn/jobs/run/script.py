"""A script of somebody's own."""

print("step")
