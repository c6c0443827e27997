"""The account behind boto3: real clients in front, the simulated account's own answers behind, no network between."""
