"""What is looked at, read once."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from facts.catalogue import InstanceType, instance_type
from facts.efa import NetworkInterface, plan_interfaces
from facts.names import GROUP_LABEL
from stacks.settings import NodeGroup, Settings, uses_efa
from trn.aws.api import Api
from trn.kubernetes.client import Kubernetes, Object
from trn.kubernetes.kinds import NODES


@dataclass(frozen=True)
class Subject:
    """One cluster that is up."""

    settings: Settings
    api: Api
    kubernetes: Kubernetes

    @cached_property
    def nodes(self) -> Mapping[str, tuple[Object, ...]]:
        """Nodes by the name of their Neuron group; empty for a group without nodes."""
        found = self.kubernetes.list(NODES) or []
        return {
            group: tuple(node for node in found if node["metadata"].get("labels", {}).get(GROUP_LABEL) == group)
            for group in self.settings.node_groups
        }

    @cached_property
    def neuron_nodes(self) -> tuple[tuple[NodeGroup, Object], ...]:
        """Every Neuron node with its group."""
        return tuple((self.settings.node_groups[group], node) for group, nodes in self.nodes.items() for node in nodes)


def hardware(group: NodeGroup) -> InstanceType:
    """What one node of a group is."""
    return instance_type(group.instance_type)


def core_count(group: NodeGroup) -> int:
    """NeuronCores that one node of a group offers."""
    return hardware(group).cores_at(group.logical_core_size)


def efa_interfaces(group: NodeGroup) -> frozenset[NetworkInterface]:
    """EFA interfaces of one node of a group, each on its card and with its kind."""
    planned = plan_interfaces(hardware(group), group.efa_layout) if uses_efa(group) else ()
    return frozenset(interface for interface in planned if interface.kind != "interface")


def efa_count(group: NodeGroup) -> int:
    """EFA interfaces of one node of a group."""
    return len(efa_interfaces(group))


def instance_id(node: Object) -> str:
    """EC2's name of a node, from `aws:///us-west-2d/i-0123`."""
    return str(node["spec"]["providerID"]).rsplit("/", 1)[-1]


def name_of(item: Mapping[str, Any]) -> str:
    """An object's name."""
    return str(item["metadata"]["name"])
