"""What is checked, and what the checks may ask."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Protocol

from operations.aws.api import Api
from operations.stack_file import StackFile
from simulator.recording import Recording
from stacks.settings import Settings


class QuotaSubject(Protocol):
    """As much as the checks of quotas need."""

    @property
    def settings(self) -> Settings:
        """What the stack file says."""
        ...

    @property
    def api(self) -> Api:
        """The account."""
        ...

    @property
    def cluster(self) -> str:
        """The cluster's name."""
        ...

    @property
    def region(self) -> str:
        """The stack's region."""
        ...


@dataclass(frozen=True)
class Subject:
    """One stack, the account it is meant for, and the machine that will run `pulumi up`."""

    stack_file: StackFile
    settings: Settings
    recording: Recording
    """What the program would make."""
    api: Api
    today: date
    own_address: Callable[[], str]
    """The caller's public address. Raises OSError where it cannot be asked for."""
    tool_answer: Callable[[Sequence[str]], str]
    """What a command line tool prints. Raises OSError where it is missing or fails."""
    block_hours: int = 24
    """Length of the capacity blocks that are looked for, where a group lacks its own."""

    @property
    def cluster(self) -> str:
        """The cluster's name."""
        return self.settings.name

    @property
    def region(self) -> str:
        """The stack's region."""
        return self.settings.region
