"""`trn practice job` and `trn practice event`: what users run in a cluster, and what happens that Pulumi does not know of."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from trn.cli.options import JsonFile, Stack

if TYPE_CHECKING:
    from facts.document import Document

JobName = Annotated[str, typer.Argument(metavar="JOB", help="Name of the job.")]
Nodes = Annotated[int | None, typer.Option("--nodes", min=1, help="Neuron nodes that it takes. Else all that are up.")]
What = Annotated[
    Literal["load-balancer", "claim-in-use", "karpenter-node"],
    typer.Argument(
        help="load-balancer: a user's Service asks for one; claim-in-use: a user's Job mounts the file system;"
        " karpenter-node: Karpenter launched an instance."
    ),
]


def job(stack: Stack, name: JobName = "bert", nodes: Nodes = None, json_file: JsonFile = None) -> int:
    """Start a training job in the practice cluster: one worker for each Neuron node, with all its devices.

    Nothing is computed: its pods are placed as Volcano would place them, hold their devices, and stay until they are deleted.

    Example: trn practice job dev bert --nodes 2
    """
    from trn.practice.users import start_job
    from trn.practice.view import PracticeJobReport

    return _happened(
        stack, PracticeJobReport, json_file, lambda kubernetes, settings, _world: start_job(kubernetes, settings, stack, name, nodes)
    )


def event(stack: Stack, what: What = "load-balancer", json_file: JsonFile = None) -> int:
    """Let something happen in the practice account that Pulumi does not know of, and that stands in the way of a destroy.

    Example: trn practice event dev load-balancer
    """
    from trn.practice import users
    from trn.practice.view import PracticeEventReport

    acts = {
        "load-balancer": lambda kubernetes, settings, _world: users.ask_for_balancer(kubernetes, settings),
        "claim-in-use": lambda kubernetes, settings, _world: users.mount_claim(kubernetes, settings),
        "karpenter-node": lambda _kubernetes, _settings, world: users.launch_by_karpenter(world),
    }
    return _happened(stack, PracticeEventReport, json_file, acts[what])


def _happened(stack: str, report: "Callable[..., Document]", json_file: Path | None, act: Callable[..., str]) -> int:
    from trn.change.cluster import cluster_of
    from trn.cli.output import results, write_json
    from trn.engine.program import settings_of
    from trn.engine.stack_file import read_stack_file
    from trn.practice.access import practice

    settings = settings_of(read_stack_file(stack))
    console = results(json_file)
    said = act(cluster_of(practice().aws(stack, settings.region), settings.name), settings, practice().account(stack).world)
    write_json(report(stack=stack, happened=said), json_file)
    console.print(said, markup=False, soft_wrap=True)
    return 0
