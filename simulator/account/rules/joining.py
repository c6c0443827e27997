"""What keeps a node from joining: no way to the control plane or the registries, and no network for its pods."""

from facts.endpoints import NODE_ENDPOINTS
from facts.kubernetes_versions import KUBELET_SKEW, minors_behind
from simulator.account import kinds, view, ways
from simulator.account.rule import Refusal, rule
from simulator.account.rules.capacity import replace_after
from simulator.account.state import AccountState
from simulator.account.timeouts import JOIN_S
from simulator.recording import Registration

CNI_POLICY = "AmazonEKS_CNI_Policy"


def _never_joins(request: Registration, cause: str, fix: str, text: str = "Unhealthy nodes in the kubernetes cluster") -> Refusal:
    shown = f"unexpected state 'CREATE_FAILED', wanted target 'ACTIVE'. last error: NodeCreationFailure: {text}"
    return Refusal("NodeCreationFailure", shown, cause, replace_after(fix, request), retry_s=JOIN_S, leaves="failed", remedy="replace")


@rule("settle", kinds.NODE_GROUP, source="EKS user guide, launch-templates: custom security groups replace the cluster's")
def cluster_security_group(state: AccountState, request: Registration) -> Refusal | None:
    """Every interface carries the cluster's security group: a template with groups of its own loses it, and its nodes never join."""
    wanted = view.cluster_group_id(state)
    lacking = [ids for ids in view.security_groups_of(state, request) if ids and wanted not in ids]
    if not view.desired_size(request) or not lacking:
        return None
    return _never_joins(
        request,
        f"{len(lacking)} interfaces in the template of {request.inputs['nodeGroupName']} lack {wanted}, the group that EKS made for the cluster",
        "add the cluster's security group to every interface of the template",
        "Instances failed to join the kubernetes cluster",
    )


@rule("settle", kinds.NODE_GROUP, source="EKS user guide, private clusters; EKS API, NodegroupIssueCode NodeCreationFailure")
def way_out(state: AccountState, request: Registration) -> Refusal | None:
    """A node reaches registries and control plane, by a NAT gateway, or by endpoints for each service; a public subnet needs public addresses."""
    if not view.desired_size(request):
        return None
    for subnet in view.subnets_of(state, request):
        lacking = _missing_way(state, subnet)
        if lacking is not None:
            return _never_joins(
                request,
                f"nodes in {subnet.name} have no way out: {lacking}",
                "route 0.0.0.0/0 of the subnet to a NAT gateway, or make these endpoints",
            )
    return None


def _missing_way(state: AccountState, subnet: Registration) -> str | None:
    lacking = ways.unreached(state, subnet, (*NODE_ENDPOINTS, "s3"))
    if lacking and ways.without_public_address(state, subnet):
        return "its route leads to the internet gateway, and nodes get no public address"
    return f"no NAT gateway, and no endpoint for {', '.join(lacking)}" if lacking else None


@rule("settle", kinds.NODE_GROUP, source="EKS user guide, cni-iam-role; aws/amazon-vpc-cni-k8s troubleshooting: NetworkPluginNotReady")
def cni_is_there(state: AccountState, request: Registration) -> Refusal | None:
    """A node is NotReady until the VPC CNI runs on it, with the right to attach interfaces."""
    if not view.desired_size(request):
        return None
    if not view.has_addon(state, "vpc-cni"):
        cause, fix = "the add-on vpc-cni is not there: container runtime network not ready", "make vpc-cni before the node groups"
    elif not _cni_may_attach(state, request):
        cause = f"the VPC CNI has no identity: no association for kube-system/aws-node, and the node role lacks {CNI_POLICY}"
        fix = "associate a role with kube-system/aws-node before the node groups"
    else:
        return None
    return _never_joins(request, f"{cause}; nodes of {request.inputs['nodeGroupName']} stay NotReady", fix)


def _cni_may_attach(state: AccountState, request: Registration) -> bool:
    by_identity = any(
        (item.inputs["namespace"], item.inputs["serviceAccount"]) == ("kube-system", "aws-node") for item in state.ready(kinds.POD_IDENTITY)
    )
    roles = [role.id for role in state.ready(kinds.ROLE) if role.outputs.get("arn") == request.inputs.get("nodeRoleArn")]
    by_node = any(
        item.inputs["role"] in roles and str(item.inputs["policyArn"]).endswith(CNI_POLICY) for item in state.ready(kinds.ROLE_ATTACHMENT)
    )
    return by_identity or by_node


@rule("create", kinds.NODE_GROUP, source="EKS API, CreateNodegroup, InvalidParameterException; Kubernetes version skew policy")
def version_skew(state: AccountState, request: Registration) -> Refusal | None:
    """Nodes are not newer than the control plane, and at most three minors older."""
    found = view.cluster(state)
    group, plane = request.inputs.get("version"), found.registration.inputs.get("version") if found is not None else None
    if not group or not plane:
        return None
    behind = int(str(plane).split(".")[1]) - int(str(group).split(".")[1])
    if 0 <= behind <= 3:
        return None
    return Refusal(
        "InvalidParameterException",
        f"Requested Nodegroup release version {group} is invalid. Allowed: the cluster's version {plane} and three minors below",
        f"{request.inputs['nodeGroupName']} is of {group}, the control plane of {plane}",
        "move both in steps: the control plane first, then the groups",
    )


@rule("update", kinds.NODE_GROUP, source="EKS API, UpdateNodegroupVersion, InvalidParameterException")
def version_skew_on_update(state: AccountState, request: Registration) -> Refusal | None:
    """A group is not moved beyond the version of its control plane."""
    return version_skew.check(state, request)


@rule("update", kinds.CLUSTER, source="EKS user guide, update-cluster: kubelets up to three minors behind; the refusal's text is inferred")
def nodes_stay_within_skew(state: AccountState, request: Registration) -> Refusal | None:
    """A control plane does not move further from its nodes than the version skew allows."""
    new = request.inputs.get("version")
    existing = state.find(kinds.CLUSTER, request.id)
    if not new or existing is None or existing.registration.inputs.get("version") == new:
        return None
    for group in view.node_groups(state):
        old = group.inputs.get("version")
        if old and minors_behind(str(new), str(old)) > KUBELET_SKEW:
            return Refusal(
                "InvalidRequestException",
                f"Kubelet version {old} of nodegroup {group.inputs['nodeGroupName']} is not supported with cluster version {new}",
                f"the nodes of {group.inputs['nodeGroupName']} are of {old}, more than {KUBELET_SKEW} minors older than {new}",
                f"move the group to {existing.registration.inputs.get('version')} first",
            )
    return None


@rule(
    "create",
    kinds.ADDON,
    source="EKS API, CreateAddon, InvalidParameterException; EKS user guide, managing-kube-proxy: one version per minor",
)
def addon_of_the_minor(state: AccountState, request: Registration) -> Refusal | None:
    """A version of kube-proxy is for one minor, that of the control plane."""
    found = view.cluster(state)
    plane = found.registration.inputs.get("version") if found is not None else None
    version = request.inputs.get("addonVersion")
    if request.inputs.get("addonName") != "kube-proxy" or not version or not plane or minors_behind(str(plane), str(version)) == 0:
        return None
    return Refusal(
        "InvalidParameterException",
        f"Addon version specified is not supported: kube-proxy {version}",
        f"{version} is not for a control plane of {plane}",
        "take the version that DescribeAddonVersions lists for the minor; the control plane first, then its add-ons",
    )


@rule("update", kinds.ADDON, source="EKS API, UpdateAddon, InvalidParameterException")
def addon_of_the_minor_on_update(state: AccountState, request: Registration) -> Refusal | None:
    """An add-on that gets a version gets one for the control plane's minor; one that keeps its version may stay behind."""
    existing = state.find(kinds.ADDON, request.id)
    if existing is not None and existing.registration.inputs.get("addonVersion") == request.inputs.get("addonVersion"):
        return None
    return addon_of_the_minor.check(state, request)


@rule("update", kinds.CLUSTER, source="EKS user guide, update-cluster: one minor at a time, never back")
def one_minor_at_a_time(state: AccountState, request: Registration) -> Refusal | None:
    """A control plane moves up by one minor version, and never down."""
    existing = state.find(kinds.CLUSTER, request.id)
    old = existing.registration.inputs.get("version") if existing is not None else None
    new = request.inputs.get("version")
    if not old or not new or int(str(new).split(".")[1]) - int(str(old).split(".")[1]) in (0, 1):
        return None
    return Refusal(
        "InvalidParameterException",
        f"Unsupported Kubernetes minor version update from {old} to {new}",
        f"the control plane is of {old}",
        f"set `controlPlane.kubernetesVersion`, without which a stack is of the program's default: from {old} one minor at a time, never back",
    )
