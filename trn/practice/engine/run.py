"""One run of the Pulumi CLI against the simulated cloud: what must hold before it, and who answered it."""

import shutil
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path

from simulator.account.faults import Faults
from simulator.faults_syntax import FaultRequest, parse_fault
from simulator.providers.calls import read_calls
from simulator.providers.cloud import Cloud
from trn.cli.errors import MISUSE, CommandError
from trn.cli.output import errors
from trn.engine.program import record_stack
from trn.engine.stack_file import StackFile
from trn.practice.engine.check import claims, faults_met, summary, unanswered
from trn.practice.engine.project import EngineFolder
from trn.practice.engine.real_provider import PACKAGE

INSTALL_PAGE = "https://www.pulumi.com/docs/install/"
LANGUAGE_HOST = "pulumi-language-python"
_LOGGED = ("up", "update", "preview", "pre", "refresh", "destroy", "down", "dn", "import")
"""Commands that can log what they do."""
_CHANGES_CONFIGURATION = ("cp", "refresh", "rm", "rm-all", "set", "set-all")
_FORGETS = {
    ("stack", "rename"): "the state would be of a stack that has no file",
    ("stack", "init"): "it would be a second stack in the folder of the first",
    ("stack", "migrate"): "the state would be in another backend",
    ("state", "move"): "a part of the state would be of another stack",
}
"""Commands after which the simulated account has objects that belong to no stack that `trn` finds, and why. Others may go on: `stack rm`
refuses a stack with resources, unless it is forced; `state delete` and `stack import` are how the CLI's own mistakes are repaired."""
_FORCED = ("--force", "-f", "--force=true")


@contextmanager
def writing() -> Iterator[None]:
    """Raises CommandError for a folder that cannot be written, within the block."""
    try:
        yield
    except OSError as error:
        raise CommandError(f"cannot write `{error.filename}`: {error.strerror}", "name a folder with --folder") from error


def report(code: int, folder: EngineFolder, requests: Sequence[FaultRequest], *, died: bool) -> int:
    """Print whether the simulator answered the run that ended with `code`, and nothing else did; returns the command's exit code.

    `died`: a signal ended the provider process.
    """
    progress, calls = errors(), list(read_calls(folder.calls))
    met = faults_met(calls)
    elsewhere = {PACKAGE} if folder.real_provider else set[str]()
    for sentence in (wrong := unanswered([claim for claim in claims(folder.events) if claim.package not in elsewhere], calls)):
        progress.print(f"error: {sentence}", markup=False)
    for request in requests:
        if f"{request.name}@{request.resource}" not in met:
            progress.print(f"note: the fault {request} did not happen: no {request.resource} was made", markup=False)
    objects = Cloud.load(folder.account).objects.values()
    for item in objects:
        if item.status == "creating":
            progress.print(
                f"note: {item.type} {item.id} was being made when its provider died; the engine does not know of it", markup=False
            )
    if died and not any(fault.startswith("kill-provider@") for fault in met):
        progress.print(f"error: the provider process died; {folder.provider_log} has its last words", markup=False)
        wrong.append("died")
    progress.print(f"simulated cloud: asked for {summary(calls)}; {len(objects)} objects in {folder.account}", markup=False)
    return 1 if wrong else code


def find_cli() -> str:
    """Path of the Pulumi CLI.

    Raises CommandError where it, or its language host, is not there.
    """
    pulumi = shutil.which("pulumi")
    if pulumi is None:
        raise CommandError(f"there is no Pulumi CLI on PATH; {INSTALL_PAGE} says how to get it", code=MISUSE)
    if shutil.which(LANGUAGE_HOST) is None and not (Path(pulumi).resolve().parent / LANGUAGE_HOST).exists():
        raise CommandError(f"{LANGUAGE_HOST} is neither on PATH nor beside {pulumi}; it comes with the CLI: {INSTALL_PAGE}", code=MISUSE)
    return pulumi


def requested_faults(texts: Sequence[str]) -> list[FaultRequest]:
    """The faults asked for.

    Raises FaultSyntaxError for one that the engine cannot be made to meet.
    """
    requests = [parse_fault(text) for text in texts]
    Faults.of(requests)
    return requests


def refuse_targets(requests: Sequence[FaultRequest], stack_file: StackFile, folder: EngineFolder) -> None:
    """Raises FaultSyntaxError, with near names, for a fault whose resource neither the program makes nor the account has."""
    if not requests:
        return
    there = list(Cloud.load(folder.account).world.state)
    Faults.of(requests).need_targets([*record_stack(stack_file), *(item.registration for item in there)])


def refuse_arguments(arguments: Sequence[str], stack: str) -> None:
    """Raises CommandError for what would leave this folder, lose what is in it, or be lost with the next run."""
    for argument in arguments:
        if argument.split("=")[0] in ("--stack", "-s"):
            raise CommandError("the stack is named before the `--`", f"trn engine {stack} -- {arguments[0]} ...", code=MISUSE)
        if argument.split("=")[0] in ("--cwd", "-C"):
            raise CommandError(
                "the project is the one in which trn is run", "change into its folder, and leave this option out", code=MISUSE
            )
    words = [argument for argument in arguments if not argument.startswith("-")]
    for pair in pairwise(words):
        if pair[0] == "config" and pair[1] in _CHANGES_CONFIGURATION:
            # `--config` of `up` has no keys below keys: with `--config-path` what it names replaces all of `trn:nodeGroups`.
            raise CommandError(
                f"the configuration comes from Pulumi.{stack}.yaml at each run, and is never written",
                f"edit the file; what an edit would do: `trn rehearse change {stack} --set nodeGroups.trn1-32xl.size=1`",
                code=MISUSE,
            )
        is_forced = pair in (("stack", "rm"), ("stack", "remove")) and bool(set(_FORCED) & set(arguments))
        why = "nothing would know of the objects of the state" if is_forced else _FORGETS.get(pair)
        if why is not None:
            hint = (
                f"`trn practice down {stack}` deletes all that it has; then rename Pulumi.{stack}.yaml, or copy it,"
                " and run `trn practice up` with the new name"
            )
            raise CommandError(
                f"a stack here is its file and the folder of its name: by `pulumi {' '.join(pair)}` {why}", hint, code=MISUSE
            )


def with_event_log(arguments: Sequence[str], events: Path) -> list[str]:
    """The arguments, with the flag that makes the CLI say what it does, where the command has it."""
    command = next((index for index, argument in enumerate(arguments) if argument in _LOGGED), None)
    if command is None or "stack" in arguments[:command] or "config" in arguments[:command]:
        return list(arguments)
    return [*arguments[: command + 1], "--event-log", str(events), *arguments[command + 1 :]]


def make_stack(pulumi: str, folder: EngineFolder, stack_file: StackFile, variables: dict[str, str]) -> None:
    """Make the stack in the folder's backend, where it is not there yet. Raises CommandError with what the CLI printed."""
    if folder.has_stack(stack_file):
        return
    # With a stack selected that is not there the command refuses to run.
    without = {key: value for key, value in variables.items() if key != "PULUMI_STACK"}
    done = subprocess.run(
        [pulumi, "--non-interactive", "stack", "init", stack_file.stack],
        env=without, cwd=folder.project, capture_output=True, text=True, check=False,
    )  # fmt: skip
    if done.returncode != 0:
        raise CommandError(f"the CLI could not make the stack: {(done.stderr or done.stdout).strip().removeprefix('error: ')}", code=MISUSE)
