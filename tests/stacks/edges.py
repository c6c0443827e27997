"""Edges that the program says itself (`depends_on`, `after`, providers), and the reviewed list of them in edges.txt.

The engine orders by depth, so an edge that is missing often does no harm for years, until another stack is shallower.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from simulator.recording import STACK_TYPE, Recording, Registration

FILE = Path(__file__).with_name("edges.txt")
LINE = re.compile(r"(?P<dependent>[^:]+?) (?P<arrow>[-~])> (?P<dependency>[^:]+?)(?: \[(?P<key>\S+) = (?P<value>\S+)\])?: (?P<why>.+)")
REMOTE = "eks:index:Cluster"
"""What is below it is made by another package."""
PROVIDERS = "pulumi:providers:"


@dataclass(frozen=True)
class Law:
    """One line of the list: each dependent of a pattern has an edge to each dependency of another."""

    dependent: str
    dependency: str
    through_others: bool
    setting: tuple[str, str] | None
    """Path of a setting and the value with which alone the law holds."""
    why: str

    def __str__(self) -> str:
        return f"{self.dependent} {'~' if self.through_others else '-'}> {self.dependency}"

    def holds_with(self, settings: Mapping[str, Any]) -> bool:
        """Whether the stack is one that the law speaks of."""
        if self.setting is None:
            return True
        value: Any = settings
        for key in self.setting[0].split("."):
            value = value.get(key) if isinstance(value, Mapping) else None
        return str(value).lower() == self.setting[1].lower()

    def is_about(self, dependent: Registration, dependency: Registration) -> bool:
        """Whether it speaks of these two."""
        wanted = self.wanted_by(dependent)
        return wanted is not None and dependent.urn != dependency.urn and wanted.fullmatch(label(dependency)) is not None

    def wanted_by(self, dependent: Registration) -> re.Pattern[str] | None:
        """What a resource must wait for, by label; None for one that the law does not speak of."""
        found = _pattern(self.dependent).fullmatch(label(dependent))
        if found is None:
            return None
        same = {"namespace": str(_namespace(dependent)), **found.groupdict()}
        return _pattern(re.sub(r"\{(\w+)\}", lambda match: same[match[1]], self.dependency))


@cache
def laws(text: str | None = None) -> tuple[Law, ...]:
    """The list as data. Raises ValueError for a line that is none."""
    found = []
    for line in (FILE.read_text() if text is None else text).splitlines():
        if not line.strip() or line.startswith("#"):
            continue
        match = LINE.fullmatch(line)
        if match is None:
            raise ValueError(f"{FILE.name}: not `dependent -> dependency: why`: {line}")
        setting = (match["key"], match["value"]) if match["key"] else None
        found.append(Law(match["dependent"], match["dependency"], match["arrow"] == "~", setting, match["why"]))
    return tuple(found)


def label(item: Registration) -> str:
    """Kind and logical name, such as `NodeGroup core`."""
    return _label(item.type, item.name)


@cache
def _label(resource_type: str, name: str) -> str:
    kind = "Provider" if resource_type.startswith(PROVIDERS) else re.split("[:/]", resource_type)[-1]
    return f"{kind} {name}"


def said_edges(recording: Recording) -> dict[str, frozenset[str]]:
    """What each resource of the program waits for beside what its inputs name: URN to URNs.

    A component's own are in its children, except a remote one's, whose children are another package's.
    """
    edges = {}
    for item in recording:
        if item.type == STACK_TYPE or not (item.custom or item.type == REMOTE) or _is_of_another_package(recording, item):
            continue
        by_inputs = frozenset[str]().union(*item.property_dependencies.values())
        edges[item.urn] = item.dependencies - by_inputs
    return edges


def problems(recording: Recording, settings: Mapping[str, Any], listed: Sequence[Law] | None = None) -> list[str]:
    """Edges that are missing, edges that no law explains, and providers that are not the program's own; each in words."""
    said = said_edges(recording)
    # A law of a setting that this stack has otherwise says nothing of it.
    holding = [law for law in (laws() if listed is None else listed) if law.holds_with(settings)]
    ends = {urn: recording.registrations[urn] for urn in sorted({*said, *(urn for urns in said.values() for urn in urns)})}
    found = []
    explained = set()
    for law in holding:
        for dependent, dependency in _pairs(law, recording, said, ends):
            if dependency.urn in said[dependent.urn]:
                explained.add((dependent.urn, dependency.urn))
            elif not (law.through_others and dependency.urn in _reached(said, dependent.urn)):
                found.append(f"missing edge: {label(dependent)} -> {label(dependency)}: {law.why}")
    for urn, needs in said.items():
        for need in sorted(needs):
            if (urn, need) not in explained:
                pair = f"{label(recording.registrations[urn])} -> {label(recording.registrations[need])}"
                found.append(f"unexplained edge: {pair}: write a line for it into {FILE.name}")
    return [*found, *_foreign_providers(recording, said)]


def _pairs(
    law: Law, recording: Recording, said: Mapping[str, frozenset[str]], ends: Mapping[str, Registration]
) -> Iterator[tuple[Registration, Registration]]:
    for urn in said:
        dependent = recording.registrations[urn]
        wanted = law.wanted_by(dependent)
        if wanted is not None:
            yield from ((dependent, end) for end in ends.values() if end.urn != urn and wanted.fullmatch(label(end)))


def _reached(said: Mapping[str, frozenset[str]], urn: str) -> set[str]:
    reached, waiting = set[str](), [urn]
    while waiting:
        new = said.get(waiting.pop(), frozenset()) - reached
        reached |= new
        waiting.extend(new)
    return reached


def _foreign_providers(recording: Recording, said: Mapping[str, frozenset[str]]) -> list[str]:
    """A resource without a provider of the program would go to another account or cluster: whichever the shell is set to."""
    own: dict[str, set[str]] = {}
    for item in recording:
        # The remote component brings a Kubernetes provider of its own.
        if item.type.startswith(PROVIDERS) and not _is_of_another_package(recording, item):
            own.setdefault(item.type.removeprefix(PROVIDERS), set()).add(item.urn)
    found = []
    for urn in said:
        item = recording.registrations[urn]
        package = item.type.split(":")[0].replace("eks", "aws")
        if not item.type.startswith(PROVIDERS) and item.providers != own[package]:
            named = ", ".join(sorted(label(recording.registrations[other]) for other in item.providers)) or "none"
            found.append(f"missing provider: {label(item)} -> Provider {package}: it has {named}")
    return found


def _is_of_another_package(recording: Recording, item: Registration) -> bool:
    parent = recording.registrations.get(item.parent)
    while parent is not None:
        if parent.type == REMOTE:
            return True
        parent = recording.registrations.get(parent.parent)
    return False


def _namespace(item: Registration) -> object:
    metadata = item.inputs.get("metadata")
    return item.inputs.get("namespace") or (metadata.get("namespace") if isinstance(metadata, Mapping) else None)


@cache
def _pattern(text: str) -> re.Pattern[str]:
    pieces = re.split(r"(\*|\{\w+\})", text)
    seen, parts = set(), []
    for piece in pieces:
        if piece == "*":
            parts.append(".*")
        elif piece.startswith("{") and piece[1:-1] not in seen:
            seen.add(piece[1:-1])
            parts.append(f"(?P<{piece[1:-1]}>.*)")
        elif piece.startswith("{"):
            parts.append(f"(?P={piece[1:-1]})")
        else:
            parts.append(re.escape(piece))
    return re.compile("".join(parts))
