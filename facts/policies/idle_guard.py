"""What the idle guard may do: publish to one topic, and by choice read and resize the groups that it may empty. Nothing else of AWS."""

from collections.abc import Sequence

from facts.iam import Document, document


def idle_guard_policy(partition: str, region: str, cluster: str, topic_arn: str, groups: Sequence[str]) -> Document:
    """`groups`: those that it may empty; with none it may only publish. IAM cannot narrow an update of a group to its size."""
    statements: list[Document] = [{"Effect": "Allow", "Action": "sns:Publish", "Resource": topic_arn}]
    if groups:
        arns = [f"arn:{partition}:eks:{region}:*:nodegroup/{cluster}/{group}/*" for group in groups]
        statements.append({"Effect": "Allow", "Action": ["eks:DescribeNodegroup", "eks:UpdateNodegroupConfig"], "Resource": arns})
    return document(*statements)
