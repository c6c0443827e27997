"""Live list prices, from the Pricing API."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from facts.prices import HOURS_PER_MONTH, PRICES
from trn.aws.api import Api, Call

GET_PRODUCTS = Call("pricing", "GetProducts")


@dataclass(frozen=True)
class LivePrice:
    """A price as the API gives it."""

    usd_per_hour: float
    """Of one unit: an instance, a gateway, a GiB; monthly prices are spread over 730 hours."""
    source: str


@dataclass(frozen=True)
class Query:
    """Which product is meant: service, filters, and the end of its usage type; any usage type where the filters say enough."""

    service: str
    filters: tuple[tuple[str, str], ...]
    usage_type: str = ""


def _lustre(throughput: str) -> tuple[Query, ...]:
    # PERSISTENT_2 alone is sold with these throughputs; those of PERSISTENT_1 are 12, 40, 50, 100 and 200 (FSx for Lustre user guide).
    kind = (("fileSystemType", "Lustre"), ("storageType", "SSD"), ("throughputCapacity", throughput))
    return (Query("AmazonFSx", (("productFamily", "Storage"), *kind)),)


_STANDARD = Query("AmazonEKS", (), "AmazonEKS-Hours:perCluster")
# Usage types as they stand on bills, each with a prefix for the region, never asked by us. NAT gateway, control plane and key:
# infracost/infracost internal/resources/aws; Lustre's attributes: cycloidio/terracost aws/terraform/fsx_filesystem_test.go; the
# surcharge of extended support, which comes on top of the standard price, and the others: public bills and readers of the price
# list (2024-2026).
_QUERIES: Mapping[str, tuple[Query, ...]] = {
    "control plane, standard support": (_STANDARD,),
    "control plane, extended support": (_STANDARD, Query("AmazonEKS", (), "AmazonEKS-Hours:extendedSupport")),
    "NAT gateway": (Query("AmazonEC2", (("productFamily", "NAT Gateway"),), "NatGateway-Hours"),),
    "public IPv4 address": (Query("AmazonVPC", (), "PublicIPv4:InUseAddress"),),
    "interface endpoint": (Query("AmazonVPC", (), "VpcEndpoint-Hours"),),
    "gp3 volume": (Query("AmazonEC2", (("volumeApiName", "gp3"),), "EBS:VolumeUsage.gp3"),),
    "KMS key": (Query("awskms", (("productFamily", "Encryption Key"),), "KMS-Keys"),),
    **{f"Lustre {throughput}": _lustre(throughput) for throughput in ("125", "250", "500", "1000")},
}
"""The products whose prices add up to that of an entry of the price table."""
_INSTANCE = (
    ("operatingSystem", "Linux"), ("tenancy", "Shared"), ("preInstalledSw", "NA"), ("capacitystatus", "Used"), ("marketoption", "OnDemand"),
)  # fmt: skip


def live_prices(api: Api, names: Iterable[str]) -> Iterator[tuple[str, LivePrice | None]]:
    """Each name with its live price; None where the API has none, or more than one, or the name has no query here.

    Names are entries of the price table, or instance types.
    """
    for name in names:
        queries = _QUERIES.get(name, ())
        if not queries and name not in PRICES:
            queries = (Query("AmazonEC2", (("instanceType", name), *_INSTANCE), f"BoxUsage:{name}"),)
        # The table knows what is sold by the month; the API spells that in more ways than one, and a key's not at all.
        hours = HOURS_PER_MONTH if name in PRICES and "month" in PRICES[name].unit else 1
        yield name, _added([_prices(api, query) for query in queries], hours)


def _added(found: Sequence[set[tuple[float, str]]], hours: int) -> LivePrice | None:
    """The sum of one price of each query; None where one has none, or several."""
    if not found or any(len(prices) != 1 for prices in found):
        return None
    parts = [next(iter(prices)) for prices in found]
    return LivePrice(sum(usd for usd, _ in parts) / hours, f"Pricing API, effective {min(since for _, since in parts)}")


def _prices(api: Api, query: Query) -> set[tuple[float, str]]:
    filters = [{"Type": "TERM_MATCH", "Field": key, "Value": value} for key, value in (("regionCode", api.region), *query.filters)]
    products = (json.loads(text) for text in api.pages(GET_PRODUCTS, "PriceList", ServiceCode=query.service, Filters=filters))
    return {price for product in products if _is_meant(product, query.usage_type) for price in _on_demand(product)}


def _is_meant(product: Mapping[str, Any], usage_type: str) -> bool:
    """Usage types carry a prefix for the region, `USW2-`, and in us-east-1 none."""
    full = product["product"]["attributes"].get("usagetype", "")
    return not usage_type or full == usage_type or full.endswith(f"-{usage_type}")


def _on_demand(product: Mapping[str, Any]) -> Iterator[tuple[float, str]]:
    """USD of a unit, and since when."""
    for term in product.get("terms", {}).get("OnDemand", {}).values():
        for dimension in term["priceDimensions"].values():
            # The first tier only: none of the items here is used so much that the second begins.
            usd = float(dimension["pricePerUnit"].get("USD", 0))
            if usd and dimension.get("beginRange", "0") == "0":
                yield usd, term.get("effectiveDate", "")[:10]
