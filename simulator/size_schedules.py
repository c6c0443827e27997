"""What a recorded schedule does to a node group."""

import json
from typing import NamedTuple

from simulator.recording import Registration

CALL = ":scheduler:::aws-sdk:eks:updateNodegroupConfig"
"""End of the target's ARN of schedules that size node groups."""


class Sizing(NamedTuple):
    """One call of EKS."""

    cluster: str
    group: str
    size: int


def sizing_of(schedule: Registration) -> Sizing | None:
    """The group and the size that a schedule asks for; None for one that calls something else."""
    target = schedule.inputs["target"]
    if not str(target["arn"]).endswith(CALL):
        return None
    asked = json.loads(target["input"])
    return Sizing(str(asked["ClusterName"]), str(asked["NodegroupName"]), int(asked["ScalingConfig"]["DesiredSize"]))
