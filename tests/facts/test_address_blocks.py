"""IPv4 blocks: how they are written, which no VPC has, which go together."""

from ipaddress import IPv4Network

import pytest

from facts.address_blocks import address_count, associates, block_of, is_public, why_unusable


@pytest.mark.parametrize(
    "text", ["10.0.0.0", "10.0.0.0/255.0.0.0", "10.0.0.1/8", "10.0.0/8", "010.0.0.0/8", "10.0.0.0/33", " 10.0.0.0/8", ""]
)
def test_only_address_and_prefix_length_are_a_block(text: str):
    """AWS takes no other form, and an address alone would be a block of one."""
    with pytest.raises(ValueError, match=r".*"):
        block_of(text)


@pytest.mark.parametrize(
    ("primary", "secondary", "goes"),
    [
        ("10.0.0.0/16", "100.64.0.0/16", True),
        ("10.0.0.0/16", "10.1.0.0/16", True),
        ("10.0.0.0/16", "172.16.0.0/16", False),
        ("10.0.0.0/16", "198.19.0.0/16", False),
        ("198.19.0.0/17", "198.19.128.0/17", True),
        ("198.19.0.0/16", "10.0.0.0/16", False),
        ("198.19.0.0/16", "100.64.0.0/16", True),
        ("10.0.0.0/16", "8.8.0.0/16", True),
        ("8.8.0.0/16", "10.0.0.0/16", False),
    ],
)
def test_which_blocks_go_together(primary: str, secondary: str, goes: bool):
    """VPC user guide, CIDR block association restrictions."""
    assert associates(IPv4Network(primary), IPv4Network(secondary)) is goes


def test_what_no_host_has_is_named():
    """The reason is part of the message."""
    assert why_unusable(IPv4Network("127.1.0.0/16")) == "loopback addresses"
    assert why_unusable(IPv4Network("128.0.0.0/16")) == ""


def test_public_means_reachable_from_the_internet():
    """A block that holds a private one opens nothing, or too much."""
    assert is_public(IPv4Network("8.8.8.8/32"))
    assert not is_public(IPv4Network("172.0.0.0/8"))
    assert not is_public(IPv4Network("100.64.1.0/24"))


def test_addresses_in_two_blocks_count_once():
    """Forty /8 are the world; one /8 given twice is one."""
    assert address_count([IPv4Network("11.0.0.0/8"), IPv4Network("11.1.0.0/16")]) == 2**24
