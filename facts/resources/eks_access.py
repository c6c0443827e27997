"""EKS: who may reach a cluster."""

from facts.resources.api_calls import ApiCall, creation, same
from facts.resources.eks_api import ABSENT, IN_USE, TAGGING, described, part_grants
from facts.resources.identity import by
from facts.resources.latency import INSTANT, Latencies
from facts.resources.outputs import Answer, Draw, Inputs
from facts.resources.queries import Deletion, Detail, Leftover, Lookup, Query, Stage
from facts.resources.resource_type import Changes, Conflict, ResourceType, Without
from facts.resources.rights import CLUSTER, Rights, part_of_cluster, role_of


def _make_access_entry(draw: Draw, inputs: Inputs) -> Answer:
    cluster, principal = inputs["clusterName"], inputs["principalArn"]
    arn = draw.arn("eks", f"access-entry/{cluster}/role/{draw.account}/{role_of(principal)}/{draw.uuid()}")
    return f"{cluster}:{principal}", {"accessEntryArn": arn, "createdAt": draw.created_at}


_DESCRIBED_ENTRY = described(
    "DescribeAccessEntry",
    "accessEntry",
    "access-entry",
    "principalArn",
    "The specified principalArn could not be found. You can view your available access entries with 'list-access-entries'.",
)
ACCESS_ENTRY = ResourceType(
    "aws:eks/accessEntry:AccessEntry",
    make=_make_access_entry,
    latencies=Latencies(INSTANT),
    changes=Changes(replacing=("clusterName", "principalArn", "type"), calls=("UpdateAccessEntry",)),
    identity=by("clusterName", "principalArn"),
    creation=creation(ApiCall("eks", "CreateAccessEntry", same("clusterName", "principalArn", "type"))),
    lookup=Lookup(
        _DESCRIBED_ENTRY,
        "part",
        parameters={"clusterName": "clusterName", "principalArn": "principalArn"},
        import_id="{clusterName}:{principalArn}",
    ),
    tagging=TAGGING,
    deletion=Deletion("eks", "DeleteAccessEntry", {"clusterName": "clusterName", "principalArn": "principalArn"}),
    rights=Rights(part_grants("CreateAccessEntry", "access-entry", "DescribeAccessEntry UpdateAccessEntry DeleteAccessEntry")),
    costs=Without("an access entry has no price"),
    # Those with the exact tag: EKS's own for node roles have none, and go with the cluster.
    leftover=Leftover(
        "access entry",
        Stage.CONTROL_PLANE,
        Query("eks", "ListAccessEntries", "accessEntries", tags="", absent=ABSENT, scopes=CLUSTER),
        detail=Detail(_DESCRIBED_ENTRY, {"clusterName": "clusterName", "principalArn": "id"}),
        cluster="clusterName",
        label="{principalArn}",
        id="{clusterName}:{principalArn}",
        scopes=part_of_cluster("access-entry"),
    ),
    conflict=Conflict(("clusterName", "principalArn"), IN_USE, "The specified access entry resource is already in use on this cluster."),
)

ACCESS_POLICY = ResourceType(
    "aws:eks/accessPolicyAssociation:AccessPolicyAssociation",
    make=lambda draw, inputs: (
        f"{inputs['clusterName']}#{inputs['principalArn']}#{inputs['policyArn']}",
        {"associatedAt": draw.created_at},
    ),
    latencies=Latencies(INSTANT),
    changes=Changes(replacing=("clusterName", "principalArn", "policyArn", "accessScope")),
    identity=by("clusterName", "principalArn", "policyArn"),
    creation=creation(
        ApiCall(
            "eks",
            "AssociateAccessPolicy",
            {**same("clusterName", "principalArn", "policyArn"), "accessScope": ("accessScope", same("type", "namespaces"))},
        )
    ),
    lookup=Lookup(
        Query(
            "eks",
            "ListAssociatedAccessPolicies",
            "associatedAccessPolicies",
            "policyArn",
            tags="",
            absent=ABSENT,
            scopes=part_of_cluster("access-entry"),
        ),
        "part",
        parameters={"clusterName": "clusterName", "principalArn": "principalArn"},
        matches={"policyArn": "policyArn"},
        import_id="{clusterName}#{principalArn}#{policyArn}",
    ),
    tagging=Without("it is a part of its access entry"),
    deletion=Deletion(
        "eks", "DisassociateAccessPolicy", {"clusterName": "clusterName", "principalArn": "principalArn", "policyArn": "policyArn"}
    ),
    rights=Rights(
        part_grants("DescribeCluster", "access-entry", "AssociateAccessPolicy DisassociateAccessPolicy ListAssociatedAccessPolicies")
    ),
    costs=Without("an access policy has no price"),
    leftover=Without("it is deleted with its access entry"),
    second="same",
)

TYPES = (ACCESS_ENTRY, ACCESS_POLICY)
