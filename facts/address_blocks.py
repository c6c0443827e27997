"""IPv4 blocks: how one is written, which AWS gives to no VPC, which go together in one, and which are public.

Sources: VPC user guide, VPC CIDR blocks and CIDR block association restrictions; RFC 5737, 6598, 6890; read 2026-11.
"""

import re
from collections.abc import Iterable
from ipaddress import IPv4Address, IPv4Network, collapse_addresses
from typing import NamedTuple

WRITTEN = re.compile(r"\d{1,3}(\.\d{1,3}){3}/\d{1,2}")
"""Address and prefix length. Python's own reader also takes a netmask, and an address alone for a block of one."""
PRIVATE_RANGES = tuple(IPv4Network(block) for block in ("10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16"))
SHARED_ADDRESS_SPACE = IPv4Network("100.64.0.0/10")
BENCHMARKING = IPv4Network("198.19.0.0/16")
"""Not associated with a VPC whose primary block is private or public, nor the other way round."""
DOCUMENTATION_BLOCKS = tuple(IPv4Network(block) for block in ("192.0.2.0/24", "198.51.100.0/24", "203.0.113.0/24"))
"""Blocks that RFC 5737 reserves for examples: no host has these addresses."""
UNUSABLE = {
    IPv4Network("0.0.0.0/8"): "addresses of this network",
    IPv4Network("127.0.0.0/8"): "loopback addresses",
    IPv4Network("169.254.0.0/16"): "link-local addresses, which AWS uses for instance metadata and DNS",
    IPv4Network("224.0.0.0/4"): "multicast addresses",
    IPv4Network("240.0.0.0/4"): "reserved addresses",
}
"""Blocks that no VPC can have and no host on the internet has, with what they are."""


def block_of(text: str) -> IPv4Network:
    """A block written as address and prefix length. Raises ValueError for any other form, and for host bits that are set."""
    if not WRITTEN.fullmatch(text):
        raise ValueError(f"`{text}` is not written as address/prefix length")
    return IPv4Network(text)


def is_address(text: str) -> bool:
    """Whether it is one IPv4 address, without a prefix length: refused everywhere, since a block may have been meant."""
    try:
        IPv4Address(text)
    except ValueError:
        return False
    return True


def why_unusable(block: IPv4Network) -> str:
    """Why neither a VPC nor a host on the internet can have the block; empty where nothing is against it."""
    return next((what for reserved, what in UNUSABLE.items() if block.overlaps(reserved)), "")


def associates(primary: IPv4Network, secondary: IPv4Network) -> bool:
    """Whether AWS adds the second block to a VPC with the first: no two private ranges, and 198.19.0.0/16 with neither."""
    if secondary.subnet_of(SHARED_ADDRESS_SPACE):
        return True
    if BENCHMARKING.overlaps(primary) or BENCHMARKING.overlaps(secondary):
        return primary.overlaps(BENCHMARKING) and secondary.overlaps(BENCHMARKING)
    if not any(secondary.subnet_of(block) for block in PRIVATE_RANGES):
        return True
    return any(primary.subnet_of(block) and secondary.subnet_of(block) for block in PRIVATE_RANGES)


def is_public(block: IPv4Network) -> bool:
    """Whether hosts on the internet can have addresses of it."""
    return not why_unusable(block) and not any(block.overlaps(inner) for inner in (*PRIVATE_RANGES, SHARED_ADDRESS_SPACE))


class Refused(NamedTuple):
    """Why a block may not reach the Kubernetes API."""

    wrong: str
    allowed: str
    hint: str


def why_closed(text: str) -> Refused | None:
    """Why a block, as it is written, may not reach the Kubernetes API; None where it may."""
    try:
        block = block_of(text)
    except ValueError:
        own = "write your address with /32; `curl https://checkip.amazonaws.com` shows it"
        hint = f"write `{text}/32` for this one address" if is_address(text) else own
        return Refused("not an IPv4 block", "such as 198.51.100.7/32", hint)
    if block.prefixlen < 8:
        wrong = "opens the Kubernetes API to the whole internet, or a large part of it"
        return Refused(wrong, "/8 and narrower", "write your own address with /32, or leave the list empty")
    if not is_public(block):
        hint = "write the address the internet sees you by; private addresses reach the private endpoint, which is always on"
        return Refused("not a public address", "public blocks", hint)
    return None


def is_documentation(text: str) -> bool:
    """Whether a block, as it is written, is one of those that are reserved for examples."""
    try:
        block = block_of(text)
    except ValueError:
        return False
    return any(block.subnet_of(example) for example in DOCUMENTATION_BLOCKS)


def address_count(blocks: Iterable[IPv4Network]) -> int:
    """Addresses in all blocks together, those in several counted once."""
    return sum(block.num_addresses for block in collapse_addresses(blocks))
