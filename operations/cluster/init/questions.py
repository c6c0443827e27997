"""The questions of `trn init`: asked one after the other, where an option has not answered already."""

from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TypeVar

import typer
import yaml

from addons.registry import SWITCHED, with_needs
from operations.aws.api import Api
from operations.aws.capacity_blocks import block_offerings, buy_command
from operations.aws.zones import offered_zone_ids, zones
from operations.cluster.init.answers import ADDONS, Answers, stack_file_text, zones_offering
from operations.errors import MISUSE, CommandError
from operations.output import errors
from operations.program import record_stack
from operations.stack_file import StackFile
from simulator.cost_figures import Figures
from simulator.costs import figures, items

T = TypeVar("T")


class Questions:
    """Asks on standard error; `asks` False takes each question's default."""

    def __init__(self, root: Path, project: str, *, asks: bool) -> None:
        self._root, self._project, self.asks = root, project, asks
        self._console = errors()

    def text(self, given: str | None, default: str, question: str) -> str:
        """A text."""
        return self._answer(given, default, lambda: typer.prompt(question, default=default, err=True))

    def number(self, given: int | None, default: int, question: str) -> int:
        """A whole number."""
        return self._answer(given, default, lambda: typer.prompt(question, default=default, type=int, err=True))

    def choice(self, option: str, given: str | None, allowed: Sequence[str], question: str, default: str) -> str:
        """One of the values allowed. Raises CommandError for another one."""
        answer = self._answer(given, default, lambda: typer.prompt(f"{question} ({', '.join(allowed)})", default=default, err=True))
        if answer not in allowed:
            raise CommandError(f"`{option}` is `{answer}`", f"take one of {', '.join(allowed)}", code=MISUSE)
        return answer

    def cidr_blocks(self, given: Sequence[str] | None) -> tuple[str, ...]:
        """CIDR blocks that may reach the cluster's API."""
        if given is None and self.asks:
            answer = typer.prompt("CIDR blocks that may reach the API (with commas; empty for none)", default="", err=True)
            given = _parts(answer)
        return tuple(given or ())

    def addons(self, given: str | None) -> tuple[str, ...]:
        """Add-ons that are on, with those they need. Raises CommandError for an unknown one."""
        wanted = {*_parts(self.text(given, ",".join(ADDONS), "Add-ons"))} - {"none"}
        known = SWITCHED
        if not wanted <= set(known):
            unknown = ", ".join(sorted(wanted - set(known)))
            raise CommandError(f"unknown add-on: {unknown}", f"take of {', '.join(known)}, or none", code=MISUSE)
        needed = {need for addon in wanted for need in with_needs(addon)}
        return tuple(addon for addon in known if addon in needed)

    def show(self, line: str) -> None:
        """A line between the questions."""
        self._console.print(f"  {line}", markup=False, soft_wrap=True)

    def show_cost(self, answers: Answers) -> None:
        """What the answers so far cost, where questions are asked."""
        if self.asks:
            self.show(f"so far {cost_of(as_stack_file(answers, self._root, self._project)).words()}")

    def _answer(self, given: T | None, default: T, ask: Callable[[], T]) -> T:
        if given is not None:
            return given
        return ask() if self.asks else default


def offered_zones(instance_type: str, region: str, zone: str | None, api: Api | None) -> list[str]:
    """Zone ids that offer the type: as the account says, or without `api` as the catalogue says, which a zone given overrules."""
    if api is None:
        return [zone] if zone else zones_offering(instance_type, region)
    offered = sorted(offered_zone_ids(api, [instance_type])[instance_type], reverse=True)
    if not offered:
        raise CommandError(f"{instance_type} is not offered in {region}", "take another type or region", code=MISUSE)
    return offered


def usable_zones(api: Api | None) -> list[str]:
    """Zone ids that the account can use; none without `api`."""
    return [zone.zone_id for zone in zones(api).values() if zone.is_usable] if api is not None else []


def reservation_of(answers: Answers, given: str | None, ask: Questions, api: Api | None, block_hours: int) -> str | None:
    """Id of the capacity reservation; a capacity block must have one. With `api`, the blocks on offer are listed first.

    Raises CommandError where it may not be asked for.
    """
    if given is not None or answers.capacity != "capacity-block":
        return given
    buy = _list_blocks(answers, ask, api, block_hours) if api is not None else ""
    if not ask.asks:
        hint = f"`{buy}` buys the first one on offer; then add --reservation cr-..." if buy else "add --reservation cr-..."
        raise CommandError("a capacity block needs its reservation", hint, code=MISUSE)
    return typer.prompt("Id of the capacity block (cr-...)", err=True)


def _list_blocks(answers: Answers, ask: Questions, api: Api, block_hours: int) -> str:
    """List the blocks that are sold in the zone; returns the command that buys the first, or an empty text."""
    today = datetime.now(UTC).date()
    sold = block_offerings(api, answers.instance_type, max(1, answers.count), block_hours, today)
    here = [offering for offering in sold if offering.zone_id == answers.zone]
    if not here:
        others = ", ".join(sorted({offering.zone_id for offering in sold})) or "no zone"
        ask.show(f"no block of {block_hours} h is on offer in {answers.zone}, but in {others}")
    for offering in here:
        ask.show(f"{offering}: `{buy_command(answers.region, offering)}`")
    return buy_command(answers.region, here[0]) if here else ""


def as_stack_file(answers: Answers, root: Path, project: str) -> StackFile:
    """The stack file that the answers make."""
    return StackFile(root, project, answers.stack, yaml.safe_load(stack_file_text(answers))["config"])


def cost_of(stack_file: StackFile) -> Figures:
    """Cost of the stack."""
    return figures(items(record_stack(stack_file)))


def _parts(text: str) -> list[str]:
    return [part.strip() for part in text.split(",") if part.strip()]
