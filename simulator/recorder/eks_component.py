"""What `pulumi_eks.Cluster` registers: the remote component's children, their links, and its outputs.

Measured behind the real engine with pulumi-eks 4.4.0 (component 4.3.0+9), 2026-11-22. Arguments that were not measured
are refused, so that the expansion never guesses. The component is built with version 3.173 of Pulumi's SDK for Node.js
(pulumi/pulumi-eks nodejs/eks/yarn.lock), which registers components without their inputs and what these depend on; 3.202
and later send both (pulumi/pulumi CHANGELOG.md).
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from simulator.errors import NotMeasured
from simulator.recorder.protocol import RESOURCE_REFERENCE, SIGNATURE
from simulator.recording import Registration

COMPONENT_TYPE = "eks:index:Cluster"
MODELLED_INPUTS = frozenset(
    {
        "authenticationMode", "clusterTags", "corednsAddonOptions", "createOidcProvider", "deletionProtection",
        "enabledClusterLogTypes", "encryptionConfigKeyArn", "endpointPrivateAccess", "endpointPublicAccess", "kubeProxyAddonOptions",
        "name", "privateSubnetIds", "publicAccessCidrs", "serviceRole", "skipDefaultNodeGroup", "skipDefaultSecurityGroups", "tags",
        "upgradePolicy", "version", "vpcCniOptions", "vpcId",
    }
)  # fmt: skip
_CNI_ENVIRONMENT = {
    "AWS_VPC_ENI_MTU": "9001",
    "AWS_VPC_K8S_CNI_CUSTOM_NETWORK_CFG": "false",
    "AWS_VPC_K8S_CNI_EXTERNALSNAT": "false",
    "AWS_VPC_K8S_CNI_LOGLEVEL": "DEBUG",
    "AWS_VPC_K8S_CNI_LOG_FILE": "/host/var/log/aws-routed-eni/ipamd.log",
    "AWS_VPC_K8S_CNI_VETHPREFIX": "eni",
    "AWS_VPC_K8S_PLUGIN_LOG_FILE": "/var/log/aws-routed-eni/plugin.log",
    "AWS_VPC_K8S_PLUGIN_LOG_LEVEL": "DEBUG",
    "ENABLE_POD_ENI": "false",
    "WARM_ENI_TARGET": "1",
}

Register = Callable[..., Registration]
"""Registers a child: (type, name, parent, inputs, dependencies, providers, custom, options) by keyword."""


@dataclass(frozen=True)
class Expansion:
    """Outputs of the component, and which resources each one comes from."""

    outputs: dict[str, Any]
    output_dependencies: dict[str, list[str]]


def expand(component: Registration, register: Register, property_dependencies: Mapping[str, frozenset[str]]) -> Expansion:
    """Register the component's children as the real component does, and give its outputs.

    Raises NotMeasured for arguments outside `MODELLED_INPUTS` or variants that add other children.
    """
    inputs = component.inputs
    _refuse_unmeasured(inputs)
    name = component.name
    # A component is passed a provider of each package, and a child takes the one of its own.
    aws = frozenset(urn for urn in component.providers if urn.split("::")[2].endswith("pulumi:providers:aws"))
    role = _reference(inputs["serviceRole"])
    subnets = property_dependencies.get("privateSubnetIds", frozenset())
    key = property_dependencies.get("encryptionConfigKeyArn", frozenset())

    cluster = register(
        type="aws:eks/cluster:Cluster",
        name=f"{name}-eksCluster",
        parent=component.urn,
        inputs=_cluster_inputs(name, inputs, role["roleArn"]),
        dependencies=frozenset({role["urn"], *subnets, *key}),
        providers=aws,
        options={"ignoreChanges": ["accessConfig.bootstrapClusterCreatorAdminPermissions", "bootstrapSelfManagedAddons"]},
    )
    on_cluster = frozenset({cluster.urn})
    cluster_name = inputs["name"]
    kubernetes = register(
        type="pulumi:providers:kubernetes",
        name=f"{name}-eks-k8s",
        parent=component.urn,
        inputs={"kubeconfig": _kubeconfig(cluster)},
        dependencies=on_cluster,
    )
    register(
        type="aws:eks/addon:Addon",
        name=f"{name}-kube-proxy",
        parent=component.urn,
        inputs=_addon_inputs(cluster_name, "kube-proxy", inputs.get("kubeProxyAddonOptions", {}).get("version")),
        dependencies=on_cluster,
        providers=aws,
    )
    cni_options = inputs.get("vpcCniOptions", {})
    cni = register(
        type="eks:index:VpcCniAddon",
        name=f"{name}-vpc-cni",
        parent=component.urn,
        inputs={},
        dependencies=frozenset(),
        providers=frozenset({kubernetes.urn}),
        custom=False,
    )
    cni_inputs = _addon_inputs(cluster_name, "vpc-cni", cni_options.get("addonVersion"))
    environment = {**_CNI_ENVIRONMENT, **({"AWS_VPC_K8S_CNI_LOGLEVEL": cni_options["logLevel"]} if "logLevel" in cni_options else {})}
    cni_inputs["configurationValues"] = json.dumps(
        {"env": environment, "init": {"env": {"DISABLE_TCP_EARLY_DEMUX": "false"}}}, separators=(",", ":"), sort_keys=True
    )
    register(type="aws:eks/addon:Addon", name=f"{name}-vpc-cni", parent=cni.urn, inputs=cni_inputs, dependencies=on_cluster, providers=aws)
    return _outputs(cluster)


def _refuse_unmeasured(inputs: Mapping[str, Any]) -> None:
    unknown = sorted(set(inputs) - MODELLED_INPUTS)
    if unknown:
        raise NotMeasured(f"pulumi_eks.Cluster arguments that are not modelled: {', '.join(unknown)}")
    expected = {
        "authenticationMode": "API",
        "createOidcProvider": False,
        "skipDefaultNodeGroup": True,
        "skipDefaultSecurityGroups": True,
    }
    for key, value in expected.items():
        if inputs.get(key) != value:
            raise NotMeasured(f"pulumi_eks.Cluster was measured with {key}={value!r} only, not {inputs.get(key)!r}")
    if inputs.get("corednsAddonOptions", {}).get("enabled") is not False:
        raise NotMeasured("pulumi_eks.Cluster was measured without its coredns only: set enabled=False")
    # The SDK itself always sends both ways of resolving conflicts, OVERWRITE.
    known = {"addonVersion", "logLevel", "version", "enabled", "resolveConflictsOnCreate", "resolveConflictsOnUpdate"}
    for key in ("vpcCniOptions", "kubeProxyAddonOptions", "corednsAddonOptions"):
        beyond = sorted(set(inputs.get(key, {})) - known)
        if beyond:
            raise NotMeasured(f"pulumi_eks.Cluster {key} whose effect was not measured: {', '.join(beyond)}")


def _cluster_inputs(name: str, inputs: Mapping[str, Any], role_arn: str) -> dict[str, Any]:
    vpc_config = {
        "subnetIds": inputs["privateSubnetIds"],
        "endpointPrivateAccess": inputs.get("endpointPrivateAccess"),
        "endpointPublicAccess": inputs.get("endpointPublicAccess"),
        "publicAccessCidrs": inputs.get("publicAccessCidrs"),
    }
    made: dict[str, Any] = {
        "accessConfig": {"authenticationMode": "API", "bootstrapClusterCreatorAdminPermissions": True},
        "bootstrapSelfManagedAddons": True,
        "deletionProtection": inputs.get("deletionProtection"),
        "enabledClusterLogTypes": inputs.get("enabledClusterLogTypes"),
        "name": inputs["name"],
        "roleArn": role_arn,
        "tags": {"Name": f"{name}-eksCluster", **inputs.get("clusterTags", {}), **inputs.get("tags", {})},
        "upgradePolicy": inputs.get("upgradePolicy"),
        "version": inputs.get("version"),
        "vpcConfig": {key: value for key, value in vpc_config.items() if value is not None},
    }
    if "encryptionConfigKeyArn" in inputs:
        made["encryptionConfig"] = {"provider": {"keyArn": inputs["encryptionConfigKeyArn"]}, "resources": ["secrets"]}
    return {key: value for key, value in made.items() if value is not None}


def _addon_inputs(cluster_name: str, addon: str, version: str | None) -> dict[str, Any]:
    if version is None:
        raise NotMeasured(f"pulumi_eks.Cluster without a pinned {addon} asks AWS for the newest build at each run")
    return {
        "addonName": addon,
        "addonVersion": version,
        "clusterName": cluster_name,
        "preserve": True,
        "resolveConflictsOnCreate": "OVERWRITE",
        "resolveConflictsOnUpdate": "OVERWRITE",
    }


def _reference(value: Mapping[str, Any]) -> dict[str, str]:
    if value.get(SIGNATURE) != RESOURCE_REFERENCE:
        raise NotMeasured("pulumi_eks.Cluster serviceRole takes a Role resource")
    return {"urn": value["urn"], "roleArn": value["roleArn"]}


def _kubeconfig(cluster: Registration) -> str:
    return json.dumps({"cluster": cluster.inputs["name"], "server": cluster.outputs.get("endpoint")})


def _outputs(cluster: Registration) -> Expansion:
    reference = {SIGNATURE: RESOURCE_REFERENCE, "urn": cluster.urn, "id": cluster.id, "packageVersion": ""}
    outputs: dict[str, Any] = {"eksCluster": reference, "instanceRoles": [], "clusterIngressRuleId": "", "oidcProviderArn": ""}
    if cluster.id:  # unknown in a preview
        group = cluster.outputs["vpcConfig"]["clusterSecurityGroupId"]
        outputs |= {"clusterSecurityGroupId": group, "nodeSecurityGroupId": group, "kubeconfigJson": _kubeconfig(cluster)}
    return Expansion(outputs, {key: [cluster.urn] for key in outputs})
