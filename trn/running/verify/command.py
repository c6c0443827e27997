"""`trn verify`: look at everything, then run what only shows when it runs, remove it, say the verdict."""

import time
from typing import Annotated

import typer

from trn.cli.options import ClusterName, JsonFile, Junit, Stack, StateFile


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
    from trn.change.asking import consent
    from trn.change.clients import access
    from trn.change.cluster import cluster_of
    from trn.change.ownership import StackCluster, agreed, read_ownership
    from trn.cli.findings import exit_code, print_findings, skipped
    from trn.cli.interruption import interrupted_by_signals
    from trn.cli.junit import write_junit
    from trn.cli.output import errors, results, step_line, tracked, write_json
    from trn.engine.program import settings_of
    from trn.engine.stack_file import read_stack_file
    from trn.running.status.checks import CHECKS, findings_of
    from trn.running.subject import Subject
    from trn.running.verify.stage import Stage
    from trn.running.verify.trials import TRIALS, WITHOUT_CONTAINERS, chosen, tried, verdict

    names = chosen(only or ())
    stack_file = read_stack_file(stack)
    settings = settings_of(stack_file)
    api = access().aws(stack, settings.region)
    ownership = read_ownership(api, access().pulumi(stack), StackCluster(stack_file.project, stack, settings.name), state)
    agreed(ownership, consent(yes=False, name=name), lambda line: errors().print(line, markup=False, soft_wrap=True))
    subject = Subject(settings, api, cluster_of(api, settings.name))
    looked = [name for name in CHECKS if name in names]
    findings = [finding for name in tracked(looked, "looking") for finding in findings_of(subject, name)]
    trials = [name for name in TRIALS if name in names]
    if access().is_practice:
        runnable = [name for name in trials if name in WITHOUT_CONTAINERS and access().schedules_pods(stack)]
        findings += [skipped(name, "no container runs in a practice account") for name in trials if name not in runnable]
        trials = runnable
    if trials:
        with step_line() as tell, interrupted_by_signals():
            stage = Stage(subject, small_image(settings), image or training_image(settings), access().pause, time.monotonic, tell)
            findings += tried(stage, trials)
    said = verdict(settings.name, findings)
    write_json({"stack": stack, "healthy": exit_code(findings) == 0, "verdict": said, "findings": findings}, json_file)
    if junit:
        write_junit(findings, f"trn verify {stack}", junit)
    console = results(json_file)
    print_findings(console, findings)
    console.print(said, markup=False)
    return exit_code(findings)
