"""Which engine has a stack in practice: the one that brought it up keeps it until it is down."""

import shutil
from typing import Literal

from simulator.engine.disk import StateFolder
from trn.engine.stack_file import StackFile
from trn.practice.engine.project import EngineFolder

EngineName = Literal["pulumi", "rehearsal"]


def engine_of(folder: EngineFolder, stack_file: StackFile) -> EngineName | None:
    """The engine in whose state the stack is; None where it was never brought up, or is down again."""
    if StateFolder(folder.rehearsal).exists:
        return "rehearsal"
    return "pulumi" if folder.has_stack(stack_file) else None


def engine_for(folder: EngineFolder, stack_file: StackFile) -> EngineName:
    """The engine that runs the next `up`: the stack's own, else the Pulumi CLI where it is on PATH."""
    return engine_of(folder, stack_file) or ("pulumi" if shutil.which("pulumi") else "rehearsal")
