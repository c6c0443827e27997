"""`trn status`: look at everything, print, write the JUnit file, say the verdict."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from xml.etree import ElementTree

from botocore.exceptions import BotoCoreError, ClientError

from operations.access import access
from operations.aws.errors import told
from operations.cluster.status import nodes, services
from operations.cluster.status.subject import Subject
from operations.errors import CommandError
from operations.findings import Finding, exit_code, failed, print_findings
from operations.kube.cluster import cluster_of
from operations.output import results, tracked, write_json
from operations.rehearse.command import settings_of
from operations.stack_file import read_stack_file

Check = Callable[[Subject], Iterator[Finding]]
CHECKS: dict[str, Check] = {
    "control plane": services.control_plane,
    "node groups": nodes.groups,
    "nodes ready": nodes.ready,
    "devices": nodes.devices,
    "device plug-ins": nodes.plugins,
    "EFA": nodes.interfaces,
    "queues": services.queues,
    "etcd": services.etcd,
    "file system": services.file_system,
}


@dataclass(frozen=True)
class StatusOptions:
    """What the command line said."""

    stack: str
    junit: Path | None
    json_file: Path | None


def run(options: StatusOptions) -> int:
    """Look, print, and return 1 where anything failed."""
    settings = settings_of(read_stack_file(options.stack))
    api = access().aws(options.stack, settings.region)
    subject = Subject(settings, api, cluster_of(api, settings.name))
    found = [finding for name in tracked(list(CHECKS), "looking") for finding in findings_of(subject, name)]
    good = exit_code(found) == 0
    write_json({"stack": options.stack, "healthy": good, "findings": found}, options.json_file)
    if options.junit:
        write_junit(found, f"trn status {options.stack}", options.junit)
    console = results(options.json_file)
    print_findings(console, found)
    verdict = "is as it should be" if good else "is not as it should be"
    console.print(f"{settings.name} {verdict}", markup=False)
    return exit_code(found)


def findings_of(subject: Subject, name: str) -> Iterator[Finding]:
    """Findings of one check."""
    yield from guarded(name, CHECKS[name](subject))


def guarded(name: str, findings: Iterator[Finding]) -> Iterator[Finding]:
    """The findings of a check; one that cannot be made is a failure."""
    try:
        yield from findings
    except (BotoCoreError, ClientError) as error:
        said = told(error)
        yield failed(name, f"could not check: {said.args[0] if said else error}", said.hint if said and said.hint else "run it again")
    except CommandError as error:
        yield failed(name, f"could not check: {error.args[0]}", error.hint or "run it again")
    except (ValueError, KeyError) as error:
        yield failed(name, f"could not check: the answer makes no sense: {error!r}", "run it again")


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
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(junit(findings, suite_name))
    except OSError as error:
        raise CommandError(f"cannot write `{path}`: {error.strerror}", "name a file with --junit") from error
