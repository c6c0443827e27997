"""Looks at a training again and again, and shows what is new."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console

from facts.catalogue import NEURON_TYPES
from facts.typed import typed
from stacks.config import parse_settings
from trn.change.clients import access
from trn.change.cluster import cluster_of
from trn.cli.errors import MISUSE, CommandError
from trn.cli.output import can_redraw, results, write_json
from trn.cli.text_files import write_text
from trn.engine.job_site import site_of
from trn.engine.stack_file import read_stack_file
from trn.jobs.watch.page import page
from trn.jobs.watch.progress import Hardware, Progress, hardware, read
from trn.jobs.watch.source import PodLogs, hardware_of, of_file
from trn.jobs.watch.view import figures, shown, step_line
from trn.kubernetes.jobs.job import FoundJob
from trn.kubernetes.jobs.look import look

Look = Callable[[], tuple[Progress, bool]]
"""What the log says now, and whether the job is over."""


@dataclass(frozen=True)
class Asked:
    """What the options say."""

    html: Path | None
    every_s: float
    once: bool
    json_file: Path | None


def watch_file(log: Path, instance: str | None, asked: Asked) -> int:
    """A log on disk, once. Raises CommandError for a file that cannot be read, and a type that is not known."""
    progress = read(of_file(log))
    if instance is not None and instance not in NEURON_TYPES:
        raise CommandError(f"`{instance}` is no Neuron instance type", f"known: {', '.join(NEURON_TYPES)}", code=MISUSE)
    on = hardware(NEURON_TYPES[instance], progress.node_count) if instance is not None else None
    return _finish(log.name, progress, on, asked, results(asked.json_file))


def watch_job(name: str | None, stack: str, namespace: str | None, asked: Asked) -> int:
    """A job of a cluster, until it is over or Ctrl-C. Raises CommandError where there is no such job."""
    stack_file = read_stack_file(stack)
    settings = parse_settings(stack_file.configuration, stack_file.stack, rehearsal=True)
    if name is None:
        raise CommandError("no job is named", f"`{typed(f'trn jobs {stack}')}` lists them; --log FILE reads a file", code=MISUSE)
    kubernetes, place = cluster_of(access().aws(stack, settings.region), settings.name), namespace or settings.training.namespace
    view = look(kubernetes, place, site_of(settings, stack))
    found = view.named(name, place)
    on = hardware_of(view.situation(found))
    views = iter([view])

    def find() -> FoundJob | None:
        seen = next(views, None) or look(kubernetes, place)
        return next((job for job in seen.jobs if job.reference == found.reference), None)

    logs = PodLogs(kubernetes, find)

    def once() -> tuple[Progress, bool]:
        lines, job = logs.look(asked.every_s)
        progress = read(lines)
        return progress, progress.is_finished or job is None or job.phase.is_over

    console = results(asked.json_file)
    progress = once()[0] if asked.once else _follow(found.name, once, on, asked.every_s, console)
    return _finish(found.name, progress, on, asked, console)


def _follow(name: str, look_once: Look, on: Hardware | None, every_s: float, console: Console) -> Progress:
    """Until the job is over: in a terminal in one place, elsewhere a line for each step. Ctrl-C ends it as its end does."""
    from rich.live import Live

    progress, is_over = look_once()
    try:
        if can_redraw(console):
            with Live(shown(name, progress, on, console.width), console=console, auto_refresh=False, transient=True) as live:
                while not is_over:
                    access().pause(every_s)
                    progress, is_over = look_once()
                    live.update(shown(name, progress, on, console.width), refresh=True)
            return progress
        seen = _print_new(progress, -1.0, console)
        while not is_over:
            access().pause(every_s)
            progress, is_over = look_once()
            seen = _print_new(progress, seen, console)
    except KeyboardInterrupt:
        # The way to end it.
        pass
    return progress


def _print_new(progress: Progress, seen: float, console: Console) -> float:
    """Print steps that were done after a time; the time of the newest."""
    new = sorted((step for step in progress.steps if step.time > seen), key=lambda step: step.time)
    for step in new:
        console.print(step_line(step, progress), markup=False, soft_wrap=True)
    return new[-1].time if new else seen


def _finish(name: str, progress: Progress, on: Hardware | None, asked: Asked, console: Console) -> int:
    """The last word: figures, data, page. Exit code 1 where the log has no step."""
    write_json(progress.report(on), asked.json_file)
    if asked.html is not None:
        write_text(asked.html, page(name, progress, on), "name a file with --html")
    if can_redraw(console):
        console.print(shown(name, progress, on, console.width))
    else:
        for key, value in figures(progress, on):
            console.print(f"{key}: {value}", markup=False, soft_wrap=True)
    return 0 if progress.steps else 1
