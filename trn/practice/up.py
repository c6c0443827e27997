"""`trn practice up` and `trn practice down`: a stack in a simulated account that is kept on disk."""

from typing import Annotated, Literal

import typer

from facts.typed import typed
from trn.cli.options import Faults, JsonFile, Quiet, Stack, WithKubernetes
from trn.cli.slots import ANY

Engine = Annotated[
    Literal["pulumi", "rehearsal"] | None,
    typer.Option("--engine", help="pulumi: the real CLI; rehearsal: the engine of `trn rehearse`. Else the CLI where it is on PATH."),
]
Speed = Annotated[float, typer.Option("--speed", min=1, help="Virtual seconds per real one in the live view; the rehearsal's engine only.")]


def up(
    stack: Stack,
    fault: Faults = None,
    engine: Engine = None,
    kubernetes: WithKubernetes = "",
    speed: Speed = 500,
    quiet: Quiet = False,
    json_file: JsonFile = None,
) -> int:
    """Bring a stack up in its practice account, in build/practice/STACK. No account of AWS is touched.

    Afterwards `trn --practice COMMAND` runs any command against it. Run it again to change the stack, or to go on after a failure.

    Example: trn practice up dev --fault killed@control-plane
    """
    return _run(stack, fault, engine, speed, quiet=quiet, json_file=json_file, down=False, kubernetes=kubernetes)


def down(stack: Stack, fault: Faults = None, speed: Speed = 500, quiet: Quiet = False, json_file: JsonFile = None) -> int:
    """Destroy a stack in its practice account, as `pulumi destroy` does: what users left in the cluster can stop it.

    `trn --practice destroy` also drains before it and sweeps after it.

    Example: trn practice down dev
    """
    return _run(stack, fault, None, speed, quiet=quiet, json_file=json_file, down=True)


def export(stack: Stack) -> int:
    """Print the state of a stack that is up in practice, as `pulumi stack export` does: for `trn --practice sweep --state`.

    Example: trn practice export dev > state.json
    """
    import sys

    from trn.cli.errors import CommandError
    from trn.practice.access import practice

    practice().announce(on_standard_error=True)
    code, printed = practice().pulumi(stack).ask(("pulumi", "stack", "export", "--stack", stack))
    if code:
        raise CommandError(f"`{typed('pulumi stack export')}` failed", "what it printed says why")
    sys.stdout.write(printed)
    return 0


def _run(
    stack: str,
    fault: list[str] | None,
    wanted: Literal["pulumi", "rehearsal"] | None,
    speed: float,
    *,
    quiet: bool,
    json_file: JsonFile,
    down: bool,
    kubernetes: str = "",
) -> int:
    from trn.cli.errors import INTERRUPTED, MISUSE, CommandError
    from trn.cli.output import errors, results, write_json
    from trn.cli.progress import Progress
    from trn.engine.stack_file import read_stack_file
    from trn.practice.access import practice
    from trn.practice.engine.project import practice_folder
    from trn.practice.engine.run import writing
    from trn.practice.engines import engine_of
    from trn.practice.pulumi import end_control_plane
    from trn.practice.run import by_pulumi, chosen_engine, refuse_faults, rehearsed
    from trn.practice.view import lines, report_of

    stack_file, folder, faults = read_stack_file(stack), practice_folder(stack), tuple(fault or ())
    there = engine_of(folder, stack_file)
    if down and there is None:
        if folder.kubernetes.exists():
            # An `up` that ended before the engine began.
            end_control_plane(folder)
            return 0
        raise CommandError(f"nothing of stack `{stack}` is up in practice", f"`trn practice up {stack}` brings it up", code=MISUSE)
    engine = chosen_engine(folder, stack_file, wanted)
    refuse_faults(engine, faults)
    lacks = False
    if kubernetes or (folder.has_control_plane and not down):
        from trn.practice.control_plane import start

        lacks = start(folder, stack_file, has_stack=there is not None, by_pulumi=engine == "pulumi", wanted=kubernetes or ANY)
    with writing():
        console = results(json_file)
        if engine == "pulumi":
            outcome = by_pulumi(folder, stack_file, faults, down=down, refresh=lacks)
        else:
            progress = Progress(errors(), quiet=quiet, speed=speed)
            outcome = rehearsed(practice().account(stack), stack_file, faults, progress, down=down)
        left = practice().leftovers(stack)
    write_json(report_of(stack, outcome, down=down), json_file)
    for line in lines(stack, outcome, left, down=down):
        console.print(line, markup=False, soft_wrap=True)
    if outcome.ended_well and folder.has_control_plane:
        from trn.practice.control_plane import kubectl_hint

        if down:
            end_control_plane(folder)
        else:
            console.print(f"kubectl  {kubectl_hint(folder)}", markup=False, soft_wrap=True)
    return 0 if outcome.ended_well else INTERRUPTED if outcome.interrupted else 1
