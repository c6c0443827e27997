"""Findings of a manifest as lines and as data."""

from typing import Literal

from facts.document import Document, Part
from training.lint.finding import Finding
from training.lint.workloads import workloads
from trn.jobs.lint.reader import Manifest


class LintFinding(Part, frozen=True):
    """Something that will not work."""

    line: int
    rule: str
    object: str
    """Kind and name."""
    path: str
    wrong: str
    why: str
    fix: str


class LintReport(Document, frozen=True):
    """What `trn lint` found."""

    schema_: Literal["trn-lint"] = "trn-lint"
    file: str
    findings: tuple[LintFinding, ...]


def report_of(manifest: Manifest, findings: list[Finding], name: str) -> LintReport:
    """For `--json`."""
    found = (
        LintFinding(
            line=manifest.line(item.document, item.path),
            rule=item.rule,
            object=_object(manifest, item),
            path=item.path_text,
            wrong=item.wrong,
            why=item.why,
            fix=item.fix,
        )
        for item in by_line(manifest, findings)
    )
    return LintReport(file=name, findings=tuple(found))


def report_lines(manifest: Manifest, findings: list[Finding], name: str) -> list[str]:
    """Three lines a finding, and one for the whole."""
    found: list[str] = []
    for item in by_line(manifest, findings):
        found += [
            f"{name}:{manifest.line(item.document, item.path)}: {item.wrong} ({item.rule})",
            f"  why  {item.why}",
            f"  fix  {item.fix}",
        ]
    pods = sum(workload.count for workload in workloads(manifest.documents) if workload.on_neuron is not None)
    if not manifest.documents:
        return [f"{name} holds no object; nothing was checked"]
    if not pods:
        return [*found, f"{name}: no pod in it asks for Neuron chips; nothing was checked"]
    count = "1 finding" if len(findings) == 1 else f"{len(findings)} findings"
    return [*found, f"{name}: {count if findings else 'no findings'}, {pods} {'pod' if pods == 1 else 'pods'} with Neuron chips"]


def by_line(manifest: Manifest, findings: list[Finding]) -> list[Finding]:
    """In the order of the file."""
    return sorted(findings, key=lambda item: manifest.line(item.document, item.path))


def _object(manifest: Manifest, item: Finding) -> str:
    document = next(each for each in manifest.documents if each.index == item.document)
    return f"{document.kind} {document.name}".strip()
