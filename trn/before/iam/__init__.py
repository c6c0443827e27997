"""Least-privilege IAM documents for those who bring a cluster up and those who look after it."""
