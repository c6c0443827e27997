"""What a recorded cluster costs by the hour, item by item, running and idle.

Idle means: Neuron groups scaled to zero, everything else left as it is. Nothing that bills by use is in it: data through
NAT gateways, log ingestion, requests.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from facts.catalogue import NEURON_TYPES, instance_type
from facts.prices import PRICES, hourly
from facts.resources.eks import NODE_GROUP
from facts.resources.kubernetes import NODE_POOL
from facts.resources.resource_type import ByInstances, Listed
from facts.resources.table import TYPES
from simulator.recording import Recording, Registration


@dataclass(frozen=True)
class CostItem:
    """One line of the bill."""

    urn: str
    name: str
    what: str
    quantity: float
    usd_per_hour: float | None
    """None where no list price exists."""
    idle_usd_per_hour: float | None
    verified: bool
    """False where the price was not found on a page."""
    price: str = ""
    """What sets it: an entry of `PRICES`, or an instance type."""


def items(recording: Recording) -> list[CostItem]:
    """All lines, highest price first."""
    found = [item for registration in recording.resources() for item in _lines(recording, registration)]
    return sorted(found, key=lambda item: (-(item.usd_per_hour or 0), item.urn, item.what))


def total(lines: list[CostItem], *, idle: bool) -> float:
    """USD per hour of all lines that have a price, to a tenth of a cent."""
    return round(sum((line.idle_usd_per_hour if idle else line.usd_per_hour) or 0 for line in lines), 4)


def _lines(recording: Recording, registration: Registration) -> Iterator[CostItem]:
    costs = TYPES[registration.type].costs if registration.type in TYPES else None
    if isinstance(costs, ByInstances):
        yield from _BY_INSTANCES[registration.type](recording, registration)
    if not isinstance(costs, Listed):
        return
    inputs, quantity = registration.inputs, costs.quantity(registration.inputs)
    if quantity:
        price = costs.price if isinstance(costs.price, str) else costs.price(inputs)
        yield _listed(registration, price, quantity, costs.what.format(**inputs, quantity=quantity))


def _listed(registration: Registration, price: str, quantity: float, what: str) -> CostItem:
    usd = round(hourly(price) * quantity, 6)
    return CostItem(registration.urn, registration.name, what, quantity, usd, usd, PRICES[price].verified, price)


def _node_group(recording: Recording, registration: Registration) -> Iterator[CostItem]:
    count = registration.inputs["scalingConfig"]["desiredSize"]
    template = _template_of(recording, registration)
    types = registration.inputs.get("instanceTypes") or [template.inputs["instanceType"]]
    instance = instance_type(types[0])
    stays = instance.name not in NEURON_TYPES
    from_block = registration.inputs.get("capacityType") == "CAPACITY_BLOCK"
    spot = registration.inputs.get("capacityType") == "SPOT"
    # A spot price moves by the hour: none is shown rather than one that is wrong.
    price = None if spot else instance.block_price_usd_per_hour if from_block else instance.price_usd_per_hour
    usd = 0.0 if count == 0 else None if price is None else round(price * count, 6)
    kind = " (capacity block, paid in advance)" if from_block else " (spot)" if spot else ""
    what = f"{count} x {instance.name}{kind}"
    idle = usd if stays or from_block else 0.0
    yield CostItem(registration.urn, registration.name, what, count, usd, idle, usd is not None, instance.name)
    gib = sum(mapping["ebs"]["volumeSize"] for mapping in template.inputs["blockDeviceMappings"])
    volumes = round(hourly("gp3 volume") * gib * count, 6)
    if count:
        what = f"{count} root volumes of {gib} GiB"
        yield CostItem(registration.urn, registration.name, what, count, volumes, volumes if stays else 0.0, True, "gp3 volume")


def _template_of(recording: Recording, registration: Registration) -> Registration:
    template_id = registration.inputs["launchTemplate"]["id"]
    return next(item for item in recording.of_type("aws:ec2/launchTemplate:LaunchTemplate") if item.id == template_id)


def _node_pool(recording: Recording, registration: Registration) -> Iterator[CostItem]:
    """Nodes that a static pool of Karpenter keeps; a dynamic one costs by use."""
    count = registration.inputs["spec"].get("replicas", 0)
    if not count:
        return
    wanted = {item["key"]: item["values"][0] for item in registration.inputs["spec"]["template"]["spec"]["requirements"]}
    instance = instance_type(wanted["node.kubernetes.io/instance-type"])
    price = instance.price_usd_per_hour if wanted["karpenter.sh/capacity-type"] == "on-demand" else None
    usd = None if price is None else round(price * count, 6)
    yield CostItem(registration.urn, registration.name, f"{count} x {instance.name} (Karpenter)", count, usd, usd, usd is not None)


_BY_INSTANCES: Mapping[str, Callable[[Recording, Registration], Iterator[CostItem]]] = {
    NODE_GROUP.token: _node_group,
    NODE_POOL.token: _node_pool,
}
