"""`trn addons` and `trn images`: which add-ons a stack has, and what a mirror of their images must hold."""

import dataclasses
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

import yaml
from rich.table import Table

from operations.output import STANDARD_OUTPUT, results, write_json
from operations.stack_file import read_stack_file
from simulator.report.drawing.text import plural
from stacks.addon_table import Row, addon_rows, mirror_list, mirror_values
from stacks.config import parse_settings
from stacks.settings import Settings


def show_addons(stack: str, json_file: Path | None) -> int:
    """Print the table of add-ons; returns the exit code."""
    return _with_settings(stack, lambda settings: _print_addons(settings, json_file))


def show_images(stack: str, registry: str | None, json_file: Path | None) -> int:
    """Print the images of the add-ons that are on, and with a registry what points the charts there; returns the exit code."""
    return _with_settings(stack, lambda settings: _print_images(settings, registry, json_file))


def _with_settings(stack: str, act: Callable[[Settings], None]) -> int:
    stack_file = read_stack_file(stack)
    settings = parse_settings(stack_file.configuration, stack_file.stack, rehearsal=True)
    act(settings)
    return 0


def _print_addons(settings: Settings, json_file: Path | None) -> None:
    rows = addon_rows(settings)
    write_json(rows, json_file)
    table = Table(box=None, header_style="bold", pad_edge=False)
    # Three columns, of which one may wrap: a terminal of 80 characters must hold them.
    table.add_column("add-on, chart, version", no_wrap=True)
    table.add_column("on", no_wrap=True)
    table.add_column("what for, why here, needs, images", overflow="fold")
    for row in rows:
        versions = [f"  {part}" for version in row.versions for part in version.split()] or [
            "  own manifests" if row.images else "  in AWS alone"
        ]
        told = [row.purpose, row.why, *([f"alone: {row.fights}"] if row.fights else [])]
        told += [f"needs {', '.join(row.needs)}"] if row.needs else []
        told.append(_images_of(row))
        table.add_row("\n".join([row.title, *versions]), "yes" if row.on else "no", "\n".join(told))
    results(json_file).print(table)


def _images_of(row: Row) -> str:
    if row.images:
        return plural(len(row.images), "image")
    return "images from EKS's own registry" if row.versions else "no images"


def _print_images(settings: Settings, registry: str | None, json_file: Path | None) -> None:
    images = mirror_list(settings, registry or "")
    shown = [dataclasses.asdict(image) if registry else {"addon": image.addon, "image": image.image} for image in images]
    key: Mapping[str, object] = {"trn:addons": {"mirror": registry}} if registry else {}
    values = {chart: dict(found) for chart, found in mirror_values(settings, registry).items()} if registry else {}
    write_json({"images": shown, **({"configuration": key, "values": values} if registry else {})}, json_file)
    # As they are: what a copying tool reads has no width. Add-ons share images; it copies each once.
    out = sys.stderr if json_file == STANDARD_OUTPUT else sys.stdout
    for line in dict.fromkeys(f"{image.image} {image.target}" if registry else image.image for image in images):
        out.write(f"{line}\n")
    if registry:
        out.write(f"\n# The key that points all charts and manifests there:\n{yaml.safe_dump(key, sort_keys=False)}")
        out.write(f"\n# What it sets, by chart:\n{yaml.safe_dump(values, sort_keys=False)}")
