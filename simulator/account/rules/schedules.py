"""When instances of a capacity block can be launched, and what EventBridge Scheduler takes as a schedule."""

import json

from simulator.account import kinds, view
from simulator.account.rule import Refusal, rule
from simulator.account.rules.capacity import not_launched, replace_after
from simulator.account.state import AccountState
from simulator.recording import Registration
from simulator.size_schedules import CALL

_NEEDED = ("ClusterName", "NodegroupName")


@rule(
    "settle",
    kinds.NODE_GROUP,
    source="EKS user guide, capacity-blocks-mng; EC2 API, error codes InvalidCapacityReservationState.PendingActivation, ReservationCapacityExceeded",
)
def block_is_active(state: AccountState, request: Registration) -> Refusal | None:
    """Instances are launched into a capacity block from its start until 30 minutes before its end, and at no other time."""
    target = (view.template_of(state, request).get("capacityReservationSpecification") or {}).get("capacityReservationTarget") or {}
    block_id = str(target.get("capacityReservationId"))
    block = state.allowances.blocks.get(block_id)
    if block is None or state.now is None or not view.desired_size(request) or block.holds(state.now):
        return None
    name = request.inputs["nodeGroupName"]
    if state.now < block.starts:
        return not_launched(
            "InvalidCapacityReservationState.PendingActivation",
            "Your Capacity Block is not active yet.",
            f"{name} asks for {view.desired_size(request)} nodes of {block_id}, which begins at {block.starts:%Y-%m-%d %H:%M} UTC",
            replace_after(f"set `nodeGroups.{name}.capacityBlock`, with which the group goes up at the start by itself", request),
        )
    return not_launched(
        "ReservationCapacityExceeded",
        "The requested reservation does not have sufficient compatible and available capacity for this request.",
        f"{name} asks for {view.desired_size(request)} nodes of {block_id}, out of which EC2 takes instances"
        f" from {block.terminates:%Y-%m-%d %H:%M} UTC on",
        replace_after("extend the block, or buy another one and set its id and times", request),
    )


@rule("create", kinds.SCHEDULE, source="EventBridge Scheduler API, CreateSchedule; user guide, managing-targets-universal")
def schedule_input(state: AccountState, request: Registration) -> Refusal | None:
    """A schedule that calls EKS names cluster and group as the AWS SDK for Java spells members: with a capital."""
    target = request.inputs["target"]
    if not str(target["arn"]).endswith(CALL):
        return None
    given = json.loads(target.get("input") or "{}")
    lacks = [member for member in _NEEDED if member not in given]
    if not lacks:
        return None
    text = f"The input of the target is missing the following field(s): {', '.join(lacks)}."
    cause = f"{request.name} has {', '.join(sorted(given)) or 'no members'}: EventBridge Scheduler spells members with a capital"
    return Refusal("ValidationException", text, cause, "write ClusterName, NodegroupName and ScalingConfig")


@rule("create", kinds.SCHEDULE, source="EventBridge Scheduler user guide, setting-up, execution role")
def schedule_role(state: AccountState, request: Registration) -> Refusal | None:
    """EventBridge Scheduler must be able to take on the role of a schedule when it is made."""
    arn = str(request.inputs["target"]["roleArn"])
    trusts = [item.inputs["assumeRolePolicy"] for item in state.ready(kinds.ROLE) if item.outputs.get("arn") == arn]
    trusts += [entry.get("AssumeRolePolicyDocument") for entry in state.others.get("role", {}).values() if entry.get("Arn") == arn]
    if any("scheduler.amazonaws.com" in str(trust) for trust in trusts):
        return None
    return Refusal(
        "ValidationException",
        "The execution role you provide must allow AWS EventBridge Scheduler to assume the role.",
        f"{arn} does not exist, or does not trust scheduler.amazonaws.com",
        "let the role's trust name scheduler.amazonaws.com",
    )
