"""What is known about each resource type, written once: one file per AWS service, one value per Pulumi type token."""
