"""The rules of the simulated cloud, and the faults that can be injected, as data, as tables and as a page."""

from typing import Literal

from rich.console import Console
from rich.table import Table

from facts.document import Document, Part
from simulator import scenarios
from simulator.account.consequences import CONSEQUENCES
from simulator.account.faults import FAULTS
from simulator.account.judge import ALL_RULES
from simulator.scenario_files import names

STAGES = {
    "create": "when it is made",
    "settle": "until it is ready",
    "update": "when it is changed",
    "delete": "when it is deleted",
    "verify": "when it is up",
}


class RuleLine(Part, frozen=True):
    """One rule, consequence or fault."""

    name: str
    when: str
    says: str
    source: str


class ScenarioLine(Part, frozen=True):
    """One scenario that comes with the project."""

    name: str
    says: str


class RuleBook(Document, frozen=True):
    """All of them."""

    schema_: Literal["trn-rehearse-rules"] = "trn-rehearse-rules"
    rules: list[RuleLine]
    consequences: list[RuleLine]
    faults: list[RuleLine]
    scenarios: list[ScenarioLine]


def rule_book() -> RuleBook:
    """Everything that the simulated cloud knows beyond making and deleting."""
    return RuleBook(
        rules=[RuleLine(name=item.name, when=STAGES[item.stage], says=item.sentence, source=item.source) for item in ALL_RULES],
        consequences=[RuleLine(name=item.name, when="when it is gone", says=item.sentence, source=item.source) for item in CONSEQUENCES],
        faults=[RuleLine(name=item.name, when=_when(item.when), says=item.sentence, source=item.source) for item in FAULTS.values()],
        scenarios=[ScenarioLine(name=name, says=scenarios.read(name).says) for name in names()],
    )


def _when(when: str) -> str:
    others = {"kill": "at any instant", "provider": "at any instant", "training": "while a job runs", "after": "before destroy"}
    return others.get(when) or STAGES[when]


def print_book(console: Console, book: RuleBook) -> None:
    """Print them, one table for each kind."""
    for title, lines in (("rules", book.rules), ("consequences", book.consequences), ("faults, for --fault", book.faults)):
        console.print(_table(f"{title} ({len(lines)})", lines))
    table = Table("name", "what happens", title="scenarios, for --scenario", title_justify="left", box=None)
    for line in book.scenarios:
        table.add_row(line.name, line.says)
    console.print(table)


def page() -> str:
    """docs/rules.md."""
    book = rule_book()
    lines = [
        "# What the simulated cloud refuses and suffers",
        "",
        "Made by `make docs` from `simulator/account/`; `trn rehearse rules` prints the same. Each rule is broken in `tests/simulator/account/test_rules.py`.",
    ]
    for title, described in (("Rules", book.rules), ("Effects of a deletion", book.consequences), ("Faults, for `--fault`", book.faults)):
        lines += ["", f"## {title}", "", "| name | when | what holds | source |", "| --- | --- | --- | --- |"]
        lines += [f"| `{line.name}` | {line.when} | {line.says} | {line.source} |" for line in described]
    lines += ["", "## Scenarios, for `--scenario`", "", "| name | what happens |", "| --- | --- |"]
    lines += [f"| `{line.name}` | {line.says} |" for line in book.scenarios]
    return "\n".join(lines) + "\n"


def _table(title: str, lines: list[RuleLine]) -> Table:
    table = Table("name", "when", "what holds", "source", title=title, title_justify="left", box=None, pad_edge=False)
    for line in lines:
        table.add_row(line.name, line.when, line.says, line.source)
    return table
