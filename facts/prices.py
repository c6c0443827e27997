"""List prices of everything that bills by the hour, in USD, for us-west-2 and the regions priced like it.

Instance prices are in the catalogue. Nothing that bills by use (data processed by NAT, log ingestion, requests) is here.
"""

from dataclasses import dataclass

HOURS_PER_MONTH = 730


@dataclass(frozen=True)
class Price:
    """One price with its origin."""

    usd: float
    unit: str
    source: str
    verified: bool = True
    """False where the figure was not found on a page and must not be relied on."""


PRICES: dict[str, Price] = {
    "control plane, standard support": Price(0.10, "hour", "EKS pricing page, 2026-11"),
    "control plane, extended support": Price(0.60, "hour", "EKS pricing page, 2026-11"),
    "NAT gateway": Price(0.045, "hour", "VPC pricing text, 2026-10-04"),
    "public IPv4 address": Price(0.005, "hour", "VPC pricing text, 2026-10-04"),
    "interface endpoint": Price(0.01, "hour and zone", "PrivateLink pricing by third-party page, awsnegotiations.com, 2026-05"),
    "gp3 volume": Price(0.08, "GB-month", "EBS pricing page, 2026-11"),
    "KMS key": Price(1.00, "month", "KMS pricing page, aws.amazon.com/kms/pricing, and by third-party page, factualminds.com, 2026-06-13"),
    "Lustre 125": Price(0.145, "GiB-month", "FSx for Lustre pricing by third-party page, 2026-11"),
    "Lustre 250": Price(0.210, "GiB-month", "not verified", verified=False),
    "Lustre 500": Price(0.340, "GiB-month", "not verified", verified=False),
    "Lustre 1000": Price(0.600, "GiB-month", "not verified", verified=False),
    # What the program makes none of, and a cluster may leave behind.
    "load balancer": Price(0.0225, "hour", "Elastic Load Balancing pricing by third-party page, awsnegotiations.com, 2026-05"),
    "log storage": Price(0.03, "GB-month", "not verified", verified=False),
    "Lustre backup": Price(0.05, "GB-month", "not verified", verified=False),
}
PRICED_REGIONS = ("us-east-1", "us-east-2", "us-west-2")
"""Regions in which these prices hold."""


def hourly(name: str) -> float:
    """USD per hour of one unit of the item; monthly prices are spread over 730 hours. KeyError for an unknown item."""
    price = PRICES[name]
    return price.usd / HOURS_PER_MONTH if "month" in price.unit else price.usd
