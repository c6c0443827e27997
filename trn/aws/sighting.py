"""Objects that a run made before it could write down their ids, found by their identity."""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from botocore.exceptions import ClientError

from facts.names import CLUSTER_TAG, STACK_TAG
from facts.regions import partition
from facts.resources.queries import NO_STATE, Leftover, Lookup, States
from trn.aws.api import Api, Call, tags_of
from trn.aws.errors import NOT_FOUND, code_of
from trn.aws.leftovers import born
from trn.aws.objects import asked, at, detailed, filled, given, text

Inputs = Mapping[str, Any]
Progress = Literal["ready", "making", "failed", "half"]
"""`half`: a Helm release that was not installed to its end; it is deleted instead of imported."""


@dataclass(frozen=True)
class Sighting:
    """One object that is there."""

    id: str
    """As `pulumi import` takes it: the "Import" section of each resource in the pulumi_aws 7 SDK."""
    progress: Progress = "ready"
    said: str = ""
    """The service's own word for its state."""
    born: str = field(default="", compare=False)
    """When it was made, as its service writes it; empty where it does not."""
    doubt: str = ""
    """Why it may be somebody else's; empty where its marks say whose it is."""
    parts: tuple[tuple[str, str, str], ...] = field(default=(), compare=False)
    """Of a release: name, uid and resourceVersion of each of its Secrets."""


def sightings(
    api: Api, lookup: Lookup, cluster: str, inputs: Inputs, stack: str = "", named: Leftover | None = None
) -> Iterator[Sighting]:  # fmt: skip
    """Objects of one type that these inputs of this cluster may have made.

    `stack`: as in the tag `trn:stack`, or with a / before project and stack where the organization is not known. What carries the mark
    of another is not listed; what carries none is doubtful. `named`: how the tags of what is found by its name alone are read.
    Raises LookupError where the inputs tell too little. Filters only shorten the answer: each entry is judged again.
    """
    wanted = _tags_wanted(lookup, cluster, inputs)
    detail = lookup.detail.query if lookup.detail else lookup.query
    entries = (
        entry
        for entry in asked(api, lookup.query, _parameters(lookup, wanted, inputs))
        if has(tags := tags_of(entry, lookup.query.tags), wanted)
        and is_of_stack(tags.get(STACK_TAG, stack), stack)
        and all(at(entry, theirs) == given(inputs, ours) for theirs, ours in lookup.matches.items())
        and lookup.agrees(inputs, entry)
    )
    for entry in detailed(api, entries, lookup.detail):
        found_id = lookup.import_id.format_map({**entry, **inputs}) if lookup.import_id else entry[detail.id]
        doubt = _doubt_of_tags(tags_of(entry, lookup.query.tags), wanted, stack) if lookup.mark != "part" else ""
        if named is not None:
            doubt = _doubt_of_name(api, named, {**entry, "id": entry[detail.id]}, cluster, stack)
        said = str(at(entry, detail.states.key) or "") if detail.states.key else ""
        yield from (replace(found, born=born(entry), doubt=doubt) for found in sighted(found_id, said, detail.states))


def is_of_stack(tag: str, stack: str) -> bool:
    """Whether the tag `trn:stack` names this stack; where its organization is not known, by project and name."""
    return tag == stack or (stack.startswith("/") and tag.endswith(stack)) or not stack


def _doubt_of_tags(tags: Mapping[str, str], wanted: Mapping[str, str], stack: str) -> str:
    missing = [f"{key}={value}" for key, value in wanted.items() if tags.get(key) != value]
    if stack and STACK_TAG not in tags:
        missing.append(f"{STACK_TAG}={stack.removeprefix('/')}")
    elif not is_of_stack(tags.get(STACK_TAG, stack), stack):
        return f"{STACK_TAG}={tags[STACK_TAG]}: another stack made it"
    return f"it lacks the tag {', '.join(missing)}: somebody else may have made it" if missing else ""


def _doubt_of_name(api: Api, named: Leftover, entry: Mapping[str, Any], cluster: str, stack: str) -> str:
    """What has the name may be anybody's: a log group, a queue, a rule, a budget, a schedule group."""
    assert named.detail is not None
    arn = {"Arn": text(named.query.arn, {**entry, "partition": partition(api.region)})} if named.query.arn else {}
    (tagged,) = list(detailed(api, [{**entry, **arn}], named.detail)) or [{}]
    return _doubt_of_tags(tags_of(tagged, named.detail.query.tags), {CLUSTER_TAG: cluster}, stack)


def _tags_wanted(lookup: Lookup, cluster: str, inputs: Inputs) -> dict[str, str]:
    """The tags that tell an object apart: the cluster's, and for what has no name its own `Name`."""
    if lookup.mark == "part":
        return {}
    return {CLUSTER_TAG: cluster, **({"Name": inputs["tags"]["Name"]} if lookup.mark == "named" else {})}


def _parameters(lookup: Lookup, wanted: Mapping[str, str], inputs: Inputs) -> dict[str, Any]:
    parameters = filled(lookup.parameters, lambda place: given(inputs, place), lookup.constants)
    by_input = {name: given(inputs, place) for name, place in lookup.filters.items()}
    if lookup.query.filters == "TagFilters":
        parameters["TagFilters"] = [{"Key": key, "Values": [value]} for key, value in wanted.items()]
    elif lookup.query.filters:
        by_tag = {f"tag:{key}": value for key, value in wanted.items()} if not by_input else {}
        parameters[lookup.query.filters] = filters({**by_tag, **by_input})
    return parameters


def sighted(found_id: str, said: str = "", states: States = NO_STATE) -> Iterator[Sighting]:
    """The object, unless it is being deleted."""
    progress = states.progress(said)
    if progress != "leaving":
        yield Sighting(found_id, progress, said)


def has(tags: Mapping[str, str], wanted: Mapping[str, str]) -> bool:
    """Whether all of them are there, exactly."""
    return wanted.items() <= tags.items()


def filters(wanted: Mapping[str, str | Collection[str]]) -> list[dict[str, Any]]:
    """Filters as EC2 and others take them."""
    return [{"Name": name, "Values": [value] if isinstance(value, str) else list(value)} for name, value in wanted.items()]


def described(api: Api, call: Call, **parameters: Any) -> dict[str, Any]:
    """One answer, empty where the service says that it does not exist."""
    try:
        return api.call(call, **parameters)
    except ClientError as error:
        if code_of(error) in NOT_FOUND:
            return {}
        raise
