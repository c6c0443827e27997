"""EKS: the control plane, its add-ons and the roles of pods."""

from dataclasses import replace

from facts.prices import hourly
from facts.resources.api_calls import ApiCall, Members, creation, same
from facts.resources.authorization import GRANT_FOR_SERVICE
from facts.resources.eks_api import ABSENT, CLUSTER_STATES, IN_USE, PART_STATES, TAGGING, WITH_CLUSTER, described, only_role, part_grants
from facts.resources.identity import by
from facts.resources.latency import INSTANT, LOGS, Latencies, Latency, Lifetime
from facts.resources.outputs import Answer, Draw, Inputs
from facts.resources.queries import Deletion, Leftover, Lookup, Query, Stage
from facts.resources.resource_type import Changes, Conflict, Listed, NameLimit, ResourceType, Without
from facts.resources.rights import ANY_KEY, BEING_TAGGED, CLUSTER, Grant, Rights, Scope, linked_role, passed_role, passes_role


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
    "eks", "DescribeCluster", "cluster", "name", one=True, tags="tags", states=CLUSTER_STATES, vpc="resourcesVpcConfig.vpcId", absent=ABSENT,
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
        calls=("UpdateClusterConfig", "UpdateClusterVersion", "AssociateEncryptionConfig", "DescribeUpdate"),
        one_way={"encryptionConfig": lambda old, new: bool(old.get("encryptionConfig")) and not new.get("encryptionConfig")},
        name="name",
    ),
    identity=by("name"),
    creation=creation(ApiCall("eks", "CreateCluster", _CLUSTER)),
    lookup=Lookup(_DESCRIBED_CLUSTER, "owned", parameters={"name": "name"}),
    tagging=TAGGING,
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
            # A role that others keep is read with its documents (hashicorp/terraform-provider-aws internal/service/iam/role.go).
            Grant("iam", "GetRolePolicy", (Scope("arn:{partition}:iam::*:role/{role}"),)),
            linked_role("eks.amazonaws.com"),
        ),
        only_role("roleArn"),
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
    conflict=Conflict(("name",), IN_USE, "Cluster already exists with name: {name}"),
    name_limit=NameLimit("name", 100, "EKS API, CreateCluster"),
)

# Add-ons and identities

_ADDON: Members = {
    **same("clusterName", "addonName", "addonVersion", "configurationValues"),
    "resolveConflictsOnCreate": "resolveConflicts",
    "podIdentityAssociations": ("podIdentityAssociations", [same("roleArn", "serviceAccount")]),
}
_IDENTITY_GRANTS = (
    *part_grants(
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
    changes=Changes(replacing=("addonName", "clusterName"), calls=("UpdateAddon", "DescribeUpdate")),
    identity=by("clusterName", "addonName"),
    creation=creation(ApiCall("eks", "CreateAddon", _ADDON), later=("preserve", "resolveConflictsOnUpdate")),
    lookup=Lookup(
        described(
            "DescribeAddon",
            "addon",
            "addon",
            "addonName",
            "No addon: {addonName} found in cluster: {clusterName}",
            states=replace(PART_STATES, stuck="DEGRADED"),
        ),
        "part",
        parameters={"clusterName": "clusterName", "addonName": "addonName"},
        import_id="{clusterName}:{addonName}",
    ),
    tagging=TAGGING,
    deletion=Deletion("eks", "DeleteAddon", {"clusterName": "clusterName", "addonName": "addonName"}),
    rights=Rights(
        # After each change the provider asks for its update, whose ARN is the add-on's (terraform-provider-aws internal/service/eks/addon.go).
        (*part_grants("CreateAddon", "addon", "DescribeAddon UpdateAddon DeleteAddon DescribeUpdate"), *_IDENTITY_GRANTS),
        lambda inputs: {"role": tuple(passed_role(item["roleArn"]) for item in inputs.get("podIdentityAssociations") or ())},
    ),
    costs=Without("EKS add-ons have no price of their own"),
    leftover=WITH_CLUSTER,
    conflict=Conflict(("clusterName", "addonName"), IN_USE, "Addon already exists."),
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
        Query("eks", "ListPodIdentityAssociations", "associations", "associationId", tags="", absent=ABSENT, scopes=CLUSTER),
        "part",
        parameters={key: key for key in ("clusterName", "namespace", "serviceAccount")},
        matches={"namespace": "namespace", "serviceAccount": "serviceAccount"},
        import_id="{clusterName},{associationId}",
    ),
    tagging=TAGGING,
    deletion=Deletion("eks", "DeletePodIdentityAssociation", {"clusterName": "clusterName", "associationId": "associationId"}),
    rights=Rights(_IDENTITY_GRANTS, only_role("roleArn")),
    costs=Without("EKS Pod Identity is free of charge"),
    leftover=WITH_CLUSTER,
    conflict=Conflict(
        ("clusterName", "namespace", "serviceAccount"), IN_USE, "Association already exists for {namespace}/{serviceAccount}"
    ),
)

TYPES = (CLUSTER_TYPE, ADDON, POD_IDENTITY)
