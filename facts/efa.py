"""Which network interfaces a launch template lists, for each way of laying out EFA.

Rules that hold for all layouts (EC2 user guide, EFA; EC2 API, RunInstances): at most one EFA interface per card,
the primary interface is card 0 device 0 and never `efa-only`, device indexes stay below the card's interface count.
"""

from dataclasses import dataclass
from typing import Literal, get_args

from facts.catalogue import InstanceType

InterfaceKind = Literal["interface", "efa", "efa-only"]
EfaLayout = Literal["efa-primary", "all-efa", "ena-primary"]
LAYOUTS: tuple[EfaLayout, ...] = get_args(EfaLayout)


@dataclass(frozen=True)
class NetworkInterface:
    """One interface of a launch template, in EC2's own terms."""

    card: int
    """NetworkCardIndex."""
    device: int
    """DeviceIndex, counted per card."""
    kind: InterfaceKind
    """InterfaceType as EC2 spells it. `efa-only` carries no IP address."""


def plan_interfaces(instance: InstanceType, layout: EfaLayout) -> tuple[NetworkInterface, ...]:
    """The interfaces of an EFA group, one EFA per card, card 0 first.

    Raises ValueError for a type without EFA: such a group lists no interfaces at all.
    """
    if not instance.has_efa:
        raise ValueError(f"{instance.name} has no EFA")
    cards = range(1, instance.network_card_count)
    if layout == "efa-primary":
        return _efa_primary(cards)
    if layout == "all-efa":
        return _all_efa(cards)
    return _ena_primary(cards)


def _efa_primary(cards: range) -> tuple[NetworkInterface, ...]:
    # Keeps the second slot of card 0 free for the VPC CNI: Trainium2 has two slots per card.
    return (NetworkInterface(0, 0, "efa"), *(NetworkInterface(card, 1, "efa-only") for card in cards))


def _all_efa(cards: range) -> tuple[NetworkInterface, ...]:
    # What Neuron's own samples show. The CNI then takes addresses on every card.
    return (NetworkInterface(0, 0, "efa"), *(NetworkInterface(card, 1, "efa") for card in cards))


def _ena_primary(cards: range) -> tuple[NetworkInterface, ...]:
    # AWS's guidance of 2026: EC2 user guide, "Maximize network bandwidth"; EKS user guide, device-management-efa.
    first_card = (NetworkInterface(0, 0, "interface"), NetworkInterface(0, 1, "efa-only"))
    return (*first_card, *(NetworkInterface(card, 0, "efa-only") for card in cards))


def pod_capacity(instance: InstanceType, interfaces: tuple[NetworkInterface, ...]) -> int:
    """Pods that card 0 has addresses for once `interfaces` are attached; never above the type's published limit.

    An `efa-only` interface on card 0 takes a slot the CNI would otherwise fill with addresses: on Trainium2 that halves
    the pods while kubelet still believes the published figure.
    """
    taken = sum(1 for interface in interfaces if interface.card == 0 and interface.kind == "efa-only")
    serving = instance.interfaces_per_card - taken
    # One address of each interface is the interface's own; two pods (aws-node, kube-proxy) use the host network.
    return min(instance.max_pods, serving * (instance.ipv4_per_interface - 1) + 2)


def addresses_per_node(instance: InstanceType, interfaces: tuple[NetworkInterface, ...]) -> int:
    """IPv4 addresses of the subnet that one node can come to hold, in the worst case."""
    serving_on_card_0 = instance.interfaces_per_card - sum(1 for item in interfaces if item.card == 0 and item.kind == "efa-only")
    elsewhere = sum(1 for item in interfaces if item.card > 0 and item.kind != "efa-only")
    return (serving_on_card_0 + elsewhere) * instance.ipv4_per_interface
