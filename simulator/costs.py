"""What a recorded cluster costs by the hour, item by item: now, at full size, and idle (`simulator.cost_figures`).

Nothing that bills by use is in it: data through NAT gateways, log ingestion, requests.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from facts.catalogue import NEURON_TYPES, SOURCES, InstanceType, instance_type
from facts.prices import PRICES, hourly
from facts.resources.ec2_compute import LAUNCH_TEMPLATE
from facts.resources.eks_nodes import NODE_GROUP
from facts.resources.kubernetes import NODE_CLASS, NODE_POOL
from facts.resources.resource_type import ByInstances, Listed
from facts.resources.scheduler import SCHEDULE
from facts.resources.table import TYPES
from simulator.cost_figures import Amount, Figures, figure
from simulator.recording import Indexed, Recording, Registration
from simulator.size_schedules import sizing_of

_SIZES = frozenset({"scalingConfig", "scalingConfig.desiredSize"})


@dataclass(frozen=True)
class CostItem:
    """One line of the bill."""

    urn: str
    name: str
    quantity: float
    """Now."""
    now: Amount
    full_size: Amount
    idle: Amount
    verified: bool
    """False where the price was not found on a page."""
    price: str = ""
    """What sets it: an entry of `PRICES`, or an instance type."""

    @property
    def what(self) -> str:
        """As users read it: what there is now, or what there may be."""
        return self.now.what if self.now.usd_per_hour != 0 else self.full_size.what

    @property
    def source(self) -> str:
        """Where its price was read, and when; empty where no price sets it."""
        return PRICES[self.price].source if self.price in PRICES else SOURCES["price_usd_per_hour"] if self.price else ""

    @property
    def is_nothing(self) -> bool:
        """Whether it costs nothing in any situation."""
        return all(amount.usd_per_hour == 0 for amount in (self.now, self.full_size, self.idle))


def items(recording: Recording) -> list[CostItem]:
    """All lines that cost something in one situation or another, highest price first."""
    recording = Indexed(recording)
    found = [item for registration in recording.resources() for item in _lines(recording, registration) if not item.is_nothing]
    return sorted(found, key=lambda item: (-(item.now.usd_per_hour or 0), -(item.full_size.usd_per_hour or 0), item.urn, item.what))


def figures(lines: Sequence[CostItem]) -> Figures:
    """The three sums."""
    return Figures(
        now=figure(line.now for line in lines),
        full_size=figure(line.full_size for line in lines),
        idle=figure(line.idle for line in lines),
    )


def _lines(recording: Recording, registration: Registration) -> Iterator[CostItem]:
    costs = TYPES[registration.type].costs if registration.type in TYPES else None
    if isinstance(costs, ByInstances):
        yield from _BY_INSTANCES[registration.type](recording, registration)
    if not isinstance(costs, Listed):
        return
    inputs, quantity = registration.inputs, costs.quantity(registration.inputs)
    if quantity:
        price = costs.price if isinstance(costs.price, str) else costs.price(inputs)
        what = costs.what.format(**inputs, quantity=quantity)
        amount = Amount(what, round(hourly(price) * quantity, 6))
        yield CostItem(registration.urn, registration.name, quantity, amount, amount, amount, PRICES[price].verified, price)


class _Counts(NamedTuple):
    """Instances of one type in each situation."""

    now: int
    full_size: int
    idle: int


@dataclass(frozen=True)
class _Bought:
    """How instances are bought."""

    usd_per_hour: float | None
    """Price of one; None where none is known."""
    words: str
    """For the reader."""


def _nodes(
    registration: Registration, instance: InstanceType, bought: _Bought, paid: _Counts, running: _Counts, root_volume_gib: int
) -> Iterator[CostItem]:
    """The instances and their root volumes. Instances that are reserved are paid for without running; volumes are not."""
    yield _line(registration, paid, f"{{}} x {instance.name}{bought.words}", bought.usd_per_hour, instance.name)
    volume = hourly("gp3 volume") * root_volume_gib
    yield _line(registration, running, f"{{}} root volumes of {root_volume_gib} GiB", volume, "gp3 volume")


def _line(registration: Registration, counts: _Counts, what: str, price: float | None, name: str) -> CostItem:
    now, full_size, idle = (
        Amount(what.format(count), 0.0 if count == 0 else None if price is None else round(price * count, 6)) for count in counts
    )
    return CostItem(registration.urn, registration.name, counts.now, now, full_size, idle, price is not None, name)


def _node_group(recording: Recording, registration: Registration) -> Iterator[CostItem]:
    scaling, template = registration.inputs["scalingConfig"], _template_of(recording, registration)
    types = registration.inputs.get("instanceTypes") or [template.inputs["instanceType"]]
    instance, bought = instance_type(types[0]), registration.inputs.get("capacityType")
    now = scaling["desiredSize"]
    # An autoscaler, or schedules, size the groups whose desired size the program leaves alone.
    left_alone = not _SIZES.isdisjoint(registration.options.get("ignoreChanges") or ())
    scheduled = _scheduled_size(recording, registration)
    full = max(now, scheduled if scheduled is not None else scaling["maxSize"]) if left_alone else now
    idle = 0 if instance.name in NEURON_TYPES else now
    reserved = bool(template.inputs.get("capacityReservationSpecification")) or bought == "CAPACITY_BLOCK"
    gib = sum(mapping["ebs"]["volumeSize"] for mapping in template.inputs["blockDeviceMappings"])
    # A reservation bills its instances at the on-demand rate, used or not (EC2 user guide, Capacity Reservation pricing and billing).
    # A block is paid for all its time, also while its group has no node.
    held = max(now, scheduled or 0) if bought == "CAPACITY_BLOCK" else now
    paid = _Counts(held, full, held if reserved else idle)
    how = _bought(instance, from_block=bought == "CAPACITY_BLOCK", spot=bought == "SPOT")
    yield from _nodes(registration, instance, how, paid, _Counts(now, full, idle), gib)


def _scheduled_size(recording: Recording, group: Registration) -> int | None:
    """The largest size that a schedule gives to a group; None for a group without schedules."""
    return recording.once("scheduled sizes", lambda: _largest_sizes(recording)).get(
        (group.inputs["clusterName"], group.inputs["nodeGroupName"])
    )


def _largest_sizes(recording: Recording) -> dict[tuple[str, str], int]:
    """The largest size that schedules give, by cluster and group."""
    found: dict[tuple[str, str], int] = {}
    for asked in map(sizing_of, recording.of_type(SCHEDULE.token)):
        if asked is not None:
            which = (asked.cluster, asked.group)
            found[which] = max(asked.size, found.get(which, 0))
    return found


def _bought(instance: InstanceType, *, from_block: bool, spot: bool, by: str = "") -> _Bought:
    if from_block:
        return _Bought(instance.block_price_usd_per_hour, f" ({by}capacity block, paid in advance)")
    # A spot price moves by the hour: none is shown rather than one that is wrong.
    return _Bought(None, f" ({by}spot)") if spot else _Bought(instance.price_usd_per_hour, f" ({by.removesuffix(', ')})" if by else "")


def _template_of(recording: Recording, registration: Registration) -> Registration:
    templates = recording.once("templates", lambda: {item.id: item for item in recording.of_type(LAUNCH_TEMPLATE.token)})
    return templates[registration.inputs["launchTemplate"]["id"]]


def _node_pool(recording: Recording, registration: Registration) -> Iterator[CostItem]:
    """Nodes that Karpenter makes: a static pool keeps its number, a dynamic one has none until pods ask, and may grow to its limit."""
    spec = registration.inputs["spec"]
    wanted = {item["key"]: item["values"] for item in spec["template"]["spec"]["requirements"]}
    if "node.kubernetes.io/instance-type" not in wanted:
        yield _general_pool(registration)
        return
    instance, kind = instance_type(wanted["node.kubernetes.io/instance-type"][0]), wanted["karpenter.sh/capacity-type"][0]
    from_block = "karpenter.k8s.aws/capacity-reservation-type" in wanted
    most, kept = int(spec["limits"]["nodes"]), spec.get("replicas", 0)
    paid = _Counts(most, most, most) if kind == "reserved" else _Counts(kept, most, kept)
    how = _bought(instance, from_block=from_block, spot=kind == "spot", by="Karpenter, ")
    yield from _nodes(registration, instance, how, paid, _Counts(kept, most, kept), _volume_gib(recording, spec))


def _general_pool(registration: Registration) -> CostItem:
    """A pool that may take any of many types: what it may cost has no one price."""
    cpu = registration.inputs["spec"]["limits"]["cpu"]
    what = f"{cpu} vCPU of c, m and r instances (Karpenter)"
    nothing = Amount(what, 0.0)
    return CostItem(registration.urn, registration.name, 0, nothing, Amount(f"up to {what}", None), nothing, False)


def _volume_gib(recording: Recording, spec: Mapping[str, Any]) -> int:
    """Size of the root volume that the pool's node class gives."""
    name = spec["template"]["spec"]["nodeClassRef"]["name"]
    classes = [item for item in recording.of_type(NODE_CLASS.token) if item.inputs["metadata"]["name"] == name]
    return sum(
        int(mapping["ebs"]["volumeSize"].removesuffix("Gi")) for item in classes for mapping in item.inputs["spec"]["blockDeviceMappings"]
    )


_BY_INSTANCES: Mapping[str, Callable[[Recording, Registration], Iterator[CostItem]]] = {
    NODE_GROUP.token: _node_group,
    NODE_POOL.token: _node_pool,
}
