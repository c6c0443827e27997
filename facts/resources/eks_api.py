"""What the parts of EKS's API have in common: errors, states, tags, and rights on a part."""

from collections.abc import Callable, Mapping

from facts.resources.outputs import Inputs
from facts.resources.queries import NO_STATE, Query, States, Tagging
from facts.resources.resource_type import Without
from facts.resources.rights import CLUSTER, Grant, part_of_cluster, passed_role

IN_USE = "ResourceInUseException"  # EKS API, errors of the Create actions
ABSENT = "ResourceNotFoundException"
TAGGING = Tagging("eks", "TagResource", "UntagResource", "resourceArn", "tags", shape="mapping", read="ListTagsForResource")
WITH_CLUSTER = Without("it is deleted with its cluster")
CLUSTER_STATES = States("status", "ACTIVE", ("CREATING", "UPDATING", "PENDING"), ("FAILED",), ("DELETING",), stuck="FAILED")
PART_STATES = States("status", "ACTIVE", ("CREATING", "UPDATING"), ("CREATE_FAILED",), ("DELETING", "DELETE_FAILED"), stuck="CREATE_FAILED")


def described(operation: str, entry: str, kind: str, key: str, absent_text: str, *, states: States = NO_STATE) -> Query:
    """One description by its name in a cluster; `entry` is where the answer holds it, `key` its name there."""
    return Query(
        "eks", operation, entry, key, one=True, tags="tags", states=states, absent=ABSENT, absent_text=absent_text,
        scopes=part_of_cluster(kind),
    )  # fmt: skip


def part_grants(made: str, kind: str, rest: str) -> tuple[Grant, ...]:
    """EKS authorises creation on the cluster, and everything else on the part itself."""
    return (
        Grant("eks", made, CLUSTER),
        Grant("eks", f"{rest} TagResource UntagResource ListTagsForResource", part_of_cluster(kind)),
    )


def only_role(key: str) -> Callable[[Inputs], Mapping[str, tuple[str, ...]]]:
    """The one role that an input names, by its ARN."""
    return lambda inputs: {"role": (passed_role(inputs[key]),)}
