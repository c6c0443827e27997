"""`trn addons` and `trn images`: which add-ons a stack has, and what a mirror of their images must hold."""

import dataclasses
import json
import sys
from collections.abc import Callable

import yaml
from rich.console import Console
from rich.table import Table

from operations.stack_file import read_stack_file
from stacks.addon_table import addon_rows, mirror_list, mirror_values
from stacks.config import parse_settings
from stacks.settings import Settings


def show_addons(stack: str, *, as_json: bool) -> int:
    """Print the table of add-ons; returns the exit code."""
    return _with_settings(stack, lambda settings: _print_addons(settings, as_json=as_json))


def show_images(stack: str, registry: str | None, *, as_json: bool) -> int:
    """Print the images of the add-ons that are on, and with a registry what points the charts there; returns the exit code."""
    return _with_settings(stack, lambda settings: _print_images(settings, registry, as_json=as_json))


def _with_settings(stack: str, act: Callable[[Settings], None]) -> int:
    stack_file = read_stack_file(stack)
    settings = parse_settings(stack_file.configuration, stack_file.stack, rehearsal=True)
    act(settings)
    return 0


def _print_addons(settings: Settings, *, as_json: bool) -> None:
    rows = addon_rows(settings)
    if as_json:
        sys.stdout.write(json.dumps([dataclasses.asdict(row) for row in rows], indent=2) + "\n")
        return
    table = Table(box=None, header_style="bold", pad_edge=False)
    for column in ("add-on", "on", "version", "needs", "what for, and why it is on or off here", "images"):
        table.add_column(column, overflow="fold")
    for row in rows:
        told = [row.purpose, row.why, *([f"alone: {row.fights}"] if row.fights else [])]
        versions = "\n".join(row.versions) or ("own manifests" if row.images else "in AWS alone")
        table.add_row(row.title, "yes" if row.on else "no", versions, "\n".join(row.needs), "\n".join(told), str(len(row.images)))
    Console(highlight=False).print(table)


def _print_images(settings: Settings, registry: str | None, *, as_json: bool) -> None:
    images = mirror_list(settings, registry or "")
    if as_json:
        document: dict[str, object] = {
            "images": [dataclasses.asdict(image) if registry else {"addon": image.addon, "image": image.image} for image in images]
        }
        if registry:
            document |= {"configuration": {"trn:addons": {"mirror": registry}}, "values": mirror_values(settings, registry)}
        sys.stdout.write(json.dumps(document, indent=2) + "\n")
        return
    for image in images:
        sys.stdout.write(f"{image.image} {image.target}\n" if registry else f"{image.image}\n")
    if registry:
        told = {"trn:addons": {"mirror": registry}}
        sys.stdout.write("\n# The key that points all charts and manifests there:\n")
        sys.stdout.write(yaml.safe_dump(told, sort_keys=False))
        sys.stdout.write("\n# What it sets, by chart:\n")
        sys.stdout.write(
            yaml.safe_dump({chart: dict(values) for chart, values in mirror_values(settings, registry).items()}, sort_keys=False)
        )
