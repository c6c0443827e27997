"""The control plane and its parts as EKS describes them."""

from collections.abc import Iterator, Mapping

from facts.resources import eks, eks_access, eks_nodes
from simulator.account import kinds, view
from simulator.account.one_cluster import cluster_of
from simulator.account.state import AccountState
from simulator.aws_endpoint.entries import Derive, Entry, Kind, chosen, tags_of
from simulator.aws_endpoint.network_entries import vpc_of
from simulator.outputs import CREATED_AT
from simulator.recording import Registration


def _cluster(state: AccountState, item: Registration) -> Entry:
    inputs, outputs = item.inputs, item.outputs
    network = inputs["vpcConfig"]
    issuer = next((each["oidcs"][0]["issuer"] for each in outputs.get("identities") or ()), "")
    members = chosen(inputs, name="name", version="version", roleArn="roleArn", deletionProtection="deletionProtection")
    return {
        **members,
        **chosen(outputs, arn="arn", endpoint="endpoint", certificateAuthority="certificateAuthority", platformVersion="platformVersion"),
        **chosen(inputs, accessConfig="accessConfig", upgradePolicy="upgradePolicy"),
        "createdAt": outputs.get("createdAt", CREATED_AT),
        "identity": {"oidc": {"issuer": issuer}},
        "logging": {"clusterLogging": [{"types": list(inputs.get("enabledClusterLogTypes") or ()), "enabled": True}]},
        "encryptionConfig": [inputs["encryptionConfig"]] if inputs.get("encryptionConfig") else [],
        "health": {"issues": []},
        "resourcesVpcConfig": {
            **chosen(network, endpointPublicAccess="endpointPublicAccess", endpointPrivateAccess="endpointPrivateAccess"),
            **chosen(network, publicAccessCidrs="publicAccessCidrs", subnetIds="subnetIds", securityGroupIds="securityGroupIds"),
            "clusterSecurityGroupId": (outputs.get("vpcConfig") or {}).get("clusterSecurityGroupId", ""),
            "vpcId": vpc_of(state, network["subnetIds"]),
        },
        "tags": tags_of(item),
    }


def _node_group(state: AccountState, item: Registration) -> Entry:
    inputs, outputs = item.inputs, item.outputs
    members = chosen(inputs, clusterName="clusterName", nodegroupName="nodeGroupName", version="version", releaseVersion="releaseVersion")
    more = chosen(inputs, capacityType="capacityType", instanceTypes="instanceTypes", amiType="amiType", nodeRole="nodeRoleArn")
    template = inputs.get("launchTemplate")
    groups = [each for resource in outputs.get("resources") or () for each in resource.get("autoscalingGroups") or ()]
    return {
        **members,
        **more,
        **chosen(outputs, nodegroupArn="arn"),
        **chosen(inputs, labels="labels", taints="taints", nodeRepairConfig="nodeRepairConfig", updateConfig="updateConfig"),
        "scalingConfig": {key: int(value) for key, value in inputs["scalingConfig"].items()},
        "subnets": view.listed(inputs.get("subnetIds")),
        "resources": {"autoScalingGroups": [{"name": each["name"]} for each in groups]},
        "launchTemplate": chosen(template, id="id", version="version") if template else {},
        "health": {"issues": []},
        "createdAt": CREATED_AT,
        "tags": tags_of(item),
    }


def _addon(state: AccountState, item: Registration) -> Entry:
    members = chosen(item.inputs, addonName="addonName", clusterName="clusterName", addonVersion="addonVersion")
    more = chosen(item.inputs, configurationValues="configurationValues", serviceAccountRoleArn="serviceAccountRoleArn")
    return {**members, **more, **chosen(item.outputs, addonArn="arn"), "health": {"issues": []}, "tags": tags_of(item)}


def _access_entry(state: AccountState, item: Registration) -> Entry:
    members = chosen(item.inputs, clusterName="clusterName", principalArn="principalArn", type="type", kubernetesGroups="kubernetesGroups")
    return {**members, **chosen(item.outputs, accessEntryArn="accessEntryArn"), "tags": tags_of(item)}


def entries_of_services(state: AccountState, _region: str) -> Iterator[tuple[str, Entry]]:
    """Access entries that Batch made for its role, without a tag; they stay when its environment is deleted.

    Source: Batch user guide, eks-access-entries.
    """
    found = view.cluster(state)
    here = str(found.registration.inputs["name"]) if found is not None else ""
    environments = [item.registration for item in state.existing(kinds.COMPUTE_ENVIRONMENT)]
    roles = [(cluster_of(item) or here, str(item.inputs.get("serviceRole") or "")) for item in environments]
    for stray in state.strays.values():
        if stray.name.startswith("access entry "):
            roles.append((stray.cluster or here, stray.name.removeprefix("access entry ")))
    for cluster, principal in roles:
        if cluster and principal:
            yield f"{cluster}:{principal}", {"clusterName": cluster, "principalArn": principal, "type": "STANDARD", "tags": {}}


def _access_policy(state: AccountState, item: Registration) -> Entry:
    members = chosen(item.inputs, clusterName="clusterName", principalArn="principalArn", policyArn="policyArn", accessScope="accessScope")
    return {**members, "associatedAt": CREATED_AT}


def _pod_identity(state: AccountState, item: Registration) -> Entry:
    members = chosen(item.inputs, clusterName="clusterName", namespace="namespace", serviceAccount="serviceAccount", roleArn="roleArn")
    return {**members, **chosen(item.outputs, associationArn="associationArn", associationId="associationId")}


KINDS = (
    Kind("cluster", eks.CLUSTER_TYPE, _cluster),
    Kind("node group", eks_nodes.NODE_GROUP, _node_group),
    Kind("addon", eks.ADDON, _addon),
    Kind("access entry", eks_access.ACCESS_ENTRY, _access_entry),
    Kind("access policy", eks_access.ACCESS_POLICY, _access_policy, hidden=("clusterName", "principalArn")),
    # The list leaves the role out (EKS API, PodIdentityAssociationSummary).
    Kind("pod identity", eks.POD_IDENTITY, _pod_identity, hidden=("roleArn",)),
)
DERIVED: Mapping[str, tuple[Derive, ...]] = {"access entry": (entries_of_services,)}
"""What services make of these kinds by themselves."""
