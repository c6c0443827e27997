"""The times of a job's nodes: how long its capacity block lasts, and when a schedule empties its group."""

from collections.abc import Iterator
from datetime import datetime, timedelta

from training.duration import seconds
from training.plan import Plan
from trn.cli.findings import Finding, failed, passed, warned


def block(plan: Plan, now: datetime) -> Iterator[Finding]:
    """Whether the job's capacity block still has the time that the job needs."""
    use, job = plan.nodes.block, plan.job
    if use is None:
        return
    name, drained = plan.nodes.name, f"{use.drained:%Y-%m-%d %H:%M} UTC"
    if now >= use.drained:
        do = f"extend the block, or buy another one and set it at `{plan.nodes.path}`; `trn submit --on`, or another `nodeGroup`, where there are nodes"
        yield failed("block", f"the capacity block of {name} is over: its nodes were drained at {drained}", do)
        return
    begins = max(now, use.window.starts)
    left = use.drained - begins
    if now < use.window.starts:
        yield warned("block", f"the capacity block of {name} begins at {use.window.starts:%Y-%m-%d %H:%M} UTC", "the job waits until then")
    needs = timedelta(seconds=seconds(job.time_limit)) if job.time_limit is not None else None
    if needs is not None and needs <= left:
        yield passed("block", f"its time limit of {job.time_limit} ends before the nodes of {name} are drained at {drained}")
        return
    what = f"nodes of {name} are drained at {drained}, after at most {left.total_seconds() / 3600:.1f} hours of the job"
    if job.checkpoints is None:
        yield warned("block", f"{what}: it keeps no checkpoints, and starts anew", "set `checkpoints`, or a `timeLimit` that ends before")
    else:
        yield warned(
            "block",
            f"{what}: it saves then, and goes on where there are nodes again",
            "extend the block in time, or let a second one follow",
        )


def night(plan: Plan, now: datetime) -> Iterator[Finding]:
    """Whether the job may run when a schedule empties its group."""
    hours, job = plan.nodes.hours, plan.job
    down = hours.next_down(now) if hours is not None else None
    if hours is None or down is None:
        return
    limit = timedelta(seconds=seconds(job.time_limit)) if job.time_limit is not None else None
    up = hours.next_up(now)
    # At night the group goes up before it goes down again, and a job that waits begins then.
    begins = up if up is not None and up < down else now
    left = down - begins
    if limit is not None and limit <= left:
        yield passed("night", f"its time limit of {job.time_limit} ends before the schedule empties {plan.nodes.name} at {_time(down)}")
        return
    what = f"a schedule empties {plan.nodes.name} at {_time(down)}, after at most {left.total_seconds() / 3600:.1f} hours of the job"
    again = "when the group has nodes again" if hours.up_at is not None else f"after `trn scale {plan.site.stack} {plan.nodes.name}`"
    if job.checkpoints is None:
        yield warned("night", f"{what}: it keeps no checkpoints, and starts anew", "set `checkpoints`, or a `timeLimit` that ends before")
    else:
        yield warned("night", f"{what}: it saves then, and goes on {again}", "a group without `schedule` runs it in one piece")


def _time(moment: datetime) -> str:
    return f"{moment:%Y-%m-%d %H:%M} UTC"
