"""The table of add-ons, and the list of their images, as lines and as data."""

import sys
from pathlib import Path
from typing import Any, Literal

from rich.table import Table

from facts.document import Document, Part
from facts.yaml_text import write_yaml
from simulator.report.words import plural
from stacks.addon_table import Row, addon_rows, mirror_list, mirror_values, without_image
from stacks.settings import Settings
from trn.cli.output import STANDARD_OUTPUT, errors, results, write_json


class AddonsReport(Document, frozen=True):
    """What `trn addons` lists."""

    schema_: Literal["trn-addons"] = "trn-addons"
    addons: tuple[Row, ...]


class ImageEntry(Part, frozen=True):
    """One image."""

    addon: str
    image: str
    target: str | None
    """In the registry that is named; null where none is."""


class ImagesReport(Document, frozen=True):
    """What `trn images` lists."""

    schema_: Literal["trn-images"] = "trn-images"
    images: tuple[ImageEntry, ...]
    configuration: dict[str, Any] | None
    """The key of the stack file that points all charts and manifests to the registry; null where none is named."""
    values: dict[str, Any] | None
    """What that sets, by chart, in the charts' own keys."""


def print_addons(settings: Settings, json_file: Path | None) -> None:
    """Print the table of all add-ons, and write it as JSON where asked for."""
    rows = addon_rows(settings)
    write_json(AddonsReport(addons=tuple(rows)), json_file)
    table = Table(box=None, header_style="bold", pad_edge=False)
    # Three columns, of which one may wrap: a terminal of 80 characters must hold them.
    table.add_column("add-on, chart, version", no_wrap=True)
    table.add_column("on", no_wrap=True)
    table.add_column("what for, why here, needs, AWS services called, images", overflow="fold")
    for row in rows:
        versions = [f"  {part}" for version in row.versions for part in version.split()] or [
            "  own manifests" if row.images else "  in AWS alone"
        ]
        lines = [row.purpose, row.why, *([f"alone: {row.fights}"] if row.fights else [])]
        lines += [f"needs {', '.join(row.needs)}"] if row.needs else []
        lines += [f"calls {', '.join(row.endpoints)}"] if row.endpoints else []
        lines.append(_images_of(row))
        table.add_row("\n".join([row.title, *versions]), "yes" if row.on else "no", "\n".join(lines))
    results(json_file).print(table)


def _images_of(row: Row) -> str:
    if row.images:
        return plural(len(row.images), "image")
    return "images from EKS's own registry" if row.versions else "no images"


def print_images(settings: Settings, registry: str | None, json_file: Path | None) -> None:
    """Print the images of add-ons that are on and of jobs; with a registry also the values that point the charts there."""
    images = mirror_list(settings, registry or "")
    entries = (ImageEntry(addon=item.addon, image=item.image, target=item.target if registry else None) for item in images)
    key: dict[str, Any] = {"trn:addons": {"mirror": registry}} if registry else {}
    values = {chart: dict(found) for chart, found in mirror_values(settings, registry).items()} if registry else {}
    report = ImagesReport(images=tuple(entries), configuration=key if registry else None, values=values if registry else None)
    write_json(report, json_file)
    # As they are: what a copying tool reads has no width. Add-ons share images; it copies each once.
    out = sys.stderr if json_file == STANDARD_OUTPUT else sys.stdout
    for line in dict.fromkeys(f"{image.image} {image.target}" if registry else image.image for image in images):
        out.write(f"{line}\n")
    for toolchain in without_image(settings):
        note = f"no image of {toolchain.name} is published, which these nodes can run: build one from {toolchain.build_from}"
        errors().print(note, markup=False, soft_wrap=True)
    if registry:
        out.write(f"\n# The key that points all charts and manifests there:\n{write_yaml(key)}")
        out.write(f"\n# What it sets, by chart:\n{write_yaml(values)}")
