"""EFA interface layouts: golden table for every type and layout, and the rules that hold for all."""

from pathlib import Path

import pytest

from facts.catalogue import NEURON_TYPES, InstanceType
from facts.efa import LAYOUTS, EfaLayout, addresses_per_node, plan_interfaces, pod_capacity

GOLDEN = Path(__file__).parent / "efa_layouts.txt"
EFA_TYPES = [instance for instance in NEURON_TYPES.values() if instance.has_efa]
CASES = [pytest.param(instance, layout, id=f"{instance.name}-{layout}") for instance in EFA_TYPES for layout in LAYOUTS]


def rendered() -> str:
    """The golden table: a line per type and layout, interfaces as card.device=kind."""
    lines = []
    for instance in EFA_TYPES:
        for layout in LAYOUTS:
            interfaces = " ".join(f"{item.card}.{item.device}={item.kind}" for item in plan_interfaces(instance, layout))
            lines.append(f"{instance.name} {layout}: {interfaces}")
    return "\n".join(lines) + "\n"


def test_layouts_of_every_type_are_those_of_the_golden_table():
    """A launch template's interfaces cannot be tried without an instance at 21 USD an hour: any change must be seen."""
    assert rendered() == GOLDEN.read_text()


@pytest.mark.parametrize(("instance", "layout"), CASES)
def test_there_is_one_efa_interface_on_every_card(instance: InstanceType, layout: EfaLayout):
    """EC2 takes at most one per card, and a card without one carries no collective traffic."""
    cards = sorted(item.card for item in plan_interfaces(instance, layout) if item.kind != "interface")
    assert cards == list(range(instance.efa_count))


@pytest.mark.parametrize(("instance", "layout"), CASES)
def test_the_primary_is_card_0_device_0_and_carries_an_address(instance: InstanceType, layout: EfaLayout):
    """EC2 refuses another primary, and an `efa-only` one has no IP to join the cluster with."""
    primary = plan_interfaces(instance, layout)[0]
    assert (primary.card, primary.device) == (0, 0)
    assert primary.kind != "efa-only"


@pytest.mark.parametrize(("instance", "layout"), CASES)
def test_indexes_stay_within_the_type_and_none_is_used_twice(instance: InstanceType, layout: EfaLayout):
    """RunInstances refuses a card or device index beyond the type's limits."""
    interfaces = plan_interfaces(instance, layout)
    assert len({(item.card, item.device) for item in interfaces}) == len(interfaces)
    assert max(item.card for item in interfaces) < instance.network_card_count
    assert max(item.device for item in interfaces) < instance.interfaces_per_card


def test_a_type_without_efa_has_no_layout():
    """A group that lists EFA interfaces on trn1.2xlarge would fail at its first instance."""
    with pytest.raises(ValueError, match=r"trn1\.2xlarge has no EFA"):
        plan_interfaces(NEURON_TYPES["trn1.2xlarge"], "efa-primary")


def test_an_ena_primary_on_trainium2_halves_the_pods():
    """Both slots of card 0 are taken, so the CNI can attach no second interface while kubelet believes 100 pods."""
    instance = NEURON_TYPES["trn2.48xlarge"]
    assert pod_capacity(instance, plan_interfaces(instance, "efa-primary")) == 100
    assert pod_capacity(instance, plan_interfaces(instance, "ena-primary")) == 51


def test_plain_efa_on_every_card_can_take_addresses_on_every_card():
    """The layout of Neuron's own samples can empty a subnet that `efa-only` leaves alone."""
    instance = NEURON_TYPES["trn1.32xlarge"]
    sparing = addresses_per_node(instance, plan_interfaces(instance, "efa-primary"))
    assert addresses_per_node(instance, plan_interfaces(instance, "all-efa")) == sparing + 7 * instance.ipv4_per_interface
