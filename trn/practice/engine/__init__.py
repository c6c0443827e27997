"""Runs of the Pulumi CLI on a simulated account."""
