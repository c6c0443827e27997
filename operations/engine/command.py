"""`trn engine`: the real Pulumi CLI on the real program, with the simulated cloud in AWS's place."""

import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console

from operations.engine.check import claims, faults_met, summary, unanswered
from operations.engine.process import Providers, ProvidersFailed, run_cli
from operations.engine.project import EngineFolder, environment, practice_folder, refuse_secrets
from operations.stack_file import StackFile, StackFileError, read_stack_file
from simulator.account.faults import Faults
from simulator.doors.providers.calls import Call, read_calls
from simulator.doors.providers.cloud import Cloud
from simulator.faults_syntax import FaultRequest, FaultSyntaxError, parse_fault

INSTALL_PAGE = "https://www.pulumi.com/docs/install/"
LANGUAGE_HOST = "pulumi-language-python"
_LOGGED = ("up", "update", "preview", "pre", "refresh", "destroy", "down", "dn", "import")
"""Commands that can log what they do."""
_CHANGES_CONFIGURATION = ("cp", "refresh", "rm", "rm-all", "set", "set-all")


@dataclass(frozen=True)
class EngineOptions:
    """What the command line said."""

    stack: str
    arguments: tuple[str, ...]
    """For the Pulumi CLI."""
    time_scale: float = 0.0
    faults: tuple[str, ...] = ()
    folder: Path | None = None


class EngineMisuse(Exception):
    """The run cannot begin."""

    def __init__(self, wrong: str, hint: str | None = None) -> None:
        super().__init__(wrong)
        self.hint = hint


def run(options: EngineOptions) -> int:
    """Run the CLI, check who answered it; returns its exit code, 1 if it was not the simulator, 2 if it could not begin."""
    # Names and paths come from outside: square brackets in them are no markup.
    errors = Console(stderr=True, highlight=False, soft_wrap=True, markup=False)
    try:
        pulumi = find_cli()
        requests = requested_faults(options.faults)
        refuse_arguments(options.arguments)
        folder = EngineFolder(options.folder.absolute()) if options.folder else practice_folder(options.stack)
        return _run(pulumi, options, requests, folder, errors)
    except (EngineMisuse, StackFileError, FaultSyntaxError) as error:
        errors.print(f"error: {error}" + (f"\n\nhint: {error.hint}" if error.hint else ""))
        return 2
    except ProvidersFailed as error:
        errors.print(f"error: {error}")
        return 1
    except OSError as error:
        errors.print(f"error: cannot write `{error.filename}`: {error.strerror}\n\nhint: name a folder with --folder")
        return 1


def _run(pulumi: str, options: EngineOptions, requests: list[FaultRequest], folder: EngineFolder, errors: Console) -> int:
    stack_file = read_stack_file(options.stack)
    refuse_secrets(stack_file)
    providers = Providers(folder, time_scale=options.time_scale, faults=options.faults)
    try:
        attach = providers.attach()
        folder.prepare(stack_file)
        variables = environment(folder, options.stack, attach)
        _make_stack(pulumi, folder, stack_file, variables)
        code = run_cli([pulumi, *with_event_log(options.arguments, folder.events)], variables, folder.project)
    finally:
        died = providers.stop() < 0
    calls = list(read_calls(folder.calls))
    return _report(code, folder, calls, requests, died=died, errors=errors)


def _report(code: int, folder: EngineFolder, calls: list[Call], requests: list[FaultRequest], *, died: bool, errors: Console) -> int:
    met = faults_met(calls)
    for sentence in (wrong := unanswered(list(claims(folder.events)), calls)):
        errors.print(f"error: {sentence}")
    for request in requests:
        if f"{request.name}@{request.resource}" not in met:
            errors.print(f"note: the fault {request} did not happen: no {request.resource} was made")
    objects = Cloud.load(folder.account).objects.values()
    for item in objects:
        if item.status == "creating":
            errors.print(f"note: {item.type} {item.id} was being made when its provider died; the engine does not know of it")
    if died and not any(fault.startswith("kill-provider@") for fault in met):
        errors.print(f"error: the provider process died; {folder.provider_log} has its last words")
        wrong.append("died")
    errors.print(f"simulated cloud: asked for {summary(calls)}; {len(objects)} objects in {folder.account}")
    return 1 if wrong else code


def find_cli() -> str:
    """Path of the Pulumi CLI.

    Raises EngineMisuse where it, or its language host, is not there.
    """
    pulumi = shutil.which("pulumi")
    if pulumi is None:
        raise EngineMisuse(f"there is no Pulumi CLI on PATH; {INSTALL_PAGE} says how to get it")
    if shutil.which(LANGUAGE_HOST) is None and not (Path(pulumi).resolve().parent / LANGUAGE_HOST).exists():
        raise EngineMisuse(f"{LANGUAGE_HOST} is neither on PATH nor beside {pulumi}; it comes with the CLI: {INSTALL_PAGE}")
    return pulumi


def requested_faults(texts: tuple[str, ...]) -> list[FaultRequest]:
    """The faults asked for.

    Raises FaultSyntaxError for one that the engine cannot be made to meet.
    """
    requests = [parse_fault(text) for text in texts]
    Faults.of(requests)
    return requests


def refuse_arguments(arguments: tuple[str, ...]) -> None:
    """Raises EngineMisuse for what would leave this folder, or be lost with the next run."""
    for argument in arguments:
        if argument.split("=")[0] in ("--stack", "-s"):
            raise EngineMisuse("the stack is named before the `--`", f"trn engine --stack NAME -- {arguments[0]} ...")
        if argument.split("=")[0] in ("--cwd", "-C"):
            raise EngineMisuse("the project is the one in which trn is run", "change into its folder, and leave this option out")
    if arguments[0] == "config" and len(arguments) > 1 and arguments[1] in _CHANGES_CONFIGURATION:
        raise EngineMisuse(
            "the configuration comes from Pulumi.NAME.yaml at each run, and is never written",
            "edit the file, or try a value for one run: trn engine -- up --config-path -c 'trn:nodeGroups.trn1-32xl.size=1'",
        )


def with_event_log(arguments: tuple[str, ...], events: Path) -> list[str]:
    """The arguments, with the flag that makes the CLI say what it does, where the command has it."""
    command = next((index for index, argument in enumerate(arguments) if argument in _LOGGED), None)
    if command is None or "stack" in arguments[:command] or "config" in arguments[:command]:
        return list(arguments)
    return [*arguments[: command + 1], "--event-log", str(events), *arguments[command + 1 :]]


def _make_stack(pulumi: str, folder: EngineFolder, stack_file: StackFile, variables: dict[str, str]) -> None:
    if folder.has_stack(stack_file):
        return
    # With a stack selected that is not there the command refuses to run.
    without = {key: value for key, value in variables.items() if key != "PULUMI_STACK"}
    done = subprocess.run(
        [pulumi, "--non-interactive", "stack", "init", stack_file.stack],
        env=without, cwd=folder.project, capture_output=True, text=True, check=False,
    )  # fmt: skip
    if done.returncode != 0:
        raise EngineMisuse(f"the CLI could not make the stack: {(done.stderr or done.stdout).strip().removeprefix('error: ')}")
