"""`trn verify`: look at everything, then run what only shows when it runs, remove it, say the verdict."""

from typing import Annotated

import typer

from trn.cli.options import BreakLock, ClusterName, JsonFile, Junit, Stack, StateFile


def verify(
    stack: Stack,
    only: Annotated[
        list[str] | None, typer.Option("--only", help="A check of status, or driver, throughput, gang, collectives; may be repeated.")
    ] = None,
    image: Annotated[
        str | None,
        typer.Option(
            "--image", help="Image of the collective test, with nccom-test, Open MPI and sshd. Else AWS's of `training.toolchain`."
        ),
    ] = None,
    state: StateFile = None,
    name: ClusterName = "",
    break_lock: BreakLock = False,
    junit: Junit = None,
    json_file: JsonFile = None,
) -> int:
    """Whether a cluster that is up can train: all that status looks at, then pods that try it. Exits with 1 where anything fails.

    Drivers on every node, FSx mounted and measured, a gang of the cluster's full size, all-reduce across all nodes.

    Takes every Neuron device for some minutes and starts nothing while a job holds one.

    What it starts is labelled, ends by itself, and is removed.

    Example: trn verify dev --junit build/verify.xml, or: trn verify dev --only gang --only collectives
    """
    from stacks.images import small_image, training_image
    from trn.change.clients import access
    from trn.change.executor import carry_out
    from trn.change.ownership import StackCluster
    from trn.change.terminal import terminal
    from trn.cli.findings import exit_code, skipped
    from trn.cli.junit import write_junit
    from trn.engine.program import settings_of
    from trn.engine.stack_file import read_stack_file
    from trn.running.status.checks import CHECKS
    from trn.running.verify.change import TRIALS, WITHOUT_CONTAINERS, Verify, chosen

    names = chosen(only or ())
    stack_file = read_stack_file(stack)
    settings = settings_of(stack_file)
    trials, none = [name for name in TRIALS if name in names], list[str]()
    if access().is_practice:
        none = [name for name in trials if name not in WITHOUT_CONTAINERS or not access().schedules_pods(stack)]
    more = [skipped(name, "no container runs in a practice account") for name in none]
    runnable = [name for name in trials if name not in none]
    checks = [name for name in CHECKS if name in names]
    change = Verify(stack, settings, small_image(settings), image or training_image(settings), checks, runnable, more)
    subject = StackCluster(stack_file.project, stack, settings.name)
    with terminal(
        subject, settings.region, "looking", json_file, state, yes=False, name=name, break_lock=break_lock
    ) as (site, person):  # fmt: skip
        code = carry_out(change, site, person)
    if junit:
        write_junit(change.findings, f"trn verify {stack}", junit)
    return code or exit_code(change.findings)
