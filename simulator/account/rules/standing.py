"""What is wrong with objects that an earlier run left and that the engine treats as finished."""

from facts.typed import made_again
from simulator.account import kinds
from simulator.account.rule import Refusal, rule
from simulator.account.state import AccountState
from simulator.recording import Registration


@rule(
    "verify",
    kinds.NODE_GROUP,
    source="pulumi/pulumi 3.260, seen: an update after a failed creation clears its error; EKS never tries again",
)
def group_is_active(state: AccountState, request: Registration) -> Refusal | None:
    """A node group that failed stays CREATE_FAILED, also when a later run ends well: only a replacement fixes it."""
    existing = state.find(kinds.NODE_GROUP, request.id)
    if existing is None or existing.status != "failed":
        return None
    return Refusal(
        "CREATE_FAILED",
        f"node group {request.id} has no nodes",
        f"{request.inputs['nodeGroupName']} failed in an earlier run, and the state takes it for made",
        f"`{made_again(request.urn)}`",
        remedy="replace",
    )


@rule("update", kinds.NODE_GROUP, source="EKS API, UpdateNodegroupConfig, ResourceInUseException")
def group_can_change(state: AccountState, request: Registration) -> Refusal | None:
    """A node group that is not active takes no change."""
    existing = state.find(kinds.NODE_GROUP, request.id)
    if existing is None or existing.status != "failed" or existing.registration.inputs == request.inputs:
        return None
    return Refusal(
        "ResourceInUseException",
        "Nodegroup cannot be updated as it is currently not in Active State",
        f"{request.inputs['nodeGroupName']} failed in an earlier run",
        f"`{made_again(request.urn)}`",
        remedy="replace",
    )
