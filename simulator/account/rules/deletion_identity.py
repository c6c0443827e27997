"""What IAM refuses to delete: a role that still has policies."""

from facts.typed import typed
from simulator.account import kinds
from simulator.account.rule import Refusal, rule
from simulator.account.state import AccountState
from simulator.account.timeouts import ROLE_S
from simulator.recording import Registration


@rule("delete", kinds.ROLE, source="IAM API, DeleteRole, DeleteConflict; terraform-provider-aws internal/service/iam/role.go")
def role_has_policies(state: AccountState, request: Registration) -> Refusal | None:
    """A role stays while a policy is in it or attached to it; Pulumi deletes only the policies that its state knows."""
    parts = {kinds.ROLE_POLICY: "delete policies", kinds.ROLE_ATTACHMENT: "detach all policies"}
    for kind, first in parts.items():
        held = [item.registration for item in state.existing(kind) if item.registration.inputs["role"] == request.id]
        if held:
            cause = f"{held[0].name} is still there: a run that was killed may have made it after its last entry in the state"
            text = f"Cannot delete entity, must {first} first."
            fix = f"`{typed('trn sweep --delete')}` deletes the role with its policies; then `{typed('pulumi destroy')}` again"
            return Refusal("DeleteConflict", text, cause, fix, retry_s=ROLE_S, remedy="sweep")
    return None
