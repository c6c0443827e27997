"""Findings as JUnit XML, for build servers."""

from collections.abc import Sequence
from pathlib import Path
from xml.etree import ElementTree

from trn.cli.control_characters import escaped
from trn.cli.findings import Finding
from trn.cli.text_files import write_text


def junit(findings: Sequence[Finding], suite_name: str) -> str:
    """The findings as JUnit XML, one test case each (the schema of Jenkins' xunit plug-in)."""
    counts = {verdict: str(sum(1 for finding in findings if finding.verdict == verdict)) for verdict in ("fail", "skip")}
    attributes = {"tests": str(len(findings)), "failures": counts["fail"], "skipped": counts["skip"]}
    suite = ElementTree.Element("testsuite", {"name": suite_name, "errors": "0", **attributes})
    for finding in findings:
        case = ElementTree.SubElement(suite, "testcase", {"classname": finding.check, "name": finding.what})
        if finding.verdict == "fail":
            ElementTree.SubElement(case, "failure", {"message": finding.what}).text = finding.do
        elif finding.verdict == "skip":
            ElementTree.SubElement(case, "skipped", {"message": finding.what})
        elif finding.do:
            ElementTree.SubElement(case, "system-out").text = finding.do
    return ElementTree.tostring(suite, encoding="unicode", xml_declaration=True) + "\n"


def write_junit(findings: Sequence[Finding], suite_name: str, path: Path) -> None:
    """Write the JUnit file. Raises CommandError."""
    # XML 1.0 has no control characters, not even as references.
    write_text(path, escaped(junit(findings, suite_name)), "name a file with --junit")
