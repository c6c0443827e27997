"""Objects that a run made before it could write down their ids, found by what tells them apart."""

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from botocore.exceptions import ClientError

from facts.names import CLUSTER_TAG
from operations.aws.api import Api, Call
from operations.aws.errors import NOT_FOUND, code_of

Inputs = Mapping[str, Any]
Progress = Literal["ready", "making", "failed", "half"]
"""`half`: a Helm release that was not installed to its end; it is taken away instead of imported."""

MAKING = frozenset({"creating", "pending", "associating", "updating"})
FAILED = frozenset({"failed", "create_failed", "misconfigured"})
GOING = frozenset({"deleting", "deleted", "delete_failed", "disassociating", "disassociated", "pendingdeletion", "pendingreplicadeletion"})


@dataclass(frozen=True)
class Sighting:
    """One object that is there."""

    id: str
    """As `pulumi import` takes it: the "Import" section of each resource in the pulumi_aws 7 SDK."""
    progress: Progress = "ready"
    said: str = ""
    """The service's own word for its state."""


Finder = Callable[[Api, str, Inputs], Iterator[Sighting]]
"""Objects of one type that these inputs of this cluster may have made. Raises KeyError where the inputs tell too little."""


def sighted(found_id: str, said: str = "") -> Iterator[Sighting]:
    """The object, unless it is going."""
    word = said.lower()
    if word not in GOING:
        yield Sighting(found_id, "making" if word in MAKING else "failed" if word in FAILED else "ready", said)


def named(cluster: str, inputs: Inputs) -> dict[str, str]:
    """The tags that tell an object without a name apart: the cluster's, and its own `Name`."""
    return {CLUSTER_TAG: cluster, "Name": inputs["tags"]["Name"]}


def has(tags: Mapping[str, str], wanted: Mapping[str, str]) -> bool:
    """Whether all of them are there, exactly."""
    return wanted.items() <= tags.items()


def filters(wanted: Mapping[str, str | Collection[str]]) -> list[dict[str, Any]]:
    """Filters as EC2 and others take them."""
    return [{"Name": name, "Values": [value] if isinstance(value, str) else list(value)} for name, value in wanted.items()]


def tag_filters(wanted: Mapping[str, str]) -> list[dict[str, Any]]:
    """Filters for tags."""
    return filters({f"tag:{key}": value for key, value in wanted.items()})


def described(api: Api, call: Call, **parameters: Any) -> dict[str, Any]:
    """One answer, empty where the service says that there is no such thing."""
    try:
        return api.call(call, **parameters)
    except ClientError as error:
        if code_of(error) in NOT_FOUND:
            return {}
        raise
