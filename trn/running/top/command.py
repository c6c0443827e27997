"""`trn top`: ask neuron-monitor on every node at once, and show what it says, again and again."""

import time
from typing import Annotated

import typer

from trn.cli import completion
from trn.cli.options import JsonFile, Namespace, Stack


def top(
    stack: Stack,
    job: Annotated[
        str | None, typer.Argument(help="Volcano Job or Kubernetes Job. Else every Neuron node.", autocompletion=completion.jobs)
    ] = None,
    namespace: Namespace = None,
    every: Annotated[float, typer.Option("--every", min=1, help="Seconds between two looks; the exporter itself looks every 5.")] = 5,
    once: Annotated[bool, typer.Option("--once", help="Look once, as in a pipe and with --json.")] = False,
    json_file: JsonFile = None,
) -> int:
    """NeuronCore use, device memory and errors of a job's nodes, or of all, in one view until Ctrl-C.

    Asks neuron-monitor's exporter (`addons.neuronMonitor`); where it is off, neuron-monitor in the job's pods. Failed executions are
    those since the processes began from the exporter, and those of one period of 5 seconds from neuron-monitor itself.

    Exits with 1 where a node gave no answer at the last look.

    Example: trn top dev, or: trn top dev bert --every 2
    """
    from rich.live import Live

    from trn.change.clients import access
    from trn.change.cluster import cluster_of
    from trn.cli.output import can_redraw, results, write_json
    from trn.engine.program import settings_of
    from trn.engine.stack_file import read_stack_file
    from trn.running.subject import Subject
    from trn.running.top.rows import reader, rows
    from trn.running.top.view import Row, TopReport, table

    settings = settings_of(read_stack_file(stack))
    api = access().aws(stack, settings.region)
    kubernetes = cluster_of(api, settings.name)
    place = namespace or settings.training.namespace
    subject = Subject(settings, api, kubernetes)
    console = results(json_file)
    if not subject.neuron_nodes:
        write_json(TopReport(nodes=()), json_file)
        console.print("no Neuron node is up", markup=False)
        return 0
    with reader(subject, place, job) as read:

        def look() -> list[Row]:
            return rows(subject, read, place, job)

        current = look()
        if once or json_file or not can_redraw(console):
            write_json(TopReport(nodes=tuple(row.part for row in current)), json_file)
            console.print(table(current))
        else:
            with Live(table(current), console=console, auto_refresh=False) as live:
                try:
                    while True:
                        time.sleep(every)
                        current = look()
                        live.update(table(current), refresh=True)
                except KeyboardInterrupt:
                    # The way to end it.
                    pass
    return 1 if any(row.reading is None for row in current) else 0
