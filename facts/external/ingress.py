"""Whether rules of security groups let a block of addresses in. Pure.

Source: EC2 user guide, security-group-rules: rules of all groups of an interface count together; read 2026-11.
"""

from collections.abc import Iterable
from ipaddress import IPv4Network, collapse_addresses

from facts.external.network import Rule


def lets_in(rules: Iterable[Rule], ports: tuple[int, int], block: IPv4Network, group: str = "") -> bool:
    """Whether all addresses of a block, or all members of a group, get in on every TCP port from the first to the last.

    One rule may let in one part of the block and the next another. A rule that names a prefix list may let in anything.
    """
    known = list(rules)
    first, last = ports
    return all(_lets_in_on([rule for rule in known if _opens(rule, port)], block, group) for port in range(first, last + 1))


def prefix_lists(rules: Iterable[Rule], port: int) -> list[str]:
    """Prefix lists on which it depends who gets in on a TCP port."""
    return sorted({each for rule in rules if _opens(rule, port) for each in rule.prefix_lists})


def _opens(rule: Rule, port: int) -> bool:
    return rule.protocol == "-1" or (rule.protocol in ("tcp", "6") and rule.first_port <= port <= rule.last_port)


def _lets_in_on(rules: list[Rule], block: IPv4Network, group: str) -> bool:
    if any(rule.prefix_lists or (group and group in rule.groups) for rule in rules):
        return True
    let_in = collapse_addresses(IPv4Network(cidr, strict=False) for rule in rules for cidr in rule.cidrs)
    return any(block.subnet_of(whole) for whole in let_in)
