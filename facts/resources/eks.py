"""EKS: the control plane and its parts."""

from collections.abc import Callable, Mapping
from dataclasses import replace

from facts.catalogue import NEURON_TYPES
from facts.prices import hourly
from facts.resources.api_calls import ApiCall, Members, creation, same
from facts.resources.authorization import GRANT_FOR_SERVICE
from facts.resources.identity import by
from facts.resources.latency import INSTANT, LOGS, Latencies, Latency, Lifetime
from facts.resources.outputs import Answer, Draw, Inputs
from facts.resources.queries import NO_STATE, Deletion, Detail, Leftover, Lookup, Query, Stage, States, Tagging
from facts.resources.resource_type import ByInstances, Changes, Conflict, Listed, NameLimit, ResourceType, Without
from facts.resources.rights import (
    ANY_KEY,
    BEING_TAGGED,
    CLUSTER,
    IN_REGION,
    Grant,
    Rights,
    Scope,
    linked_role,
    part_of_cluster,
    passed_role,
    passes_role,
    role_of,
)

_IN_USE = "ResourceInUseException"  # EKS API, errors of the Create actions
_ABSENT = "ResourceNotFoundException"
_TAGGING = Tagging("eks", "TagResource", "UntagResource", "resourceArn", "tags", shape="mapping", read="ListTagsForResource")
_WITH_CLUSTER = Without("it is deleted with its cluster")
_CLUSTER_STATES = States("status", "ACTIVE", ("CREATING", "UPDATING", "PENDING"), ("FAILED",), ("DELETING",), stuck="FAILED")
_PART_STATES = States(
    "status", "ACTIVE", ("CREATING", "UPDATING"), ("CREATE_FAILED",), ("DELETING", "DELETE_FAILED"), stuck="CREATE_FAILED"
)


def _described(operation: str, entry: str, kind: str, key: str, absent_text: str, *, states: States = NO_STATE) -> Query:
    return Query(
        "eks", operation, entry, key, one=True, tags="tags", states=states, absent=_ABSENT, absent_text=absent_text,
        scopes=part_of_cluster(kind),
    )  # fmt: skip


def _part_grants(made: str, kind: str, rest: str) -> tuple[Grant, ...]:
    """EKS authorises creation on the cluster, and everything else on the part itself."""
    return (
        Grant("eks", made, CLUSTER),
        Grant("eks", f"{rest} TagResource UntagResource ListTagsForResource", part_of_cluster(kind)),
    )


def _only_role(key: str) -> Callable[[Inputs], Mapping[str, tuple[str, ...]]]:
    """The one role that an input names, by its ARN."""
    return lambda inputs: {"role": (passed_role(inputs[key]),)}


# The cluster


def _make_cluster(draw: Draw, inputs: Inputs) -> Answer:
    name, suffix, issuer = inputs["name"], draw.dns_suffix, draw.hex(32, "oidc").upper()
    return name, {
        "arn": draw.arn("eks", f"cluster/{name}"),
        "endpoint": f"https://{issuer}.gr7.{draw.region}.eks.{suffix}",
        # Not a certificate: base64 of a sentence that says so.
        "certificateAuthority": {"data": "c2ltdWxhdGVkIGNlcnRpZmljYXRlIGF1dGhvcml0eQ=="},
        "identities": [{"oidcs": [{"issuer": f"https://oidc.eks.{draw.region}.{suffix}/id/{issuer}"}]}],
        "vpcConfig": {**inputs["vpcConfig"], "clusterSecurityGroupId": f"sg-{draw.hex(what='cluster')}"},
        "platformVersion": "eks.5",
        "status": "ACTIVE",
        "createdAt": draw.created_at,
    }


def _support(inputs: Inputs) -> str:
    standard = inputs.get("upgradePolicy", {}).get("supportType") == "STANDARD"
    return f"control plane, {'standard' if standard else 'extended'} support"


_CLUSTER: Members = {
    **same("name", "roleArn", "version", "tags", "bootstrapSelfManagedAddons", "deletionProtection"),
    "accessConfig": ("accessConfig", same("authenticationMode", "bootstrapClusterCreatorAdminPermissions")),
    # The log types that are on; the provider also lists the others as off.
    "enabledClusterLogTypes": ("logging.clusterLogging", lambda enabled: [{"types": enabled, "enabled": True}]),
    "encryptionConfig": ("encryptionConfig[]", {"provider": ("provider", same("keyArn")), "resources": "resources"}),
    "upgradePolicy": ("upgradePolicy", same("supportType")),
    "vpcConfig": ("resourcesVpcConfig", same("subnetIds", "endpointPrivateAccess", "endpointPublicAccess", "publicAccessCidrs")),
}
_DESCRIBED_CLUSTER = Query(
    "eks", "DescribeCluster", "cluster", "name", one=True, tags="tags", states=_CLUSTER_STATES, vpc="resourcesVpcConfig.vpcId", absent=_ABSENT,
    absent_text="No cluster found for name: {name}.", scopes=CLUSTER,
)  # fmt: skip
CLUSTER_TYPE = ResourceType(
    "aws:eks/cluster:Cluster",
    make=_make_cluster,
    latencies=Latencies(
        Lifetime(Latency(492, 612, 683, f"{LOGS}, n=11, median 10:12"), Latency(69, 180, 522, LOGS)),
        updates={
            "version": Latency(480, 600, 1200, "inferred: as long as making one, up to 20 min"),
            "": Latency(60, 180, 480, "inferred: one update of the control plane at a time"),
        },
    ),
    changes=Changes(
        replacing=("name", "roleArn", "bootstrapSelfManagedAddons", "accessConfig.bootstrapClusterCreatorAdminPermissions"),
        calls=("UpdateClusterConfig", "UpdateClusterVersion", "AssociateEncryptionConfig"),
        one_way={"encryptionConfig": lambda old, new: bool(old.get("encryptionConfig")) and not new.get("encryptionConfig")},
        name="name",
    ),
    identity=by("name"),
    creation=creation(ApiCall("eks", "CreateCluster", _CLUSTER)),
    lookup=Lookup(_DESCRIBED_CLUSTER, "owned", parameters={"name": "name"}),
    tagging=_TAGGING,
    deletion=Deletion("eks", "DeleteCluster", {"name": "name"}),
    rights=Rights(
        (
            Grant(
                "eks",
                "DescribeCluster UpdateClusterConfig UpdateClusterVersion DeleteCluster DescribeUpdate ListUpdates"
                " AssociateEncryptionConfig TagResource UntagResource ListTagsForResource",
                CLUSTER,
            ),
            Grant("eks", "CreateCluster", BEING_TAGGED),
            # EKS takes these in the caller's name to encrypt the secrets. A key of the stack's own is seconds old by then, and KMS
            # does not judge by its tag yet; one that is given has no tag.
            Grant("kms", "CreateGrant", (Scope(ANY_KEY, (GRANT_FOR_SERVICE,)),)),
            Grant("kms", "DescribeKey", (Scope(ANY_KEY),)),
            passes_role("eks.amazonaws.com"),
            linked_role("eks.amazonaws.com"),
        ),
        _only_role("roleArn"),
    ),
    costs=Listed(_support, "EKS control plane"),
    leftover=Leftover(
        "EKS cluster",
        Stage.CONTROL_PLANE,
        _DESCRIBED_CLUSTER,
        "tags or VPC",
        cluster="name",
        label="{status}",
        usd_per_hour=lambda entry: hourly("control plane, standard support"),
        scopes=CLUSTER,
    ),
    # terraform-aws-modules/terraform-aws-eks#1262, #1191, #3293
    conflict=Conflict(("name",), _IN_USE, "Cluster already exists with name: {name}"),
    name_limit=NameLimit("name", 100, "EKS API, CreateCluster"),
)

# Node groups

_CORE = Lifetime(Latency(88, 150, 201, f"{LOGS}, m5 and t3, 1 to 3 nodes"), Latency(252, 360, 501, LOGS))
_NEURON = Lifetime(
    Latency(240, 360, 480, "inferred: larger instance boot, 8 and more interfaces"), Latency(360, 480, 600, "inferred: metal-size shutdown")
)
_EMPTY = Lifetime(
    Latency(30, 60, 90, "inferred: an Auto Scaling group without instances"),
    Latency(60, 90, 120, "inferred: an Auto Scaling group without instances"),
)
NODE_UPDATE = Latency(480, 600, 900, "published: about 10 min a node (aws/containers-roadmap#1560)")
NEURON_NODE_UPDATE = Latency(600, 840, 1080, "inferred: metal-size shutdown, then boot, one node after the other")
"""What rolling one node of a group takes."""


def _nodes_lifetime(inputs: Inputs) -> Lifetime | None:
    scaling = inputs["scalingConfig"]
    if scaling["desiredSize"] == 0:
        return _EMPTY
    # A capacity block's type is in the launch template; such groups are Neuron groups all the same.
    types = inputs.get("instanceTypes")
    neuron = inputs.get("amiType") == "AL2023_x86_64_NEURON" or (isinstance(types, list) and types[0] in NEURON_TYPES)
    return _NEURON if neuron else None


def _make_node_group(draw: Draw, inputs: Inputs) -> Answer:
    cluster, name = inputs["clusterName"], inputs["nodeGroupName"]
    return f"{cluster}:{name}", {
        "arn": draw.arn("eks", f"nodegroup/{cluster}/{name}/{draw.uuid()}"),
        "resources": [{"autoscalingGroups": [{"name": f"eks-{name}-{draw.uuid('asg')}"}], "remoteAccessSecurityGroupId": ""}],
        "status": "ACTIVE",
    }


_NODE_GROUP: Members = {
    **same("clusterName", "amiType", "capacityType", "instanceTypes", "labels", "releaseVersion", "tags", "version"),
    "nodeGroupName": "nodegroupName",
    "nodeRoleArn": "nodeRole",
    "subnetIds": "subnets",
    "launchTemplate": ("launchTemplate", same("id", "version")),
    "nodeRepairConfig": ("nodeRepairConfig", same("enabled")),
    "scalingConfig": ("scalingConfig", same("desiredSize", "minSize", "maxSize")),
    "taints": ("taints", [same("key", "value", "effect")]),
    "updateConfig": ("updateConfig", same("maxUnavailable", "updateStrategy")),
}
_DESCRIBED_GROUP = _described(
    "DescribeNodegroup", "nodegroup", "nodegroup", "nodegroupName", "No node group found for name: {nodegroupName}.", states=_PART_STATES
)
NODE_GROUP = ResourceType(
    "aws:eks/nodeGroup:NodeGroup",
    make=_make_node_group,
    latencies=Latencies(_CORE, _nodes_lifetime),
    changes=Changes(
        replacing=(
            "clusterName", "nodeGroupName", "nodeRoleArn", "subnetIds", "amiType", "capacityType", "instanceTypes", "launchTemplate.id",
        ),
        calls=("UpdateNodegroupConfig", "UpdateNodegroupVersion"),
        name="nodeGroupName",
    ),
    identity=by("clusterName", "nodeGroupName"),
    creation=creation(ApiCall("eks", "CreateNodegroup", _NODE_GROUP)),
    lookup=Lookup(
        _DESCRIBED_GROUP,
        "part",
        parameters={"clusterName": "clusterName", "nodegroupName": "nodeGroupName"},
        import_id="{clusterName}:{nodeGroupName}",
    ),
    tagging=_TAGGING,
    deletion=Deletion("eks", "DeleteNodegroup", {"clusterName": "clusterName", "nodegroupName": "nodegroupName"}),
    rights=Rights(
        (
            *_part_grants(
                "CreateNodegroup", "nodegroup", "DescribeNodegroup UpdateNodegroupConfig UpdateNodegroupVersion DeleteNodegroup"
            ),
            Grant("eks", "DescribeUpdate", CLUSTER),
            # EKS asks for this of a caller that brings a launch template.
            Grant("ec2", "RunInstances", IN_REGION),
            Grant("ec2", "DescribeSubnets DescribeLaunchTemplateVersions"),
            passes_role("ec2.amazonaws.com"),
            linked_role("eks-nodegroup.amazonaws.com"),
            linked_role("autoscaling.amazonaws.com"),
            linked_role("spot.amazonaws.com"),
        ),
        _only_role("nodeRoleArn"),
    ),
    costs=ByInstances(),
    # What its instances cost is on the instances' lines.
    leftover=Leftover(
        "node group",
        Stage.NODES,
        Query("eks", "ListNodegroups", "nodegroups", tags="", absent=_ABSENT, scopes=CLUSTER),
        "with the cluster",
        detail=Detail(_DESCRIBED_GROUP, {"clusterName": "clusterName", "nodegroupName": "id"}),
        cluster="clusterName",
        label="{nodegroupName}",
        id="{clusterName}:{nodegroupName}",
        scopes=part_of_cluster("nodegroup"),
    ),
    conflict=Conflict(
        ("clusterName", "nodeGroupName"), _IN_USE, "NodeGroup already exists with name {nodeGroupName} and cluster name {clusterName}"
    ),
    name_limit=NameLimit("nodeGroupName", 63, "EKS API, CreateNodegroup"),
)  # fmt: skip

# Add-ons and identities

_ADDON: Members = {
    **same("clusterName", "addonName", "addonVersion", "configurationValues"),
    "resolveConflictsOnCreate": "resolveConflicts",
    "podIdentityAssociations": ("podIdentityAssociations", [same("roleArn", "serviceAccount")]),
}
_IDENTITY_GRANTS = (
    *_part_grants(
        "CreatePodIdentityAssociation ListPodIdentityAssociations",
        "podidentityassociation",
        "DescribePodIdentityAssociation UpdatePodIdentityAssociation DeletePodIdentityAssociation",
    ),
    passes_role("pods.eks.amazonaws.com"),
)


def _make_addon(draw: Draw, inputs: Inputs) -> Answer:
    cluster, name = inputs["clusterName"], inputs["addonName"]
    return f"{cluster}:{name}", {"arn": draw.arn("eks", f"addon/{cluster}/{name}/{draw.uuid()}"), "createdAt": draw.created_at}


ADDON = ResourceType(
    "aws:eks/addon:Addon",
    make=_make_addon,
    latencies=Latencies(
        Lifetime(Latency(14, 45, 65, f"{LOGS}: coredns 14-56 s, EBS CSI 45-65 s"), Latency(10, 20, 40, LOGS)),
        updates={"": Latency(20, 45, 90, "inferred: DaemonSets roll node by node")},
    ),
    changes=Changes(replacing=("addonName", "clusterName"), calls=("UpdateAddon",)),
    identity=by("clusterName", "addonName"),
    creation=creation(ApiCall("eks", "CreateAddon", _ADDON), later=("preserve", "resolveConflictsOnUpdate")),
    lookup=Lookup(
        _described(
            "DescribeAddon",
            "addon",
            "addon",
            "addonName",
            "No addon: {addonName} found in cluster: {clusterName}",
            states=replace(_PART_STATES, stuck="DEGRADED"),
        ),
        "part",
        parameters={"clusterName": "clusterName", "addonName": "addonName"},
        import_id="{clusterName}:{addonName}",
    ),
    tagging=_TAGGING,
    deletion=Deletion("eks", "DeleteAddon", {"clusterName": "clusterName", "addonName": "addonName"}),
    rights=Rights(
        (*_part_grants("CreateAddon", "addon", "DescribeAddon UpdateAddon DeleteAddon"), *_IDENTITY_GRANTS),
        lambda inputs: {"role": tuple(passed_role(item["roleArn"]) for item in inputs.get("podIdentityAssociations") or ())},
    ),
    costs=Without("EKS add-ons have no price of their own"),
    leftover=_WITH_CLUSTER,
    conflict=Conflict(("clusterName", "addonName"), _IN_USE, "Addon already exists."),
)


def _make_pod_identity(draw: Draw, inputs: Inputs) -> Answer:
    association = f"a-{draw.letters(17)}"
    arn = draw.arn("eks", f"podidentityassociation/{inputs['clusterName']}/{association}")
    return association, {"associationId": association, "associationArn": arn}


POD_IDENTITY = ResourceType(
    "aws:eks/podIdentityAssociation:PodIdentityAssociation",
    make=_make_pod_identity,
    latencies=Latencies(INSTANT),
    changes=Changes(replacing=("clusterName", "namespace", "serviceAccount"), calls=("UpdatePodIdentityAssociation",)),
    identity=by("clusterName", "namespace", "serviceAccount"),
    creation=creation(ApiCall("eks", "CreatePodIdentityAssociation", same("clusterName", "namespace", "serviceAccount", "roleArn"))),
    lookup=Lookup(
        Query("eks", "ListPodIdentityAssociations", "associations", "associationId", tags="", absent=_ABSENT, scopes=CLUSTER),
        "part",
        parameters={key: key for key in ("clusterName", "namespace", "serviceAccount")},
        matches={"namespace": "namespace", "serviceAccount": "serviceAccount"},
        import_id="{clusterName},{associationId}",
    ),
    tagging=_TAGGING,
    deletion=Deletion("eks", "DeletePodIdentityAssociation", {"clusterName": "clusterName", "associationId": "associationId"}),
    rights=Rights(_IDENTITY_GRANTS, _only_role("roleArn")),
    costs=Without("EKS Pod Identity is free of charge"),
    leftover=_WITH_CLUSTER,
    conflict=Conflict(
        ("clusterName", "namespace", "serviceAccount"), _IN_USE, "Association already exists for {namespace}/{serviceAccount}"
    ),
)

# Access


def _make_access_entry(draw: Draw, inputs: Inputs) -> Answer:
    cluster, principal = inputs["clusterName"], inputs["principalArn"]
    arn = draw.arn("eks", f"access-entry/{cluster}/role/{draw.account}/{role_of(principal)}/{draw.uuid()}")
    return f"{cluster}:{principal}", {"accessEntryArn": arn, "createdAt": draw.created_at}


_DESCRIBED_ENTRY = _described(
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
    tagging=_TAGGING,
    deletion=Deletion("eks", "DeleteAccessEntry", {"clusterName": "clusterName", "principalArn": "principalArn"}),
    rights=Rights(_part_grants("CreateAccessEntry", "access-entry", "DescribeAccessEntry UpdateAccessEntry DeleteAccessEntry")),
    costs=Without("an access entry has no price"),
    # Those with the exact tag: EKS's own for node roles have none, and go with the cluster.
    leftover=Leftover(
        "access entry",
        Stage.CONTROL_PLANE,
        Query("eks", "ListAccessEntries", "accessEntries", tags="", absent=_ABSENT, scopes=CLUSTER),
        detail=Detail(_DESCRIBED_ENTRY, {"clusterName": "clusterName", "principalArn": "id"}),
        cluster="clusterName",
        label="{principalArn}",
        id="{clusterName}:{principalArn}",
        scopes=part_of_cluster("access-entry"),
    ),
    conflict=Conflict(("clusterName", "principalArn"), _IN_USE, "The specified access entry resource is already in use on this cluster."),
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
            absent=_ABSENT,
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
        _part_grants("DescribeCluster", "access-entry", "AssociateAccessPolicy DisassociateAccessPolicy ListAssociatedAccessPolicies")
    ),
    costs=Without("an access policy has no price"),
    leftover=Without("it is deleted with its access entry"),
    second="same",
)

TYPES = (NODE_GROUP, ACCESS_ENTRY, CLUSTER_TYPE, ADDON, POD_IDENTITY, ACCESS_POLICY)
