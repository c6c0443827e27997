"""What is checked, and what the checks may ask."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date

from simulator.recording import Recording
from trn.engine.quotas import StackInAccount
from trn.engine.stack_file import StackFile


@dataclass(frozen=True, kw_only=True)
class Subject(StackInAccount):
    """The stack's file and recording besides, and the machine that will run `pulumi up`."""

    stack_file: StackFile
    recording: Recording
    """What the program would make."""
    today: date
    own_address: Callable[[], str]
    """The caller's public address. Raises OSError where it cannot be asked for."""
    tool_answer: Callable[[Sequence[str]], str]
    """What a command line tool prints. Raises OSError where it is missing or fails."""
    block_hours: int = 24
    """Length of the capacity blocks that are looked for, where a group lacks its own."""
