"""`trn lint`: read a job's manifest, also a foreign one, and say what is wrong with it."""

from pathlib import Path
from typing import Annotated

import typer

from trn.cli import completion
from trn.cli.options import JsonFile

_HINT, _TOO_LARGE = "name a manifest, or - for standard input", "split it: one job a file"


def lint(
    file: Annotated[
        Path,
        typer.Argument(
            help="Manifest with one or more objects, of any kind, or a script, .py; - for a manifest on standard input.", allow_dash=True
        ),
    ],
    stack: Annotated[
        str | None,
        typer.Option(
            "--stack",
            "-s",
            metavar="NAME",
            help="Also hold it against the nodes of this stack, as in Pulumi.NAME.yaml.",
            autocompletion=completion.stacks,
        ),
    ] = None,
    json_file: JsonFile = None,
) -> int:
    """Find what will not work in any manifest of a training job: dead names, missing EFA, images that the driver refuses.

    Of a script for GPUs: what it calls that Neuron has not, tensors on the CPU in collectives, values that leave the device in each step,
    shapes that change. Needs no cluster. Each finding has its line, the reason and the fix. Exits with 1 where there is one.

    Example: trn lint pytorchjob.yaml, or: trn lint dev pytorchjob.yaml, or: trn lint train.py
    """
    from facts.toolchains import TOOLCHAINS
    from stacks.stack_yaml import MAX_BYTES
    from training.lint import lint as linted_manifest
    from training.lint.scripts import findings_of
    from trn.cli.output import results, write_json
    from trn.cli.text_files import STANDARD_INPUT, read_input, read_text
    from trn.engine.job_site import site_of
    from trn.engine.program import settings_of
    from trn.engine.stack_file import read_stack_file
    from trn.jobs.lint.reader import read_manifest
    from trn.jobs.lint.script_view import script_lines, script_report
    from trn.jobs.lint.view import report_lines, report_of

    name = "standard input" if str(file) == "-" else str(file)
    site = site_of(settings_of(read_stack_file(stack)), stack) if stack is not None else None
    is_input = file == STANDARD_INPUT
    text = read_input(MAX_BYTES, _TOO_LARGE) if is_input else read_text(file, MAX_BYTES, _HINT, too_large=_TOO_LARGE)
    if file.suffix == ".py":
        toolchain = TOOLCHAINS.get(site.toolchain or "") if site is not None else None
        linted = findings_of(text, toolchain.framework if toolchain is not None else None)
        write_json(script_report(linted, name), json_file)
        for line in script_lines(linted, name):
            results(json_file).print(line, markup=False, soft_wrap=True)
        return 1 if linted else 0
    manifest = read_manifest(text, name)
    found = linted_manifest(manifest.documents, site)
    write_json(report_of(manifest, found, name), json_file)
    console = results(json_file)
    for line in report_lines(manifest, found, name):
        console.print(line, markup=False, soft_wrap=True)
    return 1 if found else 0
