"""`trn init`: asks what options have not said, shows the cost as it goes, writes the stack file."""

import re
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TypeVar

import typer
import yaml

from addons.registry import SWITCHED, with_needs
from operations.access import access
from operations.aws.capacity_blocks import block_offerings, buy_command, refuse_hours
from operations.aws.zones import offered_zone_ids, zones
from operations.cluster.init.answers import ADDONS, REGIONS, Answers, capacity_kinds, second_zone, stack_file_text, types_in, zones_offering
from operations.errors import MISUSE, CommandError
from operations.output import errors, results, write_json
from operations.rehearse.command import record_stack, settings_of
from operations.stack_file import StackFile, project_of
from simulator.costs import items, total
from stacks.rules import notices

STACK_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")
T = TypeVar("T")


@dataclass(frozen=True)
class InitOptions:
    """What the command line said; None is asked for, or with `yes` takes its default."""

    stack: str
    name: str | None
    region: str | None
    instance_type: str | None
    count: int | None
    capacity: str | None
    reservation: str | None
    zone: str | None
    allow: Sequence[str] | None
    fsx_gib: int | None
    addons: str | None
    live: bool
    block_hours: int
    yes: bool
    force: bool
    json_file: Path | None


def run(options: InitOptions) -> int:
    """Ask, check, write."""
    refuse_hours(options.block_hours)
    if not STACK_NAME.fullmatch(options.stack):
        raise CommandError(f"`{options.stack}` is no stack name", "letters, digits, hyphens, underscores and dots", code=MISUSE)
    root, project = project_of()
    path = root / f"Pulumi.{options.stack}.yaml"
    if path.exists() and not options.force:
        raise CommandError(f"{path.name} is there already", "name another stack, or add --force to write it anew", code=MISUSE)
    answers = Interview(options, root, project).answers()
    stack_file = _as_stack_file(answers, root, project)
    settings = settings_of(stack_file, rehearsal=False)
    path.write_text(stack_file_text(answers))
    running, idle = _usd(stack_file)
    data = {"file": str(path), "answers": asdict(answers), "runningUsdPerHour": running, "idleUsdPerHour": idle}
    write_json(data, options.json_file)
    console = results(options.json_file)
    console.print(f"wrote {path.name}: {running:.2f} USD an hour running, {idle:.2f} idle", markup=False)
    for notice in notices(settings):
        console.print(f"note: {notice}", markup=False, soft_wrap=True)
    console.print(f"next: trn rehearse {options.stack}, then: trn check {options.stack}", markup=False)
    return 0


class Interview:
    """One after the other, each question with what the earlier answers leave open."""

    def __init__(self, options: InitOptions, root: Path, project: str) -> None:
        self._options, self._root, self._project = options, root, project
        self._console = errors()

    def answers(self) -> Answers:
        """All answers; what each costs is said as it is known."""
        options = self._options
        region = self._text(options.region, REGIONS[0], "Region")
        kinds = types_in(region)
        instance = self._choice("--instance-type", options.instance_type, kinds, "Instance type", kinds[min(1, len(kinds) - 1)])
        offered = self._offered(instance, region)
        zone = self._choice("--zone", options.zone, offered, "Zone of the nodes", offered[0])
        others = self._zone_ids(region)
        found = Answers(
            stack=options.stack, name=f"trainium-{options.stack}", region=region, instance_type=instance, count=0, capacity="on-demand",
            reservation=None, zone=zone, second_zone=second_zone(zone, region, others), allow=(), fsx_gib=0, addons=ADDONS,
        )  # fmt: skip
        found = replace(found, name=self._text(options.name, found.name, "Cluster name"))
        self._tell_cost(found)
        found = replace(found, count=self._number(options.count, 2, "Nodes"))
        found = self._capacity(found)
        self._tell_cost(found)
        found = replace(found, fsx_gib=self._number(options.fsx_gib, 1200, "FSx for Lustre, GiB (0 for none)"))
        self._tell_cost(found)
        found = replace(found, allow=self._allow())
        return replace(found, addons=self._addons())

    def _capacity(self, found: Answers) -> Answers:
        kinds = capacity_kinds(found.instance_type)
        kind = self._choice("--capacity", self._options.capacity, kinds, "Capacity", kinds[0])
        reservation = self._options.reservation
        if reservation is None and kind == "capacity-block":
            buy = self._on_offer(found) if self._options.live else ""
            if self._options.yes:
                hint = f"`{buy}` buys the first one on offer; then add --reservation cr-..." if buy else "add --reservation cr-..."
                raise CommandError("a capacity block needs its reservation", hint, code=MISUSE)
            reservation = typer.prompt("Id of the capacity block (cr-...)", err=True)
        return replace(found, capacity=kind, reservation=reservation)

    def _on_offer(self, found: Answers) -> str:
        """Lists the blocks that are sold in the zone; gives what buys the first, or an empty text."""
        hours, today = self._options.block_hours, datetime.now(UTC).date()
        sold = block_offerings(access().aws(self._options.stack, found.region), found.instance_type, max(1, found.count), hours, today)
        here = [offering for offering in sold if offering.zone_id == found.zone]
        if not here:
            others = ", ".join(sorted({offering.zone_id for offering in sold})) or "no zone"
            self._console.print(f"  no block of {hours} h is on offer in {found.zone}, but in {others}", markup=False, soft_wrap=True)
        for offering in here:
            self._console.print(f"  {offering}: `{buy_command(found.region, offering)}`", markup=False, soft_wrap=True)
        return buy_command(found.region, here[0]) if here else ""

    def _offered(self, instance: str, region: str) -> list[str]:
        if self._options.live:
            offered = sorted(offered_zone_ids(access().aws(self._options.stack, region), [instance])[instance], reverse=True)
            if not offered:
                raise CommandError(f"{instance} is not offered in {region}", "take another type or region", code=MISUSE)
            return offered
        return [self._options.zone] if self._options.zone else zones_offering(instance, region)

    def _zone_ids(self, region: str) -> list[str]:
        return (
            [zone.zone_id for zone in zones(access().aws(self._options.stack, region)).values() if zone.is_usable]
            if self._options.live
            else []
        )

    def _allow(self) -> tuple[str, ...]:
        given = self._options.allow
        if given is None and not self._options.yes:
            said = typer.prompt("Who may reach the API (CIDRs, with commas; empty for nobody outside)", default="", err=True)
            given = [part.strip() for part in said.split(",") if part.strip()]
        return tuple(given or ())

    def _addons(self) -> tuple[str, ...]:
        said = self._text(self._options.addons, ",".join(ADDONS), "Add-ons")
        wanted = {part.strip() for part in said.split(",") if part.strip()} - {"none"}
        known = SWITCHED
        if not wanted <= set(known):
            raise CommandError(
                f"unknown add-on: {', '.join(sorted(wanted - set(known)))}", f"take of {', '.join(known)}, or none", code=MISUSE
            )
        needed = {need for addon in wanted for need in with_needs(addon)}
        return tuple(addon for addon in known if addon in needed)

    def _text(self, given: str | None, default: str, question: str) -> str:
        return self._asked(given, default, lambda: typer.prompt(question, default=default, err=True))

    def _number(self, given: int | None, default: int, question: str) -> int:
        return self._asked(given, default, lambda: typer.prompt(question, default=default, type=int, err=True))

    def _choice(self, option: str, given: str | None, allowed: Sequence[str], question: str, default: str) -> str:
        said = self._asked(given, default, lambda: typer.prompt(f"{question} ({', '.join(allowed)})", default=default, err=True))
        if said not in allowed:
            raise CommandError(f"`{option}` is `{said}`", f"take one of {', '.join(allowed)}", code=MISUSE)
        return said

    def _asked(self, given: T | None, default: T, ask: Callable[[], T]) -> T:
        if given is not None:
            return given
        return default if self._options.yes else ask()

    def _tell_cost(self, found: Answers) -> None:
        if not self._options.yes:
            running, idle = _usd(_as_stack_file(found, self._root, self._project))
            self._console.print(f"  so far {running:.2f} USD an hour running, {idle:.2f} idle", markup=False)


def _as_stack_file(answers: Answers, root: Path, project: str) -> StackFile:
    return StackFile(root, project, answers.stack, yaml.safe_load(stack_file_text(answers))["config"])


def _usd(stack_file: StackFile) -> tuple[float, float]:
    lines = items(record_stack(stack_file))
    return total(lines, idle=False), total(lines, idle=True)
