"""Did only the simulator answer? Compares what the engine says it did with the calls that were seen."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from simulator.providers.calls import FAULT, Call, json_lines

SERVED = ("aws", "eks", "kubernetes")
"""Packages that the simulator answers for."""
_METHODS: Mapping[str, str] = {
    "create": "Create",
    "create-replacement": "Create",
    "update": "Update",
    "delete": "Delete",
    "delete-replaced": "Delete",
    "import": "Read",
    "import-replacement": "Read",
    "read": "Read",
    "refresh": "Read",
}
"""Step of the engine to the call that it makes of a provider."""


@dataclass(frozen=True)
class Claim:
    """A step that the engine says it took with one custom resource."""

    package: str
    type: str
    method: str


def claims(events: Path) -> Iterator[Claim]:
    """The engine's steps in an event log that ask something of a provider; none where there is no log."""
    for entry in json_lines(events):
        event = entry.get("resourcePreEvent")
        if event is not None:
            yield from _claim(event)


def _claim(event: Mapping[str, Any]) -> Iterator[Claim]:
    step = event["metadata"]
    resource = step.get("new") or step.get("old") or {}
    package = step["type"].split(":")[0]
    method = _METHODS.get(step["op"])
    if not resource.get("custom") or package == "pulumi" or method is None:
        return
    if event.get("planning") and method != "Read":
        # A preview deletes nothing, and asks nothing of a Kubernetes provider whose cluster is not there yet.
        if method == "Delete" or package == "kubernetes":
            return
        method = "Check"
    yield Claim(package, step["type"], method)


def unanswered(claimed: Iterable[Claim], calls: Iterable[Call]) -> list[str]:
    """A sentence for each package and kind of step that the simulator did not see, or that is not its own to answer."""
    seen = {(call.package, call.method) for call in calls}
    wanted = Counter((claim.package, claim.method) for claim in claimed)
    types = {(claim.package, claim.method): claim.type for claim in claimed}
    said = []
    for (package, method), count in sorted(wanted.items()):
        if package not in SERVED:
            said.append(f"{types[package, method]} is of a package that the simulator does not serve: a real plug-in has answered")
        elif (package, method) not in seen:
            said.append(f"the engine took {count} steps that call {method} of {package}, and the simulator saw none of them")
    return said


def summary(calls: Iterable[Call]) -> str:
    """What was asked of the simulator, in a line."""
    counts = Counter(call.method for call in calls if not call.preview)
    words = {"Create": "create", "Update": "update", "Delete": "delete", "Read": "read", "Check": "check"}
    return ", ".join(f"{counts[method]} {word}" for method, word in words.items() if counts[method]) or "nothing"


def faults_met(calls: Iterable[Call]) -> set[str]:
    """The faults that happened, as they were asked for, without their counts."""
    return {call.fault for call in calls if call.method == FAULT}
