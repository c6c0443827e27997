"""Schedules that set the sizes of node groups: a schedule group, one role, and a schedule for each change of a size."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import pulumi
import pulumi_aws as aws

from components.component import Component
from components.identity import RoleArgs, role_in_use
from facts import names, regions
from facts.policies.schedules import schedule_policy, schedule_trust

EVENT_AGE_S = 1800
"""How long a call is tried again: EKS refuses a change of a group while another one goes on (EKS API, ResourceInUseException)."""


@dataclass(frozen=True)
class SizeChange:
    """One schedule: at its time the group is set to a size."""

    node_group: str
    direction: str
    """`up` or `down`; with the group's name the schedule's own."""
    size: int
    largest_size: int
    """EKS takes the limits and the size together: 1 and more."""
    expression: str
    """`at(...)` or `cron(...)`, as EventBridge Scheduler takes it."""
    time_zone: str = "UTC"

    @property
    def name(self) -> str:
        """Unique in the cluster."""
        return names.schedule_name(self.node_group, self.direction)


@dataclass(frozen=True)
class SizeSchedulesArgs:
    """What the schedules of a cluster are made from."""

    cluster_name: str
    region: str
    changes: Sequence[SizeChange]


def target_input(cluster: str, change: SizeChange) -> str:
    """Request of the call. Universal targets spell members with a capital: as EKS spells them, CreateSchedule refuses them
    (EventBridge Scheduler user guide, managing-targets-universal)."""
    sizes = {"MinSize": 0, "MaxSize": change.largest_size, "DesiredSize": change.size}
    return json.dumps({"ClusterName": cluster, "NodegroupName": change.node_group, "ScalingConfig": sizes}, sort_keys=True)


class SizeSchedules(Component):
    """All schedules of one cluster."""

    def __init__(
        self, name: str, args: SizeSchedulesArgs, *, after: Mapping[str, pulumi.Resource], opts: pulumi.ResourceOptions | None = None
    ) -> None:
        """`after`: the node groups, by name. Each schedule waits for its own, so that one that finds no capacity keeps none of the
        others from being emptied; it is deleted before it, so that it gives a group that is being deleted no nodes."""
        super().__init__("trn:components:SizeSchedules", name, opts)
        child = pulumi.ResourceOptions(parent=self)
        partition, group_name = regions.partition(args.region), names.schedule_group_name(args.cluster_name)
        role = role_in_use(
            name,
            "schedules",
            RoleArgs(
                role_name=names.role_name(args.cluster_name, args.region, "schedules"),
                trust=schedule_trust(partition, args.region, group_name),
                inline_policies={
                    "schedules": schedule_policy(
                        partition, args.region, args.cluster_name, sorted({change.node_group for change in args.changes})
                    )
                },
            ),
            child,
        )
        group = aws.scheduler.ScheduleGroup(self.named(name), name=group_name, opts=child)
        for change in args.changes:
            aws.scheduler.Schedule(
                self.named(f"{name}-{change.name}"),
                name=change.name,
                group_name=group.name,
                description=f"Sets {change.node_group} of {args.cluster_name} to {change.size} nodes",
                schedule_expression=change.expression,
                schedule_expression_timezone=change.time_zone,
                flexible_time_window={"mode": "OFF"},
                target={
                    "arn": f"arn:{partition}:scheduler:::aws-sdk:eks:updateNodegroupConfig",
                    "role_arn": role.arn,
                    "input": target_input(args.cluster_name, change),
                    "retry_policy": {"maximum_event_age_in_seconds": EVENT_AGE_S, "maximum_retry_attempts": 20},
                },
                opts=pulumi.ResourceOptions(parent=self, depends_on=[after[change.node_group], *role.grants]),
            )
        self.register_outputs({"group_name": group.name})
