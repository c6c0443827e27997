"""A recovery as data and as lines: what became of each operation without an end, and what comes next."""

from typing import Any

from rich.console import Console

from trn.ending.recover.plan import Import, Plan


def as_data(plan: Plan, *, orphans: bool) -> dict[str, Any]:
    """The same for `--json`."""

    def found(items: tuple[Import, ...]) -> list[dict[str, str]]:
        return [{"urn": item.pending.urn, "id": item.sighting.id, "state": item.sighting.said} for item in items]

    return {
        "imports": found(plan.imports),
        "uninstalls": found(plan.uninstalls),
        "leftovers": found(plan.leftovers),
        "neverMade": [] if orphans else [pending.urn for pending in plan.never_made],
        "settled": [pending.urn for pending in plan.settled],
        "refreshed": [pending.urn for pending in plan.refreshed],
        "unclear": [{"urn": item.pending.urn, "why": item.why, "do": item.do} for item in plan.unclear],
    }


def print_plan(console: Console, plan: Plan, *, orphans: bool) -> None:
    """What became of each operation without an end."""
    for item in plan.imports:
        note = ": it failed, and is imported so that `pulumi up` can replace it" if item.sighting.progress == "failed" else ""
        place = ": takes its place in the state, where a replacement had begun" if item.in_place else ""
        console.print(f"  import     {item.pending} {item.sighting.id}{place}{note}", markup=False, soft_wrap=True)
    for item in plan.uninstalls:
        console.print(f"  uninstall  {item.pending} {item.sighting.id} ({item.sighting.said})", markup=False, soft_wrap=True)
    for pending in () if orphans else plan.never_made:
        console.print(f"  never made {pending}", markup=False, soft_wrap=True)
    for pending in plan.settled:
        console.print(f"  in state   {pending}", markup=False, soft_wrap=True)
    for pending in plan.refreshed:
        console.print(f"  read again {pending} ({pending.doing})", markup=False, soft_wrap=True)
    for item in plan.leftovers:
        console.print(f"  left over  {item.pending} {item.sighting.id}: made before the one in the state", markup=False, soft_wrap=True)
    for item in plan.unclear:
        console.print(f"  unclear    {item.pending}: {item.why}\n             -> {item.do}", markup=False, soft_wrap=True)


def report_lines(plan: Plan, stack: str, *, orphans: bool, done: bool) -> list[str]:
    """How it went, and what comes next."""
    if not done:
        first = f"{len(plan.unclear)} unclear: nothing was changed" if plan.unclear else "Pulumi failed; what it printed last says why"
        return [first, f"next     trn recover {stack}: it may be run again"]
    if orphans and not plan.imports and not plan.uninstalls:
        return ["no orphans: nothing that `pulumi up` would make is there already"]
    if not plan.has_work:
        return ["nothing to recover: no operation is without an end"]
    lines = [f"recovered: {len(plan.imports)} imported, {len(plan.uninstalls)} uninstalled, {len(plan.never_made)} never made"]
    if orphans:
        lines = [f"recovered: {len(plan.imports)} imported, {len(plan.uninstalls)} uninstalled; run it again until none is found"]
    if plan.leftovers:
        lines.append(f"next     trn sweep {stack} --delete")
    return [*lines, f"next     pulumi up --stack {stack}"]
