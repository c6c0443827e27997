"""Live list prices, from the Pricing API."""

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from components.hardware.prices import HOURS_PER_MONTH
from operations.aws.api import Api, Call

GET_PRODUCTS = Call("pricing", "GetProducts")


@dataclass(frozen=True)
class LivePrice:
    """A price as the API gives it."""

    usd_per_hour: float
    """Of one unit: an instance, a gateway, a GiB; monthly prices are spread over 730 hours."""
    source: str


@dataclass(frozen=True)
class Query:
    """Which product is meant: service, filters, and the end of its usage type."""

    service: str
    filters: tuple[tuple[str, str], ...]
    usage_type: str


# Usage types as they stand on bills, each with a prefix for the region. NAT gateway and control plane: infracost/infracost
# internal/resources/aws; the others as public bills and readers of the price list have them (2024-2026), never asked by us.
_QUERIES: Mapping[str, Query] = {
    "control plane, standard support": Query("AmazonEKS", (), "AmazonEKS-Hours:perCluster"),
    "NAT gateway": Query("AmazonEC2", (("productFamily", "NAT Gateway"),), "NatGateway-Hours"),
    "public IPv4 address": Query("AmazonVPC", (), "PublicIPv4:InUseAddress"),
    "interface endpoint": Query("AmazonVPC", (), "VpcEndpoint-Hours"),
    "gp3 volume": Query("AmazonEC2", (("volumeApiName", "gp3"),), "EBS:VolumeUsage.gp3"),
}
_INSTANCE = (
    ("operatingSystem", "Linux"), ("tenancy", "Shared"), ("preInstalledSw", "NA"), ("capacitystatus", "Used"), ("marketoption", "OnDemand"),
)  # fmt: skip


def live_prices(api: Api, names: Iterable[str]) -> Iterator[tuple[str, LivePrice | None]]:
    """Each name with its live price; None where the API has none, or more than one, or the name has no query here.

    Names are entries of the price table, or instance types.
    """
    for name in names:
        query = _QUERIES.get(name)
        if query is None and "." in name:
            query = Query("AmazonEC2", (("instanceType", name), *_INSTANCE), f"BoxUsage:{name}")
        found = _prices(api, query) if query else set()
        yield name, next(iter(found)) if len(found) == 1 else None


def _prices(api: Api, query: Query) -> set[LivePrice]:
    filters = [{"Type": "TERM_MATCH", "Field": key, "Value": value} for key, value in (("regionCode", api.region), *query.filters)]
    products = (json.loads(text) for text in api.pages(GET_PRODUCTS, "PriceList", ServiceCode=query.service, Filters=filters))
    return {price for product in products if _is_meant(product, query.usage_type) for price in _on_demand(product)}


def _is_meant(product: Mapping[str, Any], usage_type: str) -> bool:
    """Usage types carry a prefix for the region, `USW2-`, and in us-east-1 none."""
    full = product["product"]["attributes"].get("usagetype", "")
    return full == usage_type or full.endswith(f"-{usage_type}")


def _on_demand(product: Mapping[str, Any]) -> Iterator[LivePrice]:
    for term in product.get("terms", {}).get("OnDemand", {}).values():
        for dimension in term["priceDimensions"].values():
            # The first tier only: none of the items here is used so much that the second begins.
            usd = float(dimension["pricePerUnit"].get("USD", 0))
            if usd and dimension.get("beginRange", "0") == "0":
                monthly = "mo" in dimension.get("unit", "").lower()
                yield LivePrice(usd / HOURS_PER_MONTH if monthly else usd, f"Pricing API, effective {term.get('effectiveDate', '')[:10]}")
