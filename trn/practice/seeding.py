"""What a stack uses and does not make, put into the account that it is practised in."""

from simulator.account.disk import AccountFolder, held
from simulator.account.state import AccountState
from stacks.external import asked_of, log_bucket
from stacks.settings import Settings
from trn.engine.assumed_account import put_missing
from trn.practice.engine.project import EngineFolder


def seed(folder: EngineFolder, settings: Settings) -> None:
    """Put what is missing into the account of a folder that no process holds. Raises AccountInUse, DamagedAccount."""
    own_only = asked_of(settings).is_nothing and log_bucket(settings) is None
    if own_only and settings.iam.permissions_boundary is None and not settings.iam.roles:
        return
    with held(folder.account):
        state, kept = AccountState(), AccountFolder(folder.account)
        kept.load_into(state)
        if put_missing(state, settings):
            kept.save(state)
