"""What EKS refuses about control planes and managed add-ons."""

from collections.abc import Mapping
from typing import Any

from facts.kubernetes_versions import UPGRADE_ADDRESSES
from facts.regions import CONTROL_PLANE_REFUSED_ZONES
from facts.typed import typed
from simulator.account import addresses, kinds, places, view
from simulator.account.charts import needs_node
from simulator.account.rule import Refusal, rule
from simulator.account.state import AccountState
from simulator.account.timeouts import ADDON_S
from simulator.recording import Registration


@rule("create", kinds.CLUSTER, source="EKS user guide, network-reqs; EKS API, UnsupportedAvailabilityZoneException")
def control_plane_zones(state: AccountState, request: Registration) -> Refusal | None:
    """EKS places no control plane in some zones."""
    refused = [zone_id for zone_id in _zones(state, request) if zone_id in CONTROL_PLANE_REFUSED_ZONES]
    if not refused:
        return None
    return Refusal(
        "UnsupportedAvailabilityZoneException",
        "Cannot create cluster because the targeted availability zone does not currently have sufficient capacity to support the cluster",
        f"a subnet of the control plane lies in {', '.join(refused)}",
        "take other zones for `network.zones`",
    )


@rule("create", kinds.CLUSTER, source="EKS API, CreateCluster, InvalidParameterException")
def control_plane_in_two_zones(state: AccountState, request: Registration) -> Refusal | None:
    """A control plane has subnets in at least two zones."""
    zones = _zones(state, request)
    if len(zones) >= 2:
        return None
    return Refusal(
        "InvalidParameterException",
        "Subnets specified must be in at least two different AZs",
        f"its subnets lie in {', '.join(zones) or 'no zone that exists'}",
        "name two zones in `network.zones`",
    )


def _zones(state: AccountState, request: Registration) -> list[str]:
    found = (places.subnet(state, subnet_id) for subnet_id in request.inputs["vpcConfig"]["subnetIds"])
    return sorted({str(existing.inputs["availabilityZoneId"]) for existing in found if existing is not None})


@rule(
    "create",
    kinds.CLUSTER,
    source="EKS API, CreateCluster, InvalidParameterException; terraform-provider-aws retries for about two minutes",
)
def service_role_may_act(state: AccountState, request: Registration) -> Refusal | None:
    """The control plane's role carries AmazonEKSClusterPolicy when the cluster is made."""
    roles = [role.id for role in state.ready(kinds.ROLE) if role.outputs.get("arn") == request.inputs.get("roleArn")]
    granted = any(
        item.inputs["role"] in roles and str(item.inputs["policyArn"]).endswith("AmazonEKSClusterPolicy")
        for item in state.ready(kinds.ROLE_ATTACHMENT)
    )
    given = [entry for entry in state.others.get("role", {}).values() if entry.get("Arn") == request.inputs.get("roleArn")]
    granted = granted or any(arn.endswith("AmazonEKSClusterPolicy") for entry in given for arn in entry.get("attached", ()))
    if granted or not (roles or given):
        return None
    if given:
        why, remedy = f"{given[0]['Arn']} is another's, and has no AmazonEKSClusterPolicy", "its owner attaches the policy"
    else:
        why, remedy = f"{roles[0]} has no AmazonEKSClusterPolicy yet", "let the cluster depend on the attachment"
    return Refusal(
        "InvalidParameterException",
        "The provided role doesn't have the Amazon EKS Managed Policies associated with it. Please ensure the following policy is attached: AmazonEKSClusterPolicy",
        why,
        remedy,
        retry_s=120,
    )


@rule("update", kinds.CLUSTER, source="EKS user guide, enable-kms; EKS API, AssociateEncryptionConfig: for clusters without encryption")
def one_encryption_key(state: AccountState, request: Registration) -> Refusal | None:
    """A control plane takes a key for its secrets once: none replaces it, and none takes it back."""
    existing = state.find(kinds.CLUSTER, request.id)
    old, new = (_encryption_key(inputs) for inputs in (existing.registration.inputs if existing else {}, request.inputs))
    if not old or old == new:
        return None
    return Refusal(
        "InvalidRequestException",
        f"Encryption is already enabled for cluster {request.inputs['name']}, and its key cannot be changed",
        f"its secrets are encrypted with {old}, and the request names {new or 'none'}; without the old key the cluster cannot be used",
        "take the change of `controlPlane.encryptionKeyArn` back; another key takes another cluster",
    )


@rule("update", kinds.CLUSTER, source='EKS API, UpdateClusterConfig: "You can\'t change which VPC the subnets are from"')
def one_vpc(state: AccountState, request: Registration) -> Refusal | None:
    """A control plane stays in the VPC that it was made in."""
    old, new = _old_and_new(state, request, "vpcId")
    if not new - old or not old:
        return None
    return Refusal(
        "InvalidParameterException",
        f"The subnets must be in the same VPC as the subnets that cluster {request.inputs['name']} was created with",
        f"its subnets lie in {', '.join(sorted(old))}, those of the request in {', '.join(sorted(new))}",
        "take the change of `network.cidr` or `network.existing` back; another VPC takes another cluster, with another `name`",
    )


@rule("update", kinds.CLUSTER, source="EKS API, UpdateClusterConfig, InvalidParameterException, as printed in public logs of 2024-2026")
def one_set_of_zones(state: AccountState, request: Registration) -> Refusal | None:
    """Other subnets of a control plane lie in just the zones of the first."""
    old, new = _old_and_new(state, request, "availabilityZoneId")
    if not old or old == new:
        return None
    return Refusal(
        "InvalidParameterException",
        f"Provided subnets belong to the AZs '{','.join(sorted(new))}'. But they should belong to the exact set of AZs"
        f" '{','.join(sorted(old))}' in which subnets were provided during cluster creation.",
        f"its subnets lie in {', '.join(sorted(old))}, those of the request in {', '.join(sorted(new))}",
        f"set `controlPlane.zones: [{', '.join(sorted(old))}]`; nodes may be in any zone of the VPC",
    )


@rule(
    "update",
    kinds.CLUSTER,
    source="EKS user guide, update-cluster; the message as printed in aws/containers-roadmap#1693 and elastic-ipfs/infrastructure#221",
)
def upgrade_addresses(state: AccountState, request: Registration) -> Refusal | None:
    """EKS needs five free addresses in each subnet of a control plane before it changes its version or its subnets."""
    existing = state.find(kinds.CLUSTER, request.id)
    if existing is None or not _moves(existing.registration.inputs, request.inputs):
        return None
    found = (places.subnet(state, subnet_id) for subnet_id in request.inputs["vpcConfig"]["subnetIds"])
    tight = {item.id: left for item in found if item is not None and (left := addresses.free(state, item)) < UPGRADE_ADDRESSES}
    if not tight:
        return None
    listed = " ".join(f"{which} Free IPs: {left}" for which, left in sorted(tight.items()))
    return Refusal(
        "InvalidRequestException",
        f"Provided subnets {listed} , need at least {UPGRADE_ADDRESSES} IPs in each subnet to be free for this operation",
        f"EKS makes new interfaces for the control plane before it deletes the old ones; free are {listed.replace(' Free IPs', '')}",
        "free addresses there: fewer nodes, pods in a block of their own (`network.podCidr`), or other subnets in the same zones for"
        " `network.existing.controlPlane`",
    )


def _moves(old: Mapping[str, Any], new: Mapping[str, Any]) -> bool:
    """Whether an update changes the version or the subnets."""
    return old.get("version") != new.get("version") or set(old["vpcConfig"]["subnetIds"]) != set(new["vpcConfig"]["subnetIds"])


def _old_and_new(state: AccountState, request: Registration, key: str) -> tuple[set[str], set[str]]:
    """What a property of its subnets is before and after an update; empty where they stay, or where one is not known."""
    existing = state.find(kinds.CLUSTER, request.id)
    if existing is None:
        return set(), set()
    ids = [set(inputs["vpcConfig"]["subnetIds"]) for inputs in (existing.registration.inputs, request.inputs)]
    found = [[places.subnet(state, subnet_id) for subnet_id in group] for group in ids]
    if ids[0] == ids[1] or None in (*found[0], *found[1]):
        return set(), set()
    old, new = ({str(item.inputs[key]) for item in group if item is not None} for group in found)
    return old, new


def _encryption_key(inputs: Mapping[str, Any]) -> str:
    return str(((inputs.get("encryptionConfig") or {}).get("provider") or {}).get("keyArn") or "")


def _degraded(request: Registration, cause: str, fix: str) -> Refusal:
    name = request.inputs["addonName"]
    return Refusal(
        "InsufficientNumberOfReplicas",
        f"waiting for EKS Add-On ({request.id}) create: timeout while waiting for state to become 'ACTIVE' (last state: 'DEGRADED', timeout: 20m0s):"
        f" InsufficientNumberOfReplicas: The add-on is unhealthy because it doesn't have the desired number of replicas.",
        f"{name}: {cause}",
        f"{fix}; then `{typed('pulumi up')}`",
        retry_s=ADDON_S,
        leaves="unready",
        remedy="again",
    )


@rule(
    "settle",
    kinds.ADDON,
    source="EKS API, AddonIssueCode InsufficientNumberOfReplicas; terraform-provider-aws internal/service/eks/addon.go",
)
def addon_needs_node(state: AccountState, request: Registration) -> Refusal | None:
    """A managed add-on with Deployments is DEGRADED until a node without a taint is ready."""
    if not needs_node(request) or view.untainted_groups(state):
        return None
    return _degraded(
        request, "no node takes its pods: there is none, or all carry the Neuron taint", "make an untainted node group before it"
    )


@rule("settle", kinds.ADDON, source="EKS user guide, pod-id-agent-setup: without the agent a pod's credential request is refused")
def identity_needs_agent(state: AccountState, request: Registration) -> Refusal | None:
    """Pods that are to have a Pod Identity get none until the agent runs on their node."""
    if not request.inputs.get("podIdentityAssociations") or view.has_addon(state, "eks-pod-identity-agent"):
        return None
    return _degraded(
        request, "its pods restart without credentials: the add-on eks-pod-identity-agent is not there", "make the agent before the add-on"
    )


@rule("create", kinds.ADDON, source="EKS API, AddonIssueCode ConfigurationConflict")
def one_owner_of_addon(state: AccountState, request: Registration) -> Refusal | None:
    """What a Helm release of the same name has installed, an add-on does not take over without OVERWRITE."""
    name = request.inputs["addonName"]
    if request.inputs.get("resolveConflictsOnCreate") == "OVERWRITE" or not any(
        str(existing.registration.inputs["chart"]).rsplit("/", 1)[-1] == name for existing in view.releases(state)
    ):
        return None
    return Refusal(
        "ConfigurationConflict",
        f"Conflicts found when trying to apply {name}. Will not continue due to resolve conflicts mode.",
        f"a Helm release owns the objects of {name} already",
        "keep one of the two: the managed add-on, or the chart",
        leaves="failed",
    )
