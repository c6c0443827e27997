"""The engine's own rules of order.

Up: a resource starts as soon as its registration reaches the engine, which the SDK holds back until everything its
inputs and `depends_on` name is there; of a remote component, all of it.
Destroy: level by level with a barrier between, where a level is the depth from the roots among all that goes.
Source: pulumi/pulumi pkg/resource/deploy/step_generator.go ScheduleDeletes and pkg/resource/graph/dependency_graph.go
DependenciesOf, 2026-08-21; both seen behind the engine of 3.260.
"""

import heapq
from collections.abc import Collection, Mapping, Sequence

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
        if urn in recording.registrations and not recording.registrations[urn].custom:
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


def deletion_levels(
    recording: Recording,
    condemned: Collection[str] | None = None,
    replaced: Mapping[str, Registration] | None = None,
    listed: Sequence[str] = (),
) -> list[list[str]]:
    """Keys by level, the first to go first; keys sorted within a level. Only dependencies among what goes count.

    `condemned`: URNs of what goes of the recording, all of it unless given. `replaced`: by keys of their own, what waits for its deletion.
    `listed`: all keys in the order of the state: of several that have a URN, all that stand before a resource that names it are needed by it.
    """
    needs_of: dict[str, frozenset[str]] = dict(recorded_dependencies(recording))
    if replaced:
        places = {key: place for place, key in enumerate(listed)}
        for key, item in replaced.items():
            named = _expanded(recording, item, item.dependencies | item.providers if item.custom else item.dependencies)
            needs_of[key] = frozenset(urn for urn in named if places.get(urn, len(places)) < places[key])
        for key, needs in needs_of.items():
            older = {other for other, item in replaced.items() if item.urn in needs and places[other] < places.get(key, len(places))}
            needs_of[key] = needs | older - {key}
    going = needs_of.keys() if condemned is None else {*condemned, *(replaced or ())}
    among = {key: needs_of[key] & going for key in needs_of if key in going}
    depth: dict[str, int] = {}
    for key in in_order(among):
        depth[key] = 1 + max((depth[need] for need in among[key]), default=-1)
    levels: list[list[str]] = [[] for _ in range(1 + max(depth.values(), default=-1))]
    for key in sorted(depth):
        levels[depth[key]].append(key)
    return levels[::-1]
