"""What is not deleted because something that others made in the account holds it."""

from facts.typed import typed
from simulator.account import kinds
from simulator.account.neighbours import holders
from simulator.account.rule import Refusal, rule
from simulator.account.state import AccountState
from simulator.recording import Registration

_KINDS = {
    kinds.VPC: "vpc",
    kinds.SUBNET: "subnet",
    kinds.SECURITY_GROUP: "group",
    kinds.ADDRESS: "address",
    kinds.PLACEMENT_GROUP: "placement group",
    kinds.COMPUTE_ENVIRONMENT: "environment",
}


@rule("delete", *_KINDS, source="EC2 and Batch APIs, the Delete actions: DependencyViolation, InUse")
def held_by_others(state: AccountState, request: Registration) -> Refusal | None:
    """What others put into a VPC, a subnet or a group holds it: only they delete their own."""
    found = list(holders(lambda kind: state.others.get(kind, {}), _KINDS[request.type], request.id))
    if not found:
        return None
    return Refusal(
        found[0][0],
        f"resource {request.id} has a dependent object",
        f"held by {', '.join(which for _, which in found[:3])}, which this program did not make",
        f"ask their owner to delete them; then `{typed('pulumi destroy')}` again",
    )
