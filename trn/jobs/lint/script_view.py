"""Findings of a script as lines and as data."""

from training.lint.scripts import ScriptFinding
from trn.jobs.lint.view import LintFinding, LintReport

FEW = 5
"""Notes beside a plan; `trn lint` shows all."""


def script_lines(found: list[ScriptFinding], name: str) -> list[str]:
    """Three lines a finding, and one for the whole."""
    lines = [
        line for item in found for line in (f"{name}:{item.line}: {item.wrong} ({item.rule})", f"  why  {item.why}", f"  fix  {item.fix}")
    ]
    count = "1 finding" if len(found) == 1 else f"{len(found)} findings"
    return [*lines, f"{name}: {count if found else 'no findings'} in the script; modules that it imports were not looked at"]


def script_report(found: list[ScriptFinding], name: str) -> LintReport:
    """For `--json`."""
    rows = (
        LintFinding(line=item.line, rule=item.rule, object="script", path="", wrong=item.wrong, why=item.why, fix=item.fix)
        for item in found
    )
    return LintReport(file=name, findings=tuple(rows))


def note_lines(found: list[ScriptFinding], name: str) -> list[str]:
    """The first few, one line each."""
    lines = [f"  {name}:{item.line}: {item.wrong}: {item.fix}" for item in found[:FEW]]
    rest = [f"  and {len(found) - FEW} more: `trn lint {name}`"] if len(found) > FEW else []
    return ["what may not work on Trainium:", *lines, *rest] if found else []
