"""`trn addons` and `trn images`: which add-ons a stack has, and what a mirror of their images must hold."""

from pathlib import Path
from typing import Annotated

import typer

from trn.cli.options import JsonFile, Stack


def addons(
    stack: Stack,
    json_file: Annotated[
        Path | None, typer.Option("--json", help="Also write them here, with images and what each leaves behind; - for standard output.")
    ] = None,
) -> int:
    """List all add-ons: version, what each needs, whether it is on here, and why.

    Example: trn addons dev --json - | jq '.addons[] | select(.on) | .title'
    """
    from trn.before.addons.view import print_addons
    from trn.engine.program import settings_of
    from trn.engine.stack_file import read_stack_file

    print_addons(settings_of(read_stack_file(stack)), json_file)
    return 0


def images(
    stack: Stack,
    mirror: Annotated[
        str | None, typer.Option("--mirror", help="Registry that is to hold copies; also prints what points the charts there.")
    ] = None,
    json_file: JsonFile = None,
) -> int:
    """List the images that a cluster without a way to the internet needs: of its add-ons, and of jobs by each toolchain that its nodes can run.

    Images that your jobs name themselves are not in it.

    Example: trn images --mirror registry.example:5000/team
    """
    from facts.text_formats import REGISTRY
    from trn.before.addons.view import print_images
    from trn.cli.errors import MISUSE, CommandError
    from trn.engine.program import settings_of
    from trn.engine.stack_file import read_stack_file

    if mirror is not None and not REGISTRY.fits(mirror):
        raise CommandError(f"`--mirror {mirror}` is no {REGISTRY.what}\n  allowed: {REGISTRY.allowed}", REGISTRY.hint, code=MISUSE)
    print_images(settings_of(read_stack_file(stack)), mirror, json_file)
    return 0
