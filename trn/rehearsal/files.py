"""A rehearsal's circumstances from the command line, and its files: report, timeline, page."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from report.page import page_html
from report.timeline import timeline_svg
from simulator.account.faults import Faults
from simulator.faults_syntax import FaultRequest, parse_fault
from simulator.rehearsal import Circumstances, Rehearsal
from simulator.report.schema import Report
from simulator.scenarios import circumstances, read
from trn.cli.output import STANDARD_OUTPUT
from trn.cli.text_files import write_text


def circumstances_of(scenario: str | None, faults: Sequence[str]) -> Circumstances:
    """What the rehearsal injects: a scenario, by name or file, and faults beside it, as typed.

    Raises ScenarioError or FaultSyntaxError.
    """
    given = circumstances(read(scenario), scenario) if scenario else Circumstances()
    return replace(given, faults=[*given.faults, *_parsed(faults)])


def requested_faults(texts: Sequence[str]) -> Faults:
    """The faults asked for, as typed: `NAME[@resource][:times]`. Raises FaultSyntaxError."""
    return Faults.of(_parsed(texts))


def _parsed(texts: Sequence[str]) -> list[FaultRequest]:
    requests = [parse_fault(text) for text in texts]
    # Refuses a fault that cannot be injected, before anything runs.
    Faults.of(requests)
    return requests


def ended_well(report: Report) -> bool:
    """Whether the cluster came up in the end, can be used, and was destroyed without leftovers."""
    last_up, last_destroy = [report.up, *report.reruns][-1], [report.destroy, *report.destroy_reruns][-1]
    return last_up.ended == "well" and last_destroy.ended == "well" and not report.problems


def write_files(rehearsal: Rehearsal, folder: Path, json_file: Path | None = None) -> list[Path]:
    """Write report.json, timeline.svg and index.html, and the report once more where it was asked for; returns the paths.

    Raises CommandError for a file that cannot be written.
    """
    texts = {
        "report.json": rehearsal.report.as_json(),
        "timeline.svg": timeline_svg(rehearsal.report),
        "index.html": page_html(rehearsal.report, rehearsal.recording),
    }
    for name, text in texts.items():
        write_text(folder / name, text, "name a folder with --output")
    written = [folder / name for name in texts]
    if json_file is not None and json_file != STANDARD_OUTPUT:
        write_text(json_file, rehearsal.report.as_json(), "name a file with --json, or - for standard output")
        written.append(json_file)
    return written
