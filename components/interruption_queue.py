"""The queue in which EC2 and AWS Health tell Karpenter of instances that are about to go."""

import json
from collections.abc import Mapping
from typing import Any

import pulumi
import pulumi_aws as aws

from components.component import Component

EVENTS: Mapping[str, tuple[str, str]] = {
    "health": ("aws.health", "AWS Health Event"),
    "spot-interruption": ("aws.ec2", "EC2 Spot Instance Interruption Warning"),
    "rebalance": ("aws.ec2", "EC2 Instance Rebalance Recommendation"),
    "instance-state": ("aws.ec2", "EC2 Instance State-change Notification"),
    "reservation-interruption": ("aws.ec2", "EC2 Capacity Reservation Instance Interruption Warning"),
}
"""Source and detail type of each rule (aws/karpenter-provider-aws v1.14.0, cloudformation.yaml)."""
RETENTION_S = 300
"""An older warning is of no use."""


def queue_policy(queue_arn: str) -> dict[str, Any]:
    """Only the event bus may send messages, and only over TLS."""
    return {
        "Version": "2012-10-17",
        "Statement": [
            {
                "Effect": "Allow",
                "Principal": {"Service": ["events.amazonaws.com", "sqs.amazonaws.com"]},
                "Action": "sqs:SendMessage",
                "Resource": queue_arn,
            },
            {
                "Effect": "Deny",
                "Principal": "*",
                "Action": "sqs:*",
                "Resource": queue_arn,
                "Condition": {"Bool": {"aws:SecureTransport": "false"}},
            },
        ],
    }


class InterruptionQueue(Component):
    """Queue, its policy, and a rule with a target for each kind of event."""

    ready: list[pulumi.Resource]
    """Without the policy and the targets no warning arrives."""

    def __init__(self, name: str, *, queue_name: str, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("trn:components:InterruptionQueue", name, opts)
        child = pulumi.ResourceOptions(parent=self)
        queue = aws.sqs.Queue(
            self.named(name), name=queue_name, message_retention_seconds=RETENTION_S, sqs_managed_sse_enabled=True, opts=child
        )
        policy = queue.arn.apply(lambda arn: json.dumps(queue_policy(arn), sort_keys=True))
        self.ready = [aws.sqs.QueuePolicy(self.named(name), queue_url=queue.url, policy=policy, opts=child)]
        for key, (source, detail_type) in EVENTS.items():
            rule = aws.cloudwatch.EventRule(
                self.named(f"{name}-{key}"),
                name=f"{queue_name}-{key}",
                event_pattern=json.dumps({"source": [source], "detail-type": [detail_type]}, sort_keys=True),
                opts=child,
            )
            target = aws.cloudwatch.EventTarget(
                self.named(f"{name}-{key}"), rule=rule.name, target_id="karpenter", arn=queue.arn, opts=child
            )
            self.ready.append(target)
        self.register_outputs({"queue_arn": queue.arn})
