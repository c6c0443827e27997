"""Every command of `trn`, one row each: the command line, its help and completion, docs/operations.md and practice derive from it.

A row names its function and imports nothing. What the command says of itself (sentence, example, options) is in the function's docstring and signature.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import Enum
from functools import cached_property
from importlib import import_module
from typing import Any, get_type_hints

from typer.models import ArgumentInfo

from trn.cli.placement import StackUse


class InPractice(Enum):
    """What a command is where there is no account."""

    SIMULATED = "`trn --practice` does it to the stack's simulated account"
    OWN = "it acts on simulated accounts only"
    SAME = "it needs no account"
    NONE = "it is for AWS alone"


@dataclass(frozen=True)
class CommandEntry:
    """One command."""

    place: str
    """Its words behind `trn`."""
    run: str
    """Module below `trn`, and the function in it."""
    asks: tuple[str, ...] = ()
    """What it reads or changes beyond this machine, of OUTSIDE; with some options less."""
    changes: bool = False
    """Whether it changes a cluster or an account on AWS, or writes a file by what it saw of one: then it is in the matrix of tests/trn/change."""
    in_practice: InPractice = InPractice.SIMULATED
    stack: StackUse = StackUse.NEEDED
    unchecked: Mapping[str, str] = field(default_factory=dict)
    """Names that need not be there, such as the stack's, by the option with which; empty for never looked up."""
    file_hint: str = ""
    """What to name in place of a file that is not there."""
    settings: Mapping[str, Any] = field(default_factory=dict)
    """How typer reads its words, where that is not as usual."""
    next: tuple[str, ...] = ()
    """Places of the commands that usually follow."""

    @cached_property
    def function(self) -> Callable[..., int]:
        """What it does."""
        module, _, name = self.run.partition(":")
        return getattr(import_module(f"trn.{module}"), name)

    @property
    def name(self) -> str:
        """Its last word."""
        return self.place.rpartition(" ")[2]

    @property
    def takes_words(self) -> bool:
        """Whether it has arguments beside the stack."""
        hints = get_type_hints(self.function, include_extras=True).values()
        return any(isinstance(note, ArgumentInfo) for hint in hints for note in getattr(hint, "__metadata__", ()))

    def skips(self, what: str, given: Mapping[str, Any]) -> bool:
        """Whether a name is not looked up, with these options."""
        return what in self.unchecked and bool(not self.unchecked[what] or given.get(self.unchecked[what]))


@dataclass(frozen=True)
class GroupEntry:
    """A word that is no command itself, and has commands below it."""

    place: str
    help: str
    example: str


_AWS, _CLUSTER, _STATE = OUTSIDE = ("AWS", "the API server", "Pulumi's state")
_OWN, _SAME, _NONE = InPractice.OWN, InPractice.SAME, InPractice.NONE
_JOB_FILE = "name a job file; docs/jobs.md has one"
_PASSES_ON = {"ignore_unknown_options": True, "allow_interspersed_args": False}
"""Everything behind the command's own options is for another program."""
_Rows = tuple[CommandEntry | GroupEntry, ...]
SECTIONS: Mapping[str, _Rows] = {
    "Every day": (
        CommandEntry("rehearse", "rehearsal.command:rehearse", in_practice=_SAME, next=("check",)),
        CommandEntry("rehearse rules", "rehearsal.rules.command:rules", in_practice=_SAME, stack=StackUse.NONE),
        CommandEntry("rehearse crash", "rehearsal.crash.command:crash", in_practice=_SAME),
        CommandEntry("rehearse chaos", "rehearsal.chaos.command:chaos", in_practice=_SAME, stack=StackUse.NONE),
        CommandEntry("rehearse change", "rehearsal.change.command:change", in_practice=_SAME),
        CommandEntry("rehearse upgrade", "running.upgrade.rehearsed.command:upgrade", in_practice=_SAME, next=("upgrade",)),
        CommandEntry("rehearse calendar", "rehearsal.calendar.command:calendar", in_practice=_SAME, next=("capacity calendar",)),
        CommandEntry("init", "before.init.command:init", in_practice=_SAME, stack=StackUse.NEW, next=("cost", "rehearse", "check")),
        CommandEntry("cost", "before.cost.command:cost"),
        CommandEntry("check", "before.check.command:check", asks=(_AWS, _STATE), changes=True, next=("plan", "capacity find")),
        CommandEntry("status", "running.status.command:status", asks=(_AWS, _CLUSTER), next=("verify", "jobs")),
        CommandEntry(
            "submit", "jobs.submit.command:submit", asks=OUTSIDE, changes=True, file_hint=_JOB_FILE, next=("watch", "why", "logs", "cancel")
        ),
        CommandEntry(
            "run", "jobs.run.command:run", asks=OUTSIDE, changes=True, next=("watch", "why", "logs", "cancel")
        ),
        CommandEntry("jobs", "jobs.listing.command:jobs", asks=(_AWS, _CLUSTER), next=("why", "logs")),
        CommandEntry("why", "jobs.why.command:why", asks=(_AWS, _CLUSTER)),
        CommandEntry(
            "watch", "jobs.watch.command:watch", asks=(_AWS, _CLUSTER), unchecked={"stack": "log"}, file_hint="name a file that holds a job's log"
        ),
        CommandEntry("logs", "jobs.logs.command:logs", asks=(_AWS, _CLUSTER)),
        CommandEntry("cancel", "jobs.cancel.command:cancel", asks=OUTSIDE, changes=True),
    ),
    "Jobs and data": (
        CommandEntry(
            "lint", "jobs.lint.command:lint", in_practice=_SAME, stack=StackUse.OPTIONAL, file_hint="name a manifest, or - for standard input",
            next=("submit",),
        ),
        CommandEntry("precompile", "jobs.precompile.command:precompile", asks=OUTSIDE, changes=True, file_hint=_JOB_FILE, next=("submit",)),
        GroupEntry(
            "image", "The image of a job: built by a container tool, or pushed as one more layer without any.", "trn image push dev src"
        ),
        CommandEntry("image build", "jobs.image.command:build", asks=(_AWS, _STATE), changes=True, in_practice=_NONE, next=("submit",)),
        CommandEntry("image push", "jobs.image.command:push", asks=(_AWS, _STATE), changes=True, in_practice=_NONE, next=("submit",)),
        GroupEntry("data", "A data set on its way to the file system, and checkpoints on their way to S3.", "trn data status bert"),
        CommandEntry("data stage", "jobs.data.command:stage", asks=OUTSIDE, changes=True, next=("data status",)),
        CommandEntry("data prepare", "jobs.data.command:prepare", asks=OUTSIDE, changes=True, file_hint=_JOB_FILE, next=("submit",)),
        CommandEntry("data import-weights", "jobs.data.weights_command:import_weights", asks=OUTSIDE, changes=True, next=("submit",)),
        CommandEntry("data export-weights", "jobs.data.weights_command:export_weights", asks=OUTSIDE, changes=True, next=("data export",)),
        CommandEntry("data export", "jobs.data.command:export", asks=(_AWS, _STATE), changes=True, next=("data status",)),
        CommandEntry("data status", "jobs.data.command:status", asks=OUTSIDE),
    ),
    "The cluster": (
        CommandEntry("import", "before.import_cluster.command:import_cluster", asks=(_AWS, _STATE), changes=True, in_practice=_NONE, stack=StackUse.NEW),
        GroupEntry("network", "A network that others keep and a stack uses.", "trn network describe dev --output network.yaml"),
        CommandEntry("network describe", "before.network.command:describe", asks=(_AWS,), in_practice=_NONE, next=("rehearse",)),
        GroupEntry(
            "capacity",
            "Scarce instances: what there is, capacity blocks, and the time that they are for.",
            "trn capacity find dev --instances 4 --hours 72",
        ),
        CommandEntry("capacity find", "before.capacity.command:find", asks=(_AWS,), next=("capacity buy",)),
        CommandEntry(
            "capacity buy", "before.capacity.command:buy", asks=(_AWS, _STATE), changes=True, unchecked={"group": "instance_type"},
            next=("capacity calendar", "check", "plan"),
        ),
        CommandEntry("capacity calendar", "before.capacity.command:calendar", asks=(_AWS, _CLUSTER)),
        CommandEntry("plan", "before.plan.command:plan", asks=OUTSIDE),
        CommandEntry("upgrade", "running.upgrade.command:upgrade", asks=OUTSIDE, changes=True, next=("status", "verify")),
        CommandEntry("verify", "running.verify.command:verify", asks=OUTSIDE, changes=True, next=("submit",)),
        CommandEntry("top", "running.top.command:top", asks=(_AWS, _CLUSTER)),
        CommandEntry("scale", "running.scale.command:scale", asks=OUTSIDE, changes=True, next=("status",)),
        CommandEntry("roll", "running.roll.command:roll", asks=OUTSIDE, changes=True, next=("status",)),
        CommandEntry("shell", "running.shell.command:shell", asks=OUTSIDE, changes=True),
        CommandEntry("kubeconfig", "running.kubeconfig:kubeconfig", asks=(_AWS,)),
        CommandEntry("iam", "before.iam.command:iam"),
        CommandEntry("addons", "before.addons.command:addons", in_practice=_SAME),
        CommandEntry("images", "before.addons.command:images", in_practice=_SAME),
    ),
    "Its end, and what went wrong": (
        CommandEntry("drain", "ending.drain.command:drain", asks=OUTSIDE, changes=True, next=("destroy",)),
        CommandEntry("destroy", "ending.destroy.command:destroy", asks=OUTSIDE, changes=True, next=("sweep",)),
        CommandEntry("recover", "ending.recover.command:recover", asks=OUTSIDE, changes=True),
        CommandEntry("sweep", "ending.sweep.command:sweep", asks=(_AWS, _STATE), changes=True),
        CommandEntry("bundle", "running.bundle.command:bundle", asks=OUTSIDE),
    ),
    "Without an account": (
        GroupEntry("practice", "A simulated account that is kept on disk, for trying every command.", "trn practice up dev"),
        CommandEntry("practice up", "practice.up:up", in_practice=_OWN, next=("status", "practice job")),
        CommandEntry("practice job", "practice.events:job", in_practice=_OWN, next=("jobs", "logs")),
        CommandEntry("practice event", "practice.events:event", in_practice=_OWN, next=("drain", "destroy")),
        CommandEntry("practice export", "practice.up:export", in_practice=_OWN),
        CommandEntry("practice down", "practice.up:down", in_practice=_OWN, next=("sweep",)),
        CommandEntry("engine", "practice.engine.command:engine", in_practice=_OWN, unchecked={"fault": ""}, settings=_PASSES_ON),
    ),
}  # fmt: skip
"""The rows in the sections and the order of the help."""
ENTRIES: Mapping[str, CommandEntry] = {row.place: row for rows in SECTIONS.values() for row in rows if isinstance(row, CommandEntry)}
"""Commands by place."""


def titles() -> Mapping[str, tuple[str, ...]]:
    """First words by the section of the help."""
    return {title: tuple(row.place for row in rows if " " not in row.place) for title, rows in SECTIONS.items()}


def below(place: str) -> Iterator[CommandEntry]:
    """Commands of a group."""
    return (entry for name, entry in ENTRIES.items() if name.rpartition(" ")[0] == place)
