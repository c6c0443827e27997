"""What EventBridge Scheduler may do for a cluster: set the size of the node groups that have schedules, and nothing else.

Source: EventBridge Scheduler user guide, cross-service-confused-deputy-prevention and managing-targets-universal, November 2026.
"""

from collections.abc import Sequence

from facts.iam import Document, document

PRINCIPAL = "scheduler.amazonaws.com"


def schedule_trust(partition: str, region: str, group: str) -> Document:
    """Trust of the role: schedules of one schedule group only. The account is a wildcard, since it is not known before the role."""
    return document(
        {
            "Effect": "Allow",
            "Principal": {"Service": PRINCIPAL},
            "Action": "sts:AssumeRole",
            "Condition": {"ArnLike": {"aws:SourceArn": f"arn:{partition}:scheduler:{region}:*:schedule-group/{group}"}},
        }
    )


def schedule_policy(partition: str, region: str, cluster: str, node_groups: Sequence[str]) -> Document:
    """One call, on these node groups of this cluster."""
    return document(
        {
            "Effect": "Allow",
            "Action": "eks:UpdateNodegroupConfig",
            "Resource": [f"arn:{partition}:eks:{region}:*:nodegroup/{cluster}/{name}/*" for name in sorted(node_groups)],
        }
    )
