"""AWS services that nodes reach, by the names of their endpoints."""

NODE_ENDPOINTS = ("ec2", "ecr.api", "ecr.dkr", "eks", "eks-auth", "sts")
"""Services that a node without a way to the internet must reach through interface endpoints before it can join and give its pods
an identity; beside them the gateway endpoint of S3, where images are kept (EKS user guide, private clusters)."""
