"""What `trn import` says: what maps to what, what is used as it is, what stays outside, the plan, and the steps in their order."""

import shlex
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from rich.text import Text

from facts.document import Part
from facts.typed import typed
from simulator.recording import Recording
from simulator.report.words import plural
from trn.aws.other_cluster import OtherCluster
from trn.before.import_cluster.draft import Draft, used_file_system
from trn.before.import_cluster.makers import Maker, forgetting, outside, removal
from trn.before.import_cluster.matching import Matches
from trn.before.import_cluster.plan import Aftermath
from trn.change.report import ChangeDocument
from trn.cli.lines import Line

MOST_PATHS_SHOWN = 4


class Mapped(Part, frozen=True):
    """An object of the cluster that becomes a resource of the stack."""

    urn: str
    type: str
    id: str


class PlannedChange(Part, frozen=True):
    """What the first `pulumi up` does to a resource."""

    urn: str
    inputs: tuple[str, ...]
    """Those that force a replacement, or those that differ."""


class ImportPlan(Part, frozen=True):
    """What the first `pulumi up` does."""

    create: tuple[PlannedChange, ...]
    update: tuple[PlannedChange, ...]
    replace: tuple[PlannedChange, ...]


class ImportFiles(Part, frozen=True):
    """What was written or read."""

    stack: str
    import_: str


class ImportReport(ChangeDocument, frozen=True):
    """What `trn import` found and wrote."""

    schema_: Literal["trn-import"] = "trn-import"
    cluster: str | None = None
    region: str | None = None
    maker: Maker | None = None
    maps: tuple[Mapped, ...] | None = None
    used: tuple[str, ...] | None = None
    """What the stack uses and never changes."""
    outside: tuple[str, ...] | None = None
    notes: tuple[str, ...] | None = None
    plan: ImportPlan | None = None
    red: tuple[str, ...] | None = None
    """What must be settled first: until then `pulumi up` fails or destroys something."""
    steps: tuple[str, ...] | None = None
    files: ImportFiles | None = None


@dataclass(frozen=True)
class Findings:
    """All that was found and decided."""

    stack: str
    other: OtherCluster
    maker: Maker
    draft: Draft
    recording: Recording
    matches: Matches
    aftermath: Aftermath
    stack_file: Path
    import_file: Path

    @property
    def used(self) -> list[str]:
        """What the stack uses and never changes."""
        existing = self.draft.configuration.get("network", {}).get("existing") or {}
        subnets = {each for role in existing.values() if isinstance(role, dict) for each in role.values()}
        found = [f"VPC {existing['vpcId']} with {plural(len(subnets), 'subnet')}: network.existing"] if existing else []
        key = self.draft.configuration.get("controlPlane", {}).get("encryptionKeyArn")
        which = used_file_system(self.draft)
        found += [f"key {key}: controlPlane.encryptionKeyArn"] if key else []
        return [*found, *([f"file system {which}: storage.lustre.existing"] if which else [])]

    @property
    def _place(self) -> str:
        """The import file as a shell takes it in the project's folder."""
        root, target = self.stack_file.parent.resolve(), self.import_file.resolve()
        return shlex.quote(str(target.relative_to(root) if target.is_relative_to(root) else target))

    @property
    def steps(self) -> list[str]:
        """What the user does, in this order."""
        stack, region = self.stack, self.other.region
        options = "--yes --protect=false --generate-code=false"
        return [
            f"read {self.stack_file.name}, change what the notes name, and run this again",
            *(
                [f"settle what is red above, and run this again: until then `{typed('pulumi up')}` fails or destroys something"]
                if self.aftermath.red
                else []
            ),
            f"trn network describe {stack}: whether the stack fits into the VPC",
            "stop what runs by Helm and by hand and that the stack installs itself (`helm list -A`)",
            *forgetting(self.other, self.maker),
            f"pulumi stack init {stack}",
            f"AWS_REGION={region} pulumi import --stack {stack} --file {self._place} {options}",
            f"trn plan {stack}: it must say what is said here",
            f"pulumi up --stack {stack}: control plane and add-ons change in place, nodes are made beside the old ones",
            "move the jobs to the new nodes; a Neuron group needs its instances twice until then, or `size: 0` at first",
            *removal(self.other, self.maker),
        ]


def lines(report: Findings, written: Collection[Path]) -> Iterator[Text]:
    """For a terminal. `written`: the files that did not hold it yet."""
    for label, text in _labelled(report, written):
        yield Text.assemble((f"{label:<8} ", "bold"), text)


def _labelled(report: Findings, written: Collection[Path]) -> Iterator[Line]:
    other, after = report.other, report.aftermath
    mode = (other.entry.get("accessConfig") or {}).get("authenticationMode", "CONFIG_MAP")
    yield "cluster", Text(f"{other.name} in {other.region}, Kubernetes {other.entry['version']}, {mode}; made by {report.maker}")
    for index, match in enumerate(report.matches.taken):
        kind = match.recorded.type.rsplit(":", 1)[-1]
        yield "maps" if index == 0 else "", Text(f"{kind} {match.id} -> {match.recorded.name}")
    for label, texts, style in (
        ("used", report.used, ""),
        ("outside", list(outside(other, report.draft, report.recording)), "yellow"),
        ("note", report.draft.notes, "yellow"),
        ("plan", _plan(after), ""),
        ("red", after.red, "red"),
    ):
        for index, text in enumerate(texts):
            yield label if index == 0 else "", Text(text, style=style)
    names = {
        report.stack_file: report.stack_file.name,
        report.import_file: f"{report.import_file.name} ({plural(len(report.matches.taken), 'object')})",
    }
    if written:
        yield "wrote", Text(", ".join(name for path, name in names.items() if path in written))
    yield from (("read", Text(f"{path.name} was there already, and is left as it is")) for path in names if path not in written)
    for number, step in enumerate(report.steps, 1):
        yield "steps" if number == 1 else "", Text(f"{number}. {step}")


def _plan(after: Aftermath) -> list[str]:
    found = [
        f"pulumi up then creates {len(after.of_kind('create'))}, changes {len(after.of_kind('update'))}, replaces {len(after.of_kind('replace'))}"
    ]
    for kind, word in (("update", "changes"), ("replace", "replaces")):
        for change in after.of_kind(kind):
            paths = _shortened(change.because or change.changed)
            found.append(f"{word} {change.registration.type.rsplit(':', 1)[-1]} {change.registration.name}: {paths}")
    made = [f"{effect.object_name}" for effect in after.effects if effect.operation == "create" and effect.nodes]
    return [*found, *([f"makes node groups {', '.join(made)}"] if made else [])]


def _shortened(paths: Sequence[str]) -> str:
    """The first of the inputs that differ; all tags count as one."""
    shown = list(dict.fromkeys("tags" if path.startswith("tags.") else path for path in paths))
    rest = len(shown) - MOST_PATHS_SHOWN
    return ", ".join(shown[:MOST_PATHS_SHOWN]) + (f" and {rest} more" if rest > 0 else "")


def data_of(report: Findings) -> dict[str, Any]:
    """The command's own keys of `--json`."""
    after = report.aftermath

    def of_kind(kind: Literal["create", "update", "replace"]) -> tuple[PlannedChange, ...]:
        return tuple(
            PlannedChange(urn=change.registration.urn, inputs=tuple(change.because or change.changed)) for change in after.of_kind(kind)
        )

    return {
        "cluster": report.other.name,
        "region": report.other.region,
        "maker": report.maker,
        "maps": tuple(Mapped(urn=each.recorded.urn, type=each.recorded.type, id=each.id) for each in report.matches.taken),
        "used": tuple(report.used),
        "outside": tuple(outside(report.other, report.draft, report.recording)),
        "notes": tuple(report.draft.notes),
        "plan": ImportPlan(create=of_kind("create"), update=of_kind("update"), replace=of_kind("replace")),
        "red": tuple(after.red),
        "steps": tuple(report.steps),
        "files": ImportFiles(stack=str(report.stack_file), import_=str(report.import_file)),
    }
