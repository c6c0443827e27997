"""What is looked for: how many instances of which type, for how long, for which node group."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time

from facts.catalogue import NEURON_TYPES
from facts.regions import REGIONS, near_regions, partition
from stacks.settings import Settings, largest_size
from trn.before.init.offers import regions_offering
from trn.cli.errors import MISUSE, CommandError
from trn.engine.early import no_group


@dataclass(frozen=True)
class Wanted:
    """Instances for some time."""

    group: str
    """Node group that they are for; one that the stack file does not have yet gets a name after its type."""
    instance_type: str
    count: int
    hours: int
    earliest: datetime
    """UTC."""

    def __str__(self) -> str:
        return f"{self.count} x {self.instance_type} for {self.hours} h from {self.earliest:%Y-%m-%d %H:%M} UTC"


def wanted_of(
    settings: Settings, stack: str, *, group: str | None, instance_type: str | None, count: int | None, hours: int, day: date | None,
    now: datetime, may_be_new: bool = False,
) -> Wanted:  # fmt: skip
    """What the options mean for a stack: without group or type its first Neuron group, without a count as many as that group may have.

    `may_be_new`: whether a group that is not there is made, where its type is named. Raises CommandError for one that is not there, or of another type, for a type that EC2 does not have, and for a day that is over.
    """
    if group is not None and group not in settings.node_groups and not (group and may_be_new and instance_type is not None):
        raise no_group(stack, group, list(settings.node_groups))
    if instance_type is not None and instance_type not in NEURON_TYPES:
        raise CommandError(f"no Neuron instance type `{instance_type}`", f"one of {', '.join(NEURON_TYPES)}", code=MISUSE)
    name = group or _first_group(settings, instance_type)
    entry = settings.node_groups.get(name)
    chosen = instance_type or (entry.instance_type if entry is not None else "trn1.32xlarge")
    if group is not None and entry is not None and entry.instance_type != chosen:
        hint = "leave --type out, or name another group"
        raise CommandError(f"group `{group}` is of {entry.instance_type}, not of {chosen}", hint, code=MISUSE)
    if day is not None and day < now.date():
        raise CommandError(f"--from {day} is over: today is {now.date()} in UTC", "name today or a later day", code=MISUSE)
    earliest = now if day is None or day == now.date() else datetime.combine(day, time(), UTC)
    return Wanted(name, chosen, count or (largest_size(entry) if entry is not None else 1), hours, earliest)


def _first_group(settings: Settings, instance_type: str | None) -> str:
    fitting = [name for name, entry in settings.node_groups.items() if instance_type in (None, entry.instance_type)]
    return fitting[0] if fitting else (instance_type or "trn1.32xlarge").replace(".", "-")


def regions_of(settings: Settings, wanted: Wanted, named: Sequence[str]) -> list[str]:
    """Regions to look at, the stack's own first: those that are named, else all of its partition in which the type was seen.

    Raises CommandError for a region that there is not.
    """
    for region in named:
        if region not in REGIONS:
            near = near_regions(region)
            raise CommandError(f"no region `{region}`", f"did you mean {', '.join(near)}?" if near else "such as us-east-2", code=MISUSE)
    if named:
        return list(dict.fromkeys(named))
    seen = [region for region in regions_offering(wanted.instance_type) if partition(region) == partition(settings.region)]
    group = settings.node_groups.get(wanted.group)
    named_there = [candidate.region for candidate in group.candidates if candidate.region is not None] if group is not None else []
    return list(dict.fromkeys([settings.region, *named_there, *seen]))


def named_regions(text: str) -> list[str]:
    """Regions of an option, separated by commas."""
    return [part.strip() for part in text.split(",") if part.strip()]


def day_of(text: str | None) -> date | None:
    """A day as `--from` takes it. Raises CommandError for what is none."""
    try:
        return None if text is None else date.fromisoformat(text)
    except ValueError as error:
        raise CommandError(f"`{text}` is no day", "write it as 2026-12-01", code=MISUSE) from error
