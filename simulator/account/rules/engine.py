"""What the engine itself refuses, or leaves, because the program asked for it."""

from facts.typed import typed
from simulator.account.rule import Refusal, rule
from simulator.account.state import AccountState
from simulator.recording import Registration


@rule("delete", "*", source="pulumi/pulumi pkg/resource/deploy, resource option protect")
def protected(state: AccountState, request: Registration) -> Refusal | None:
    """A protected resource is not deleted; one with retainOnDelete is forgotten and stays in the account."""
    if not request.options.get("protect"):
        return None
    unprotect = typed(f"pulumi state unprotect '{request.urn}'")
    return Refusal(
        "error",
        f'resource "{request.urn}" cannot be deleted because it is protected',
        f"{request.name} has the option protect",
        f"`{unprotect}`, then `{typed('pulumi destroy')}`",
    )
