"""Everything of a description put into an account: neighbours that the program uses and never makes."""

from facts.existing.description import Description
from simulator.account.existing import put_network
from simulator.account.existing_file_system import put_file_system
from simulator.account.state import AccountState


def put_existing(state: AccountState, found: Description) -> None:
    """Put what is described into the account."""
    if found.network is not None:
        put_network(state, found.network)
    if found.file_system is not None:
        put_file_system(state, found.file_system)
