"""Prices as their sources have them, written down a second time: a slip in the table of the program would make every bill wrong."""

from facts.catalogue import CORE_TYPES, NEURON_TYPES
from facts.prices import PRICES

PER_HOUR = {
    # aws/karpenter-provider-aws pkg/providers/pricing/zz_generated.pricing_aws.go, generated 2026-07-20, us-east-1; the first two are those
    # of the EC2 Pricing API too, us-east-2, read 2026-10-03.
    "trn1.2xlarge": 1.34375,
    "trn1.32xlarge": 21.50,
    "trn1n.32xlarge": 24.78,
    "inf2.xlarge": 0.7582,
    "inf2.8xlarge": 1.96786,
    "inf2.24xlarge": 6.49063,
    "inf2.48xlarge": 12.98127,
    "m5.large": 0.096,
    "m5.xlarge": 0.192,
    "m5.2xlarge": 0.384,
    "m6i.xlarge": 0.192,
    "m7i.xlarge": 0.2016,
    "m7i.2xlarge": 0.4032,
    "c5.xlarge": 0.17,
    "c5.2xlarge": 0.34,
    "c5.4xlarge": 0.68,
}
"""Of an instance on demand, USD."""
BLOCK_OF_A_DAY = {"trn2.48xlarge": 858.26}
"""Of an instance for 24 hours, USD: EC2 API, DescribeCapacityBlockOfferings in ap-south-2, read 2026-10-03."""
LISTED = {
    "control plane, standard support": (0.10, "hour"),  # EKS pricing page, 2026-11
    "control plane, extended support": (0.60, "hour"),  # the same: a surcharge of 0.50
    "NAT gateway": (0.045, "hour"),  # VPC pricing, 2026-10-04
    "public IPv4 address": (0.005, "hour"),  # VPC pricing, 2026-10-04
    "interface endpoint": (0.01, "hour and zone"),  # PrivateLink pricing by awsnegotiations.com, 2026-05
    "gp3 volume": (0.08, "GB-month"),  # EBS pricing page, 2026-11
    "KMS key": (1.00, "month"),  # KMS pricing page, 2026-06
    "Lustre 125": (0.145, "GiB-month"),  # FSx for Lustre pricing by c3x.dev, 2026-11: 1,200 GiB are 174 USD a month
    "load balancer": (0.0225, "hour"),  # Elastic Load Balancing pricing by awsnegotiations.com, 2026-05
}
"""USD and unit of everything else that has a source."""


def test_each_price_of_an_instance_is_that_of_its_source():
    """On demand; a type without a price in the list has none in ours."""
    ours = {name: item.price_usd_per_hour for name, item in {**NEURON_TYPES, **CORE_TYPES}.items()}
    assert {name: price for name, price in ours.items() if price is not None} == PER_HOUR


def test_the_price_of_a_block_is_a_days_offer_over_24_hours():
    """Paid in advance, for the whole time."""
    ours = {name: item.block_price_usd_per_hour for name, item in NEURON_TYPES.items() if item.block_price_usd_per_hour is not None}
    assert ours == {name: round(usd / 24, 2) for name, usd in BLOCK_OF_A_DAY.items()}


def test_each_price_with_a_source_is_that_of_its_source():
    """What was not found on a page is marked, and not in the table."""
    assert {name: (price.usd, price.unit) for name, price in PRICES.items() if price.verified} == LISTED
