"""Each type that a stack can register has every part of its entry; a part that is missing is named."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from facts.names import log_group_names
from facts.resources import ec2_network, eks, eks_nodes, kubernetes, logs, sqs
from facts.resources.api_calls import creation
from facts.resources.queries import Leftover
from facts.resources.resource_type import ResourceType, Without, missing_parts
from facts.resources.rights import Rights
from facts.resources.table import FOREIGN, SWEPT, TYPES
from tests.stacks.samples import SAMPLES, recorded


def gaps(types: Mapping[str, ResourceType], tokens: set[str]) -> dict[str, list[str]]:
    """What is missing, by type."""
    absent = {token: ["no entry"] for token in tokens - types.keys()}
    return absent | {token: missing for token in sorted(tokens & types.keys()) if (missing := missing_parts(types[token]))}


@pytest.mark.parametrize("sample", SAMPLES)
def test_every_registered_type_has_every_part(sample: str):
    """A part that is missing fails in the middle of somebody's `up`, or leaves a bill after a destroy."""
    tokens = {item.type for item in recorded(sample).resources() if not item.type.startswith("pulumi:")}
    assert gaps(TYPES, tokens) == {}


def test_no_entry_is_of_a_type_that_no_sample_registers():
    """Such an entry would be checked by nothing."""
    registered = {item.type for sample in SAMPLES for item in recorded(sample).resources()}
    # The extended-resource path of Kubernetes types that only a chart of the simulator registers is listed with its reason.
    assert {token for token in TYPES if token.startswith("aws:")} - registered == set()


INCOMPLETE: Mapping[str, tuple[ResourceType, dict[str, Any]]] = {
    "rights: DeleteQueue": (
        sqs.QUEUE,
        {
            "rights": Rights(
                tuple(replace(grant, operations=grant.operations.replace("DeleteQueue ", "")) for grant in sqs.QUEUE.rights.grants)
            )
        }
        if isinstance(sqs.QUEUE.rights, Rights)
        else {},
    ),
    "leftover: no reason": (ec2_network.ROUTE, {"leftover": Without("")}),
    "costs: no reason": (logs.LOG_GROUP, {"costs": Without(" ")}),
    "creation: no call": (eks.ADDON, {"creation": creation()}),
    "lookup": (sqs.QUEUE, {"lookup": None}),
    "deletion": (eks_nodes.NODE_GROUP, {"deletion": None}),
    "latencies: no source for create": (
        kubernetes.SERVICE,
        {
            "latencies": replace(
                kubernetes.SERVICE.latencies,
                usual=replace(kubernetes.SERVICE.latencies.usual, create=replace(kubernetes.SERVICE.latencies.usual.create, source="")),
            )
        },
    ),
}


@pytest.mark.parametrize("missing", sorted(INCOMPLETE))
def test_a_missing_part_is_named(missing: str):
    """The name tells what to write."""
    entry, changes = INCOMPLETE[missing]
    assert changes
    assert missing in missing_parts(replace(entry, **changes))
    assert gaps({entry.token: replace(entry, **changes)}, {entry.token}) != {}


def test_a_type_without_an_entry_is_named():
    """A new resource of the program begins with its entry."""
    assert gaps(TYPES, {"aws:sns/platformApplication:PlatformApplication"}) == {
        "aws:sns/platformApplication:PlatformApplication": ["no entry"]
    }


def test_kinds_of_leftovers_have_different_names():
    """A sweep looks its kinds up by name."""
    names = [item.leftover.kind for item in SWEPT if isinstance(item.leftover, Leftover)]
    assert len(names) == len(set(names)) > len(FOREIGN)


@pytest.mark.parametrize("sample", SAMPLES)
def test_every_log_group_of_a_stack_has_a_name_that_a_sweep_knows(sample: str):
    """A sweep matches log groups by exact names alone."""
    names = {item.inputs["name"] for item in recorded(sample).of_type(logs.LOG_GROUP.token)}
    cluster = recorded(sample).of_type(eks.CLUSTER_TYPE.token)[0].inputs["name"]
    assert names <= set(log_group_names(cluster))


def test_what_a_sweep_takes_apart_goes_before_what_holds_it():
    """An order that AWS refuses costs a round of 15 seconds for each step."""
    order = [item.leftover.kind for item in SWEPT if isinstance(item.leftover, Leftover)]
    for first, then in (
        ("Batch queue", "Batch environment"), ("Batch environment", "EKS cluster"), ("node group", "EKS cluster"), ("NAT gateway", "address"),
        ("NAT gateway", "subnet"), ("network interface", "subnet"), ("subnet", "VPC"), ("internet gateway", "VPC"), ("event rule", "queue"),
        ("file system", "subnet"), ("VPC endpoint", "security group"),
    ):  # fmt: skip
        assert order.index(first) < order.index(then), (first, then)
