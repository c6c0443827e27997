"""`trn recover`: read the state, look, show, ask, import, refresh."""

import json
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import typer
from rich.console import Console

from operations.access import access
from operations.aws.api import Api
from operations.aws.control_plane import described
from operations.cluster.destroy.recovery import refuse_misuse
from operations.cluster.recover.look import Recovery
from operations.cluster.recover.objects import Objects
from operations.cluster.recover.plan import Import, Plan, import_file
from operations.cluster.recover.state import State, read_preview, read_state
from operations.errors import CommandError
from operations.kube.cluster import cluster_of
from operations.output import errors, results, write_json
from operations.rehearse.command import settings_of
from operations.stack_file import read_stack_file

Asked = Callable[[tuple[str, ...]], tuple[int, str]]
"""Runs a command; gives its exit code and what it printed on standard output."""


@dataclass(frozen=True)
class RecoverOptions:
    """What the command line said."""

    stack: str
    orphans: bool
    yes: bool
    json_file: Path | None


def run(options: RecoverOptions) -> int:
    """Recover; returns 1 where a person must look first, or Pulumi fails."""
    settings = settings_of(read_stack_file(options.stack))
    progress, console = errors(), results(options.json_file)

    def tell(line: str) -> None:
        progress.print(line, markup=False, soft_wrap=True)

    api = access().aws(options.stack, settings.region)
    recovery = Recovery(api, settings.name, lambda: objects_of(api, settings.name), access().pause, tell, options.orphans)
    state = exported(options.stack, access().pulumi(options.stack).ask)
    if options.orphans:
        if state.pending:
            raise CommandError(
                f"{len(state.pending)} operations have no end yet", f"run `trn recover {options.stack}` first, without --orphans"
            )
        state = with_orphans(state, options.stack, access().pulumi(options.stack).ask)
    plan = recovery.plan(state)
    print_plan(progress, plan, orphans=options.orphans)
    done = _act(plan, recovery, options, tell)
    write_json({"stack": options.stack, "recovered": done, **as_data(plan, orphans=options.orphans)}, options.json_file)
    for line in report_lines(plan, options, done=done):
        console.print(line, markup=False, soft_wrap=True)
    return 0 if done else 1


def _act(plan: Plan, recovery: Recovery, options: RecoverOptions, tell: Callable[[str], None]) -> bool:
    """Whether the state tells the truth in the end."""
    work = len(plan.imports) + len(plan.uninstalls)
    if plan.unclear:
        return False
    if not work and (options.orphans or not plan.has_work):
        return True
    if not options.yes:
        typer.confirm(f"Import {len(plan.imports)}, uninstall {len(plan.uninstalls)}, then refresh {options.stack}?", abort=True, err=True)
    for item in plan.uninstalls:
        # Found through the cluster, so there is one.
        assert recovery.objects is not None
        for secret in recovery.objects.uninstall(*_release(item)):
            tell(f"deleted Secret {_release(item)[0]}/{secret}; the objects of the release stay, the next `pulumi up` takes them over")
    return pulumi_recover(plan, options.stack, access().pulumi(options.stack).run)


def _release(item: Import) -> tuple[str, str]:
    namespace, _, name = item.sighting.id.partition("/")
    return namespace, name


def pulumi_recover(plan: Plan, stack: str, runner: Callable[[tuple[str, ...], dict[str, str]], tuple[int, str]]) -> bool:
    """Import while the operations still tell what to import, then clear them and read everything again. Raises CommandError."""
    with tempfile.TemporaryDirectory(prefix="trn-") as folder:
        file = Path(folder) / "import.json"
        file.write_text(json.dumps(import_file(plan.imports)))
        for command in commands(stack, file if plan.imports else None):
            code, printed = runner(command, {})
            if code:
                refuse_misuse(stack, printed)
                return False
    return True


def commands(stack: str, file: Path | None) -> list[tuple[str, ...]]:
    """What Pulumi is told, in this order (CLI 3.260: `refresh --import-pending-creates` imports nothing)."""
    refresh = ("pulumi", "refresh", "--yes", "--clear-pending-creates", "--stack", stack)
    if file is None:
        return [refresh]
    options = ("--yes", "--skip-preview", "--generate-code=false", "--protect=false")
    return [("pulumi", "import", "--file", str(file), *options, "--stack", stack), refresh]


def exported(stack: str, ask: Asked) -> State:
    """The state as Pulumi keeps it; secrets stay encrypted. Raises CommandError."""
    return read_state(_answer(("pulumi", "stack", "export", "--stack", stack), stack, ask))


def with_orphans(state: State, stack: str, ask: Asked) -> State:
    """The state with everything that the next run would make, as if its creation had begun. Raises CommandError.

    What hangs on values that nobody knows before `up` is left out: it is looked for by a second run, after the first import.
    """
    return State(read_preview(_answer(("pulumi", "preview", "--json", "--stack", stack), stack, ask)), state.ids)


def _answer(command: tuple[str, ...], stack: str, ask: Asked) -> str:
    code, printed = ask(command)
    if code:
        refuse_misuse(stack, printed)
        raise CommandError(f"`{' '.join(command)}` failed", "what it printed says why")
    return printed


def objects_of(api: Api, cluster: str) -> Objects | None:
    """The cluster's objects, None where there is no cluster. Raises Unreachable."""
    return None if described(api, cluster) is None else Objects(cluster_of(api, cluster))


def as_data(plan: Plan, *, orphans: bool) -> dict[str, Any]:
    """The same for `--json`."""

    def found(items: tuple[Import, ...]) -> list[dict[str, str]]:
        return [{"urn": item.pending.urn, "id": item.sighting.id, "state": item.sighting.said} for item in items]

    return {
        "imports": found(plan.imports),
        "uninstalls": found(plan.uninstalls),
        "leftovers": found(plan.leftovers),
        "neverMade": [] if orphans else [pending.urn for pending in plan.never_made],
        "settled": [pending.urn for pending in plan.settled],
        "refreshed": [pending.urn for pending in plan.refreshed],
        "unclear": [{"urn": item.pending.urn, "why": item.why, "do": item.do} for item in plan.unclear],
    }


def print_plan(console: Console, plan: Plan, *, orphans: bool) -> None:
    """What became of each operation without an end."""
    for item in plan.imports:
        note = ": it failed, and is imported so that `pulumi up` can replace it" if item.sighting.progress == "failed" else ""
        console.print(f"  import     {item.pending} {item.sighting.id}{note}", markup=False, soft_wrap=True)
    for item in plan.uninstalls:
        console.print(f"  uninstall  {item.pending} {item.sighting.id} ({item.sighting.said})", markup=False, soft_wrap=True)
    for pending in () if orphans else plan.never_made:
        console.print(f"  never made {pending}", markup=False, soft_wrap=True)
    for pending in plan.settled:
        console.print(f"  in state   {pending}", markup=False, soft_wrap=True)
    for pending in plan.refreshed:
        console.print(f"  read again {pending} ({pending.doing})", markup=False, soft_wrap=True)
    for item in plan.leftovers:
        console.print(f"  left over  {item.pending} {item.sighting.id}: made before the one in the state", markup=False, soft_wrap=True)
    for item in plan.unclear:
        console.print(f"  unclear    {item.pending}: {item.why}\n             -> {item.do}", markup=False, soft_wrap=True)


def report_lines(plan: Plan, options: RecoverOptions, *, done: bool) -> list[str]:
    """How it went, and what comes next."""
    stack = options.stack
    if not done:
        first = f"{len(plan.unclear)} unclear: nothing was changed" if plan.unclear else "Pulumi failed; what it printed last says why"
        return [first, f"next     trn recover {stack}: it may be run again"]
    if options.orphans and not plan.imports and not plan.uninstalls:
        return ["no orphans: nothing that `pulumi up` would make is there already"]
    if not plan.has_work:
        return ["nothing to recover: no operation is without an end"]
    lines = [f"recovered: {len(plan.imports)} imported, {len(plan.uninstalls)} uninstalled, {len(plan.never_made)} never made"]
    if options.orphans:
        lines = [f"recovered: {len(plan.imports)} imported, {len(plan.uninstalls)} uninstalled; run it again until none is found"]
    if plan.leftovers:
        lines.append(f"next     pulumi stack export --stack {stack} > state.json; trn sweep {stack} --state state.json")
    return [*lines, f"next     pulumi up --stack {stack}"]
