"""What a stack bills by the hour without any Neuron node, from its settings alone: the idle guard's message lists it."""

from collections.abc import Iterator

from facts.catalogue import CORE_TYPES
from facts.prices import hourly
from stacks.settings import Settings


def idle_bill(settings: Settings) -> tuple[tuple[str, float], ...]:
    """Items with USD an hour at list prices, highest first. Capacity that is reserved or paid in advance is left out."""
    found = [(what, round(usd, 4)) for what, usd in _items(settings) if usd]
    return tuple(sorted(found, key=lambda item: (-item[1], item[0])))


def _items(settings: Settings) -> Iterator[tuple[str, float]]:
    plane, core, lustre = settings.control_plane, settings.core_nodes, settings.storage.lustre
    support = "standard" if plane.support_type == "STANDARD" else "extended"
    yield "EKS control plane", hourly(f"control plane, {support} support")
    price = CORE_TYPES[core.instance_type].price_usd_per_hour
    yield f"{core.desired_size} core nodes {core.instance_type}", (price or 0) * core.desired_size
    yield f"{core.desired_size} root volumes of {core.root_volume_gib} GiB", hourly("gp3 volume") * core.root_volume_gib * core.desired_size
    if lustre.is_own:
        usd = hourly(f"Lustre {lustre.throughput_mbps_per_tib}") * lustre.capacity_gib
        yield f"FSx for Lustre, {lustre.capacity_gib} GiB", usd
    if plane.encryption_key_arn is None:
        yield "KMS key", hourly("KMS key")
    if settings.network.existing is None:
        yield from _network_items(settings)


def _network_items(settings: Settings) -> Iterator[tuple[str, float]]:
    network = settings.network
    gateways = {"none": 0, "single": 1, "per-zone": len(network.zones)}[network.nat]
    yield f"NAT gateways: {gateways}", hourly("NAT gateway") * gateways
    yield f"public addresses: {gateways}", hourly("public IPv4 address") * gateways
    endpoints, zones = len(network.interface_endpoints), len(network.zones)
    yield f"interface endpoints: {endpoints} in {zones} zones", hourly("interface endpoint") * endpoints * zones
