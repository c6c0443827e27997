"""Which part of a cluster a resource belongs to: what a reader looks for it under.

Read from types and from links between resources, never from the program's components: a role belongs to what uses it.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from simulator.recording import Registration

Part = Literal["network", "control plane", "nodes", "storage", "add-ons"]
PARTS: Sequence[Part] = ("network", "control plane", "nodes", "storage", "add-ons")
"""In the order in which they are shown, which is about that in which they are made."""

# The first that a type's token begins with decides. Types that are in none of them serve others: roles, policies, security
# groups, keys, log groups.
_BEGINNINGS: Sequence[tuple[str, Part]] = (
    ("aws:ec2/launchTemplate:", "nodes"),
    ("aws:ec2/placementGroup:", "nodes"),
    ("aws:ec2/capacity", "nodes"),
    ("aws:autoscaling/", "nodes"),
    ("aws:eks/nodeGroup:", "nodes"),
    ("aws:eks/cluster:", "control plane"),
    ("aws:eks/access", "control plane"),
    ("aws:fsx/", "storage"),
    ("aws:eks/", "add-ons"),
    ("aws:amp/", "add-ons"),
    ("aws:batch/", "add-ons"),
    ("aws:sns/", "add-ons"),
    ("aws:sqs/", "add-ons"),
    ("aws:cloudwatch/event", "add-ons"),
    ("eks:index:Cluster", "control plane"),
    ("kubernetes:", "add-ons"),
)
_SERVES = ("aws:ec2/securityGroup:", "aws:vpc/", "aws:iam/", "aws:kms/", "aws:cloudwatch/logGroup:")


@dataclass(frozen=True)
class Linked:
    """What decides where a resource belongs."""

    urn: str
    type: str
    parent: str
    depends_on: frozenset[str]


def linked(registration: Registration) -> Linked:
    """The same of a registration."""
    return Linked(registration.urn, registration.type, registration.parent, registration.dependencies)


def part_of_type(token: str) -> Part | None:
    """The part that a type belongs to by itself; None for those that serve others."""
    for beginning, part in _BEGINNINGS:
        if token.startswith(beginning):
            return part
    if token.startswith("aws:ec2/") and not token.startswith(_SERVES):
        return "network"
    return None


def parts_of(items: Iterable[Linked]) -> Mapping[str, Part]:
    """URN to part, of every item: by its type, else by its siblings, else by what uses it, else by what it uses."""
    found = {item.urn: item for item in items}
    return _Sorter(found).parts()


class _Sorter:
    def __init__(self, items: Mapping[str, Linked]) -> None:
        self._items = items
        self._parts: dict[str, Part] = {urn: part for urn, item in items.items() if (part := part_of_type(item.type)) is not None}
        self._users: dict[str, list[str]] = {}
        siblings: dict[str, Counter[Part]] = {}
        for urn, item in items.items():
            for needed in item.depends_on:
                self._users.setdefault(needed, []).append(urn)
            if urn in self._parts and item.parent:
                siblings.setdefault(item.parent, Counter())[self._parts[urn]] += 1
        self._siblings = siblings

    def parts(self) -> Mapping[str, Part]:
        """The answer; what has no link at all is looked for under the add-ons, which have the most kinds."""
        waiting = [urn for urn in self._items if urn not in self._parts]
        # By its type a user says what it is; by its siblings only where it stands.
        first: dict[str, Part] = {urn: part for urn in waiting if (part := self._most(self._used_by(urn))) is not None}
        # The stack itself is the parent of much that has nothing in common.
        for urn in waiting:
            beside = self._siblings.get(self._items[urn].parent, Counter())
            if len(beside) == 1:
                first.setdefault(urn, next(iter(beside)))
        self._parts |= first
        # Links of what serves are short: a policy to its role, the role to what uses it.
        for _ in range(4):
            for links in (self._used_by, self._uses):
                decided: dict[str, Part] = {}
                for urn in waiting:
                    if urn not in self._parts and (part := self._most(links(urn))) is not None:
                        decided[urn] = part
                self._parts |= decided
        return {urn: self._parts.get(urn, "add-ons") for urn in self._items}

    def _used_by(self, urn: str) -> Iterable[str]:
        return self._users.get(urn, ())

    def _uses(self, urn: str) -> Iterable[str]:
        # What everything lies in says nothing.
        return (needed for needed in self._items[urn].depends_on if self._parts.get(needed) != "network")

    def _most(self, urns: Iterable[str]) -> Part | None:
        counted: Counter[Part] = Counter(self._parts[urn] for urn in urns if urn in self._parts)
        return min(counted, key=lambda part: (-counted[part], PARTS.index(part)), default=None)
