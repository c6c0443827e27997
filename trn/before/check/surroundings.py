"""Checks of what is around: the caller's own address, leftovers of an earlier cluster, and the budget."""

import ipaddress
import json
from collections.abc import Iterator

from facts.typed import typed
from simulator.costs import figures, items
from trn.aws.places import look, place_of
from trn.before.check.subject import Subject
from trn.change.sweep_plan import Keeping, plan_sweep
from trn.cli.errors import CommandError
from trn.cli.findings import Finding, failed, passed, warned
from trn.engine.stack_state import parse_state


def allow_list(subject: Subject) -> Iterator[Finding]:
    """The machine that runs `pulumi up` can reach the API server, else it waits 305 s and then fails."""
    blocks = subject.settings.control_plane.public_access_cidrs
    if not blocks:
        yield warned("allow-list", "the API has no public endpoint", f"run `{typed('pulumi up')}` and kubectl inside the VPC")
        return
    address = ipaddress.ip_address(subject.own_address())
    if any(address in ipaddress.ip_network(block) for block in blocks):
        yield passed("allow-list", f"{address} may reach the API server")
    else:
        do = f"pulumi config set --path 'trn:controlPlane.publicAccessCidrs[{len(blocks)}]' {address}/{address.max_prefixlen}"
        yield failed("allow-list", f"{address} is in none of {', '.join(blocks)}: `{typed('pulumi up')}` would wait 305 s and fail", do)


COLLIDING = frozenset({"EKS cluster", "node group", "launch template", "placement group", "log group", "role", "security group"})
"""Kinds whose names the program sets: a second one of the name is refused."""


def leftovers(subject: Subject) -> Iterator[Finding]:
    """Nothing of an earlier cluster of this name is in the way, or still bills."""
    try:
        place = place_of(subject.api, subject.cluster)
    except CommandError as error:
        yield failed("leftovers", str(error.args[0]), error.hint)
        return
    plan = plan_sweep(look(subject.api, place), Keeping(ids=state_ids(subject) or frozenset()))
    if not plan.deletions:
        yield passed("leftovers", f"nothing of an earlier {subject.cluster} is in {subject.region}")
        return
    shown = ", ".join(f"{item.kind} {item.id}" for item in plan.deletions[:3])
    more = f" and {len(plan.deletions) - 3} more" if len(plan.deletions) > 3 else ""
    what = f"{shown}{more} of an earlier {subject.cluster}, {plan.usd_per_day:.2f} USD a day"
    in_the_way = sorted({item.kind for item in plan.deletions} & COLLIDING)
    do = f"`{typed(f'trn sweep {subject.stack_file.stack}')}` lists them, with --delete it deletes them"
    yield failed("leftovers", f"{what}; in the way: {', '.join(in_the_way)}", do) if in_the_way else warned("leftovers", what, do)


def state_ids(subject: Subject) -> frozenset[str] | None:
    """What the stack holds already; None where Pulumi gives no state: there is no such stack, or it cannot be read."""
    try:
        export = subject.tool_answer(["pulumi", "stack", "export", "--stack", subject.stack_file.stack])
    except OSError:
        return None
    return parse_state(json.loads(export), subject.cluster).ids


def budget(subject: Subject) -> Iterator[Finding]:
    """What the stack costs by the hour stays below `budget.limitUsdPerHour`, at full size too."""
    found, limit = figures(items(subject.recording)), subject.settings.budget.limit_usd_per_hour
    what = found.words()
    if limit is None:
        yield passed("budget", f"{what}; no `budget.limitUsdPerHour` is set")
    elif found.now.usd_per_hour > limit:
        yield failed("budget", f"{what}; `budget.limitUsdPerHour` is {limit:g}", "lower the groups' `size`, or raise the limit")
    elif found.without:
        yield failed("budget", f"{what}; the limit of {limit:g} cannot be checked", "remove the limit, or what has no known price")
    elif found.full_size.usd_per_hour > limit:
        do = "lower the `maxSize` of autoscaled groups and the limits of Karpenter's pools, or raise the limit"
        yield warned("budget", f"{what}; at full size it is above `budget.limitUsdPerHour`, {limit:g}", do)
    else:
        yield passed("budget", f"{what}; the limit is {limit:g}")
