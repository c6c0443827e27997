"""Names of endpoints, and the services that a document lets its holder call."""

import re
from typing import Any

import boto3
import pytest

from facts.endpoints import (
    INTERFACE_ENDPOINTS,
    NO_REGIONAL_ENDPOINT,
    NODE_ENDPOINTS,
    SESSION_ENDPOINTS,
    called_services,
    services_of_managed_policy,
)


def allow(*actions: str, **more: Any) -> dict[str, Any]:
    """A document of one statement."""
    return {"Statement": [{"Effect": "Allow", "Action": list(actions), "Resource": "*", **more}]}


def test_the_names_are_names():
    """A slip in the table refuses a service that is there."""
    assert len(INTERFACE_ENDPOINTS) > 400
    assert [name for name in sorted(INTERFACE_ENDPOINTS) if not re.fullmatch(r"[a-z0-9]+([.-][a-z0-9]+)*", name)] == []
    assert {*NODE_ENDPOINTS, *SESSION_ENDPOINTS} <= INTERFACE_ENDPOINTS
    assert NO_REGIONAL_ENDPOINT.keys().isdisjoint(INTERFACE_ENDPOINTS)


def test_most_names_are_prefixes_that_botocore_knows():
    """The table was read from a guide: another source for most of it."""
    known = set(boto3.Session().get_available_services())
    named = {name.partition(".")[0].removesuffix("-fips") for name in INTERFACE_ENDPOINTS}
    assert len(named & known) > 150


@pytest.mark.parametrize(
    ("document", "services"),
    [
        (allow("ec2:DescribeVpcs", "eks:DescribeCluster"), {"ec2", "eks"}),
        ({"Statement": [{"Effect": "Allow", "Action": "aps:RemoteWrite", "Resource": "*"}]}, {"aps-workspaces"}),
        (allow("cloudwatch:PutMetricData"), {"monitoring"}),
        (allow("ecr:GetAuthorizationToken", Condition={"StringEquals": {"aws:RequestedRegion": "us-west-2"}}), {"ecr.api"}),
        # The service that is called asks IAM itself.
        (allow("iam:PassRole", "iam:CreateServiceLinkedRole"), set()),
        (allow("iam:GetInstanceProfile"), {"iam"}),
        # What FSx does in the caller's name is no call of the caller.
        (allow("ec2:DescribeSubnets", Condition={"ForAnyValue:StringEquals": {"aws:CalledVia": "fsx.amazonaws.com"}}), set()),
    ],
)
def test_a_document_says_which_services_are_called(document: dict[str, Any], services: set[str]):
    """Each must be reached from a network without a way out."""
    assert called_services([document]) == services


def test_a_managed_policy_lets_its_holder_call_what_it_is_for():
    """Of those that service accounts here have; another says nothing."""
    assert services_of_managed_policy("arn:aws-cn:iam::aws:policy/AmazonEKS_CNI_Policy") == ("ec2",)
    assert services_of_managed_policy("arn:aws:iam::aws:policy/AmazonEKSWorkerNodeMinimalPolicy") == ()
