"""The engine's own rules of order.

Up: a resource starts as soon as its registration reaches the engine, which the SDK holds back until everything its
inputs and `depends_on` name is there; of a remote component, all of it.
Destroy: level by level with a barrier between, where a level is the depth from the roots.
Source: pulumi/pulumi pkg/resource/deploy/step_generator.go ScheduleDeletes and pkg/resource/graph/dependency_graph.go
DependenciesOf, 2026-08-21; both seen behind the engine of 3.260.
"""

import heapq
from collections.abc import Mapping

from simulator.recording import STACK_TYPE, Recording, Registration

DEFAULT_PARALLEL = 16
"""Operations at once: the CLI's default is four per processor (pkg/cmd/pulumi/operations/up.go), here for four."""


def creation_dependencies(recording: Recording) -> Mapping[str, frozenset[str]]:
    """What each registration waits for: what it names, its providers, and its parent.

    A component that is named means everything inside it: the SDK spells that out for local components, the engine
    for remote ones. A parent counts as there once it is registered, since its children are made after that.
    """
    return recording.once(
        "creation_dependencies", lambda: {item.urn: _expanded(recording, item, item.dependencies | item.providers) for item in recording}
    )


def creation_order(recording: Recording) -> list[str]:
    """URNs so that each comes after what it needs. Raises ValueError for a cycle."""
    return recording.once("creation_order", lambda: in_order(creation_dependencies(recording)))


def recorded_dependencies(recording: Recording) -> Mapping[str, frozenset[str]]:
    """The same as the engine's state has it: a component is recorded without the providers that it passes to its children."""
    return {
        item.urn: _expanded(recording, item, item.dependencies | item.providers if item.custom else item.dependencies) for item in recording
    }


def _expanded(recording: Recording, item: Registration, named: frozenset[str]) -> frozenset[str]:
    needs = set(named)
    for urn in named:
        if not recording.registrations[urn].custom:
            needs.update(recording.descendants(urn))
    parent = recording.registrations.get(item.parent)
    if parent is not None and parent.type != STACK_TYPE:
        needs.add(parent.urn)
    return frozenset(needs - {item.urn})


def in_order(needs_of: Mapping[str, frozenset[str]]) -> list[str]:
    """URNs so that each comes after what it needs; ties by URN.

    Raises ValueError for a cycle.
    """
    ordered: list[str] = []
    waiting = {urn: len(needs) for urn, needs in needs_of.items()}
    users: dict[str, list[str]] = {}
    for urn, needs in needs_of.items():
        for need in needs:
            users.setdefault(need, []).append(urn)
    ready = sorted(urn for urn, count in waiting.items() if count == 0)
    while ready:
        urn = heapq.heappop(ready)
        ordered.append(urn)
        for user in users.get(urn, ()):
            waiting[user] -= 1
            if waiting[user] == 0:
                heapq.heappush(ready, user)
    if len(ordered) < len(needs_of):
        raise ValueError(f"dependency cycle among {sorted(set(needs_of) - set(ordered))}")
    return ordered


def deletion_levels(recording: Recording) -> list[list[str]]:
    """URNs by level, the first to go first; URNs sorted within a level."""
    needs_of = recorded_dependencies(recording)
    depth: dict[str, int] = {}
    for urn in in_order(needs_of):
        depth[urn] = 1 + max((depth[need] for need in needs_of[urn]), default=-1)
    levels: list[list[str]] = [[] for _ in range(1 + max(depth.values(), default=-1))]
    for urn in sorted(depth):
        levels[depth[urn]].append(urn)
    return levels[::-1]
