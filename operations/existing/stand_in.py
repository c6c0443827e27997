"""What others keep, put into a simulated account that a stack is to come up in."""

from facts.existing.assumed import assumed_network
from facts.existing.network import NetworkDescription
from operations.engine.project import EngineFolder
from simulator.account.disk import AccountFolder, held
from simulator.account.existing import put_network
from simulator.account.places import subnet
from simulator.account.state import AccountState
from stacks.existing import asked_of_network
from stacks.settings import Settings


def stand_in(settings: Settings) -> NetworkDescription | None:
    """A network that has all that the stack asks; None where it makes its own."""
    asked = asked_of_network(settings)
    return assumed_network(asked) if asked is not None else None


def assumption(settings: Settings) -> list[str]:
    """What a rehearsal without a description says, one sentence or none."""
    existing = settings.network.existing
    if existing is None:
        return []
    described = "`trn network describe` writes what it is like, and `trn rehearse --existing FILE` reads that"
    return [f"{existing.vpc_id} is taken to be as the stack needs it: {described}"]


def put_missing(state: AccountState, settings: Settings) -> bool:
    """Put a stand-in into an account for what the stack uses of others and it lacks; whether something was put."""
    return _put_network(state, settings) | _put_boundary(state, settings)


def _put_network(state: AccountState, settings: Settings) -> bool:
    asked = asked_of_network(settings)
    if asked is None or all(_is_there(state, asked.vpc_id, subnet_id) for _, _, subnet_id in asked.places()):
        return False
    put_network(state, assumed_network(asked))
    return True


def _put_boundary(state: AccountState, settings: Settings) -> bool:
    arn = settings.iam.permissions_boundary
    if arn is None or arn in state.others.get("policy", {}):
        return False
    state.others.setdefault("policy", {})[arn] = {"Arn": arn}
    return True


def _is_there(state: AccountState, vpc_id: str, subnet_id: str) -> bool:
    found = subnet(state, subnet_id)
    return found is not None and found.inputs["vpcId"] == vpc_id


def account_for(*settings: Settings) -> AccountState:
    """An account with what these configurations use and do not make."""
    state = AccountState()
    for each in settings:
        put_missing(state, each)
    return state


def seed(folder: EngineFolder, settings: Settings) -> None:
    """Put what is missing into the account of a folder that no process holds. Raises AccountInUse, DamagedAccount."""
    if settings.network.existing is None and settings.iam.permissions_boundary is None:
        return
    with held(folder.account):
        state, kept = AccountState(), AccountFolder(folder.account)
        kept.load_into(state)
        if put_missing(state, settings):
            kept.save(state)
