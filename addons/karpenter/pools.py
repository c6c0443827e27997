"""EC2NodeClass and NodePool specs, as plain data. Source: CRDs of Karpenter 1.14.1."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pulumi

from addons.images import Values
from addons.karpenter import KarpenterGeneralPool, KarpenterNeuronPool
from facts.catalogue import NEURON_TYPES
from facts.efa import plan_interfaces
from facts.names import EFA_LABEL, NEURON_RESOURCE, NEURON_TAINT, POOL_LABEL
from facts.node_labels import CAPACITY_TYPES

GENERAL_FAMILIES = ("c", "m", "r")


@dataclass(frozen=True)
class NodeClassArgs:
    """What all node classes of a cluster share."""

    node_role_name: str
    ami_version: str
    security_group_ids: Sequence[pulumi.Input[str]]
    tags: Mapping[str, str]


def neuron_node_class_spec(shared: NodeClassArgs, pool: KarpenterNeuronPool, subnet_id: pulumi.Input[str]) -> Values:
    """`spec` of the EC2NodeClass of a Neuron pool, in one subnet of its zone."""
    instance = NEURON_TYPES[pool.instance_type]
    spec = _node_class(shared, [subnet_id], hop_limit=1)
    if instance.has_efa:
        # Karpenter writes one layout only, a plain primary interface beside the EFA ones. Without the list it would attach
        # EFA only for pods that ask, and a node of a static pool would have none.
        interfaces = plan_interfaces(instance, "ena-primary")
        spec["networkInterfaces"] = [
            {"networkCardIndex": item.card, "deviceIndex": item.device, "interfaceType": item.kind} for item in interfaces
        ]
    if instance.instance_store_gb:
        spec["instanceStorePolicy"] = "RAID0"
    if pool.capacity_reservation_id:
        # An empty list is refused, with a text about something else.
        spec["capacityReservationSelectorTerms"] = [{"id": pool.capacity_reservation_id}]
    return spec


def neuron_node_pool_spec(name: str, pool: KarpenterNeuronPool, zone_id: str) -> Values:
    """`spec` of the NodePool: only an empty node is ever deleted while jobs train."""
    instance = NEURON_TYPES[pool.instance_type]
    labels = {POOL_LABEL: name, **({EFA_LABEL: "true"} if instance.has_efa else {})}
    requirements = [
        _is_one_of("node.kubernetes.io/instance-type", [instance.name]),
        _is_one_of("karpenter.sh/capacity-type", [CAPACITY_TYPES[pool.capacity_type]]),
        _is_one_of("topology.k8s.aws/zone-id", [zone_id]),
        _is_one_of("kubernetes.io/arch", ["amd64"]),
    ]
    if pool.capacity_type == "CAPACITY_BLOCK":
        requirements.append(_is_one_of("karpenter.k8s.aws/capacity-reservation-type", ["capacity-block"]))
    template = _template(
        name,
        requirements,
        labels=labels,
        # The default of 720 h would end a training job on the node at that age; expiry ignores budgets.
        expireAfter="Never",
        # Without it a pod that forbids disruption holds the pool's deletion for ever.
        terminationGracePeriod="30m",
        taints=[{"key": NEURON_TAINT, "value": "true", "effect": "NoSchedule"}],
    )
    if pool.static:
        # A static pool takes no other limit.
        return {
            "replicas": pool.max_nodes,
            "limits": {"nodes": str(pool.max_nodes)},
            "disruption": {"consolidateAfter": "Never", "budgets": [{"nodes": "0"}]},
            "template": template,
        }
    devices = str(pool.max_nodes * instance.chip_count)
    return {
        "limits": {"nodes": str(pool.max_nodes), NEURON_RESOURCE: devices},
        "disruption": {
            "consolidationPolicy": "WhenEmpty",
            "consolidateAfter": "30m",
            # With a grace period drift ignores a pod's own wish, so the budget must stop it.
            "budgets": [{"nodes": "0", "reasons": ["Drifted", "Underutilized"]}, {"nodes": "100%", "reasons": ["Empty"]}],
        },
        "template": template,
    }


def general_node_class_spec(shared: NodeClassArgs, subnet_ids: Sequence[pulumi.Input[str]]) -> Values:
    """`spec` of the EC2NodeClass of ordinary nodes."""
    # CSI controllers outside the host network read their region and zone from the instance metadata.
    return _node_class(shared, subnet_ids, hop_limit=2)


def general_node_pool_spec(name: str, pool: KarpenterGeneralPool) -> Values:
    """`spec` of the NodePool of ordinary nodes, which come and go with the load."""
    requirements = [
        _is_one_of("karpenter.k8s.aws/instance-category", GENERAL_FAMILIES),
        {"key": "karpenter.k8s.aws/instance-generation", "operator": "Gt", "values": ["4"]},
        _is_one_of("karpenter.sh/capacity-type", ["on-demand", "spot"] if pool.spot else ["on-demand"]),
        _is_one_of("kubernetes.io/arch", ["amd64"]),
    ]
    return {
        "limits": {"cpu": str(pool.max_vcpu)},
        "disruption": {"consolidationPolicy": "WhenEmptyOrUnderutilized", "consolidateAfter": "5m", "budgets": [{"nodes": "10%"}]},
        "template": _template(name, requirements, labels={POOL_LABEL: name}, expireAfter="720h", terminationGracePeriod="30m"),
    }


def _node_class(shared: NodeClassArgs, subnet_ids: Sequence[pulumi.Input[str]], *, hop_limit: int) -> Values:
    return {
        "role": shared.node_role_name,
        # The alias picks the Neuron image by itself on types whose accelerators EC2 lists. Never `latest`: each new release
        # would count as drift.
        "amiSelectorTerms": [{"alias": f"al2023@{shared.ami_version}"}],
        "subnetSelectorTerms": [{"id": subnet_id} for subnet_id in subnet_ids],
        "securityGroupSelectorTerms": [{"id": group_id} for group_id in shared.security_group_ids],
        "blockDeviceMappings": [
            {
                "deviceName": "/dev/xvda",
                "rootVolume": True,
                # A size is text here.
                "ebs": {"volumeType": "gp3", "volumeSize": "100Gi", "encrypted": True, "deleteOnTermination": True},
            }
        ],
        "metadataOptions": {"httpTokens": "required", "httpPutResponseHopLimit": hop_limit},
        "tags": dict(shared.tags),
    }


def _template(name: str, requirements: list[Values], *, labels: Mapping[str, str], **spec: Any) -> Values:
    reference = {"group": "karpenter.k8s.aws", "kind": "EC2NodeClass", "name": name}
    return {"metadata": {"labels": dict(labels)}, "spec": {"nodeClassRef": reference, "requirements": requirements, **spec}}


def _is_one_of(key: str, values: Sequence[str]) -> Values:
    return {"key": key, "operator": "In", "values": list(values)}
