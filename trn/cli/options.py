"""Arguments and options that several commands share. `Stack` is also the first word of a line: trn/cli places it."""

from pathlib import Path
from typing import Annotated

import typer

from trn.cli import completion

Stack = Annotated[
    str, typer.Option("--stack", "-s", metavar="NAME", help="Stack, as in Pulumi.NAME.yaml.", autocompletion=completion.stacks)
]
JsonFile = Annotated[Path | None, typer.Option("--json", help="Also write the result here as JSON; - for standard output.")]
Yes = Annotated[bool, typer.Option("--yes", help="Do not ask.")]
Junit = Annotated[Path | None, typer.Option("--junit", help="Also write the findings here as JUnit XML.")]
Namespace = Annotated[str | None, typer.Option("--namespace", "-n", help="Instead of the stack's training namespace.")]
StateFile = Annotated[
    Path | None, typer.Option("--state", help="Output of `pulumi stack export` of this stack, where its backend cannot be reached.")
]
ClusterName = Annotated[
    str, typer.Option("--name", help="The cluster's name, to be given with --yes where Pulumi's state does not say whose it is.")
]
Identity = Annotated[
    str,
    typer.Option("--identity", help="ORGANIZATION/PROJECT/STACK whose objects are meant; `none` for objects without the tag `trn:stack`."),
]
Data = Annotated[
    list[str] | None,
    typer.Option("--data", help="Data to delete too: volumes, snapshots, backups, file-systems, or an id; may be repeated."),
]
BreakLock = Annotated[bool, typer.Option("--break-lock", help="Take the lock from the run that holds it.")]
BlockHours = Annotated[int, typer.Option("--block-hours", help="Length of the capacity blocks to look for: whole days or weeks.")]
Seed = Annotated[int, typer.Option("--seed", min=0, help="Seed of all latencies and ids.")]
Faults = Annotated[
    list[str] | None,
    typer.Option(
        "--fault",
        metavar="NAME[@RESOURCE][:TIMES]",
        help="A fault to inject, NAME[@resource][:times]; may be repeated. `trn rehearse rules` lists them.",
        autocompletion=completion.faults,
    ),
]
Output = Annotated[Path, typer.Option("--output", help="Folder for the files that are written.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="No progress while it runs.")]
WithKubernetes = Annotated[
    str,
    typer.Option(
        "--kubernetes",
        metavar="[=WAY]",
        show_default=False,
        help="With a real API server and fake nodes for the Kubernetes half, on this machine. WAY: go, which builds it once; kind, k3d or"
        " kwokctl; without it the first that is on PATH. The stack keeps it until it is down.",
    ),
]
"""Empty without the option; `slots.ANY` without a name."""
