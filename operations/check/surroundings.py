"""Checks of what is around: the caller's own address, and the budget."""

import ipaddress
from collections.abc import Iterator

from operations.check.subject import Subject
from operations.findings import Finding, failed, passed, warned
from simulator.costs import items, total


def allow_list(subject: Subject) -> Iterator[Finding]:
    """Whoever runs `pulumi up` can reach the API server, else it waits 305 s and then fails."""
    blocks = subject.settings.control_plane.public_access_cidrs
    if not blocks:
        yield warned("allow-list", "the API has no public endpoint", "run `pulumi up` and kubectl inside the VPC")
        return
    address = ipaddress.ip_address(subject.own_address())
    if any(address in ipaddress.ip_network(block) for block in blocks):
        yield passed("allow-list", f"{address} may reach the API server")
    else:
        do = f"pulumi config set --path 'trn:controlPlane.publicAccessCidrs[{len(blocks)}]' {address}/{address.max_prefixlen}"
        yield failed("allow-list", f"{address} is in none of {', '.join(blocks)}: `pulumi up` would wait 305 s and fail", do)


def budget(subject: Subject) -> Iterator[Finding]:
    """What the stack costs by the hour stays below `budget.limitUsdPerHour`."""
    lines = items(subject.recording)
    usd, limit = total(lines, idle=False), subject.settings.budget.limit_usd_per_hour
    unpriced = sorted({line.name for line in lines if line.usd_per_hour is None})
    what = f"{usd:.2f} USD an hour running, {total(lines, idle=True):.2f} idle"
    if limit is None:
        yield passed("budget", f"{what}; no `budget.limitUsdPerHour` is set")
    elif usd > limit:
        yield failed("budget", f"{what}, `budget.limitUsdPerHour` is {limit:g}", "lower the groups' `size`, or raise the limit")
    elif unpriced:
        yield failed("budget", f"{what}, without {', '.join(unpriced)}: AWS has no list price", "take the limit away, or the group")
    else:
        yield passed("budget", f"{what}, the limit is {limit:g}")
