"""What all types of EC2 have in common."""

from collections.abc import Mapping, Sequence
from typing import Any

from facts.resources.queries import NO_STATE, Deletion, Lookup, Query, States, Tagging
from facts.resources.rights import BEING_TAGGED, IN_REGION, TAGGED, Grant, Rights, Scope

TAGGING = Tagging("ec2", "CreateTags", "DeleteTags", "Resources[]", "Tags", by="id")
AVAILABLE = States("State", "available", ("pending",))
_TAGS_AT_CREATION = (Scope("*", (("Null", "ec2:CreateAction", "false"),)), *TAGGED)


def described(
    operation: str, entries: str, id_key: str, *, states: States = NO_STATE, vpc: str = "", vpc_filter: str = "", filters: str = "Filters",
    absent: str = "", tags: str = "Tags",
) -> Query:  # fmt: skip
    """A list of EC2 that takes filters."""
    return Query(
        "ec2", operation, entries, id_key, states=states, vpc=vpc, vpc_filter=vpc_filter, filters=filters, absent=absent, tags=tags
    )


def by_tags(query: Query, matches: Mapping[str, str] | None = None) -> Lookup:
    """Found by the cluster's tag and its own `Name`."""
    return Lookup(query, "named", matches=matches or {})


def by_name(query: Query, filter_name: str, key: str, matches: Mapping[str, str] | None = None) -> Lookup:
    """Found by its name; another cluster's of that name lacks the tag."""
    return Lookup(query, "owned", filters={filter_name: "name"}, matches={key: "name", **(matches or {})})


def deletion(operation: str, parameter: str, key: str = "", *, steps: Sequence[Any] = ()) -> Deletion:
    """A deletion by the id alone; `key`: of the id, where it is not spelt as the parameter."""
    return Deletion("ec2", operation, {parameter: key or parameter.removesuffix("[]")}, steps=tuple(steps))


def rights(read: str, made: str, changed: str, *, upon: str = "", tagged: bool = True) -> Rights:
    """IAM cannot narrow reads; it narrows creation to the region, and everything else to the cluster's tag.

    `upon`: what makes something with tags of its own upon something that is there.
    """
    grants = (Grant("ec2", read), Grant("ec2", made, IN_REGION), Grant("ec2", changed, TAGGED), Grant("ec2", upon, BEING_TAGGED))
    tags = (Grant("ec2", "CreateTags", _TAGS_AT_CREATION), Grant("ec2", "DeleteTags", TAGGED)) if tagged else ()
    return Rights(tuple(grant for grant in (*grants, *tags) if grant.operations))
