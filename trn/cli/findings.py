"""Findings of a check: pass, warn, fail or skip, and what to do about it."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from rich.console import Console
from rich.text import Text

Verdict = Literal["pass", "warn", "fail", "skip"]
_STYLES = {"pass": "bold green", "warn": "bold yellow", "fail": "bold red", "skip": "dim"}


@dataclass(frozen=True)
class Finding:
    """One finding."""

    check: str
    """What was looked at, in a word or two."""
    verdict: Verdict
    what: str
    """What is so, with figures."""
    do: str = ""
    """What to do: a command, a key or a link. Empty for a pass."""


def passed(check: str, what: str) -> Finding:
    """All is well."""
    return Finding(check, "pass", what)


def warned(check: str, what: str, do: str) -> Finding:
    """It works, but a user should know of it."""
    return Finding(check, "warn", what, do)


def failed(check: str, what: str, do: str) -> Finding:
    """It will not work, or could not be checked."""
    return Finding(check, "fail", what, do)


def skipped(check: str, what: str) -> Finding:
    """There is nothing to check, on purpose."""
    return Finding(check, "skip", what)


def exit_code(findings: Iterable[Finding]) -> int:
    """1 where anything failed, 0 otherwise."""
    return 1 if any(finding.verdict == "fail" for finding in findings) else 0


def print_findings(console: Console, findings: Sequence[Finding]) -> None:
    """All of them; in a pipe without colour."""
    for line in finding_lines(findings):
        console.print(line, soft_wrap=True)


def finding_lines(findings: Sequence[Finding]) -> Iterator[Text]:
    """One line per finding and one below it for what to do, and how many there are of each."""
    width = max((len(finding.check) for finding in findings), default=0)
    for finding in findings:
        yield Text(f"{finding.verdict:<5}", style=_STYLES[finding.verdict]) + Text(f"{finding.check:<{width}}  {finding.what}", style="")
        if finding.do:
            yield Text(f"{'':<5}{'':<{width}}  -> {finding.do}")
    counts = {verdict: sum(1 for finding in findings if finding.verdict == verdict) for verdict in _STYLES}
    yield Text(", ".join(f"{count} {verdict}" for verdict, count in counts.items() if count))
