"""What services refuse about names and tags."""

from collections.abc import Hashable, Mapping

from facts.resources.table import TYPES
from facts.typed import typed
from simulator.account.conflicts import identity, wording
from simulator.account.objects import CloudObject
from simulator.account.rule import Refusal, rule
from simulator.account.state import AccountState
from simulator.recording import Registration


@rule("create", "aws:*", "kubernetes:*", source="the create call of each service; facts/resources has code and words")
def name_is_free(state: AccountState, request: Registration) -> Refusal | None:
    """One physical name, or one place, belongs to one object: a second one is refused and never adopted in silence."""
    said, asked = wording(request.type, request.inputs), identity(request)
    if said is None or asked is None:
        return None
    held = state.holders(request.type, _identity, asked)
    existing = next((item for item in held if item.registration.cluster in ("", request.cluster) or not request.cluster), None)
    if existing is None:
        return None
    other = existing.registration
    own = other.urn == request.urn
    whose = "an earlier run made it and the state does not know it" if own else f"{other.name} made it"
    return Refusal(
        *said,
        f"{whose}; it is {existing.status}",
        f"`{typed('pulumi cancel')}`, `{typed('trn recover')}`, which imports it, then `{typed('pulumi up')}`"
        if own
        else "give one of the two another name",
    )


def _identity(_: AccountState, existing: CloudObject) -> Mapping[Hashable, int]:
    found = identity(existing.registration)
    return {} if found is None else {found: 1}


_LIMITED = [resource_type.token for resource_type in TYPES.values() if resource_type.name_limit]


@rule("create", *_LIMITED, source="length limits in the service models of botocore 1.44.5, and Helm's own")
def name_fits(state: AccountState, request: Registration) -> Refusal | None:
    """No name is longer than its service takes."""
    limit = TYPES[request.type].name_limit
    assert limit is not None
    key, longest = limit.input, limit.characters
    name = str(request.inputs.get(key, ""))
    if len(name) <= longest:
        return None
    return Refusal(
        "ValidationException",
        f"1 validation error detected: Value '{name}' at '{key}' failed to satisfy constraint: length less than or equal to {longest}",
        f"the name of {request.name} has {len(name)} characters",
        "shorten the cluster's name, `name` in the configuration",
    )


@rule("create", "aws:*", source="AWS tagging: the prefix aws: is reserved for AWS use")
def tags_are_free(state: AccountState, request: Registration) -> Refusal | None:
    """Tags that begin with `aws:` belong to AWS."""
    taken = sorted(key for key in request.inputs.get("tags") or {} if key.lower().startswith("aws:"))
    if not taken:
        return None
    return Refusal(
        "InvalidParameterValue",
        f"Tag keys starting with 'aws:' are reserved for internal use: {', '.join(taken)}",
        f"{request.name} is tagged {', '.join(taken)}",
        "rename the tag, `tags` in the configuration",
    )
