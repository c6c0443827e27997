"""A plan of Pulumi's, judged: what it stops, and whether that is allowed."""
