"""`trn scale`: one node group to a size, down to zero for the night, with what keeps costing."""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from operations.access import access
from operations.aws.node_groups import resize, scaling, sized
from operations.errors import MISUSE, CommandError
from operations.output import errors, gauge, results, write_json
from operations.rehearse.command import record_stack, settings_of
from operations.stack_file import StackFile, read_stack_file
from simulator.costs import CostItem, items, total


@dataclass(frozen=True)
class ScaleOptions:
    """What the command line said."""

    stack: str
    group: str
    count: int
    json_file: Path | None


def run(options: ScaleOptions) -> int:
    """Set the size, wait, say what it costs from here on."""
    stack_file = read_stack_file(options.stack)
    settings = settings_of(stack_file)
    if options.group not in settings.node_groups:
        known = ", ".join(sorted(settings.node_groups)) or "none"
        raise CommandError(f"stack {options.stack} has no Neuron group `{options.group}`", f"its groups: {known}", code=MISUSE)
    lines = [line for line in items(record_stack(resized(stack_file, options.group, options.count))) if line.usd_per_hour != 0]
    api = access().aws(options.stack, settings.region)
    current = scaling(api, settings.name, options.group)
    wanted = sized(current, options.count)
    progress, console = errors(), results(options.json_file)
    progress.print(f"{options.group}: {current['desiredSize']} nodes, wanted {options.count}", markup=False)
    with gauge("waiting for EKS", progress) as show:
        said = resize(api, settings.name, options.group, wanted, access().pause, show) if wanted != current else []
    write_json(as_data(options, wanted, lines, said), options.json_file)
    for text in said:
        console.print(f"EKS says {text}", markup=False, soft_wrap=True)
    if said:
        return 1
    console.print(
        f"{options.group} is set to {options.count} nodes; the stack now costs {total(lines, idle=False):.2f} USD an hour:", markup=False
    )
    for line in lines:
        usd = "no list price" if line.usd_per_hour is None else f"{line.usd_per_hour:.3f}"
        console.print(f"  {usd:>8}  {line.name}, {line.what}", markup=False)
    if settings.node_groups[options.group].size != options.count and not settings.node_groups[options.group].autoscaled:
        keep = f"pulumi config set --stack {options.stack} --path 'trn:nodeGroups.{options.group}.size' {options.count}"
        console.print(f"the next `pulumi up` sets it back, unless: {keep}", markup=False, soft_wrap=True)
    return 0


def resized(stack_file: StackFile, group: str, count: int) -> StackFile:
    """The stack file as if it said the count, so that its cost can be told."""
    groups: dict[str, Any] = {**stack_file.pairs["trn:nodeGroups"]}
    entry = {**groups[group], "size": count}
    limits = {"minSize": min(entry.get("minSize", 0), count), "maxSize": max(entry.get("maxSize", 1), count, 1)}
    return replace(stack_file, pairs={**stack_file.pairs, "trn:nodeGroups": {**groups, group: {**entry, **limits}}})


def as_data(options: ScaleOptions, wanted: dict[str, int], lines: list[CostItem], said: list[str]) -> dict[str, Any]:
    """The same for `--json`."""
    return {
        "group": options.group,
        "sizes": wanted,
        "problems": said,
        "usdPerHour": total(lines, idle=False),
        "items": [{"name": line.name, "what": line.what, "usdPerHour": line.usd_per_hour} for line in lines],
    }
