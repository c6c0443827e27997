"""What has changed between the plan that was shown and the one that is made once the cluster's lock is held. Pure."""

from collections.abc import Collection, Iterator

from trn.change.action import Difference
from trn.running.roll.plan import RollPlan, named


def differences(shown: RollPlan, now: RollPlan) -> Iterator[Difference]:
    """Compare two plans for one group. Grave is what stops something else, or changes something else: a `--yes` to the old plan is none to it."""
    yield from (Difference(what, is_grave=True) for what in _grave(shown, now))
    yield from (Difference(what, is_grave=False) for what in _mild(shown, now))


def _grave(shown: RollPlan, now: RollPlan) -> Iterator[str]:
    jobs, before = ({job.uid: named(job.job) for job in plan.jobs} for plan in (now, shown))
    yield from (f"{name} has begun on {now.group}" for uid, name in jobs.items() if uid not in before)
    pods, known = ({pod.uid: pod.name for pod in plan.others} for plan in (now, shown))
    yield from (f"pod {name} has begun on {now.group}" for uid, name in pods.items() if uid not in known)
    if now.targets and now.wanted != shown.wanted:
        changed = sorted({urn.rsplit("::", 1)[-1] for urn in now.wanted if now.wanted[urn] != shown.wanted.get(urn)})
        yield f"`pulumi up` would change {', '.join(changed) or now.group} in another way: the stack file or the state has changed"


def _mild(shown: RollPlan, now: RollPlan) -> Iterator[str]:
    yield from _moved(shown.nodes, now.nodes, "node {} has joined " + now.group, "node {} is gone")
    jobs, before = ({job.uid: named(job.job) for job in plan.jobs} for plan in (now, shown))
    yield from (f"{name} has left {now.group}" for uid, name in before.items() if uid not in jobs)
    pods, known = ({pod.uid: pod.name for pod in plan.others} for plan in (now, shown))
    yield from (f"pod {name} is gone" for uid, name in known.items() if uid not in pods)
    stopped, earlier = ([named(job) for job in plan.stopped] for plan in (now, shown))
    yield from _moved(earlier, stopped, "{} was stopped by another run", "{} was started by another run")
    if not now.targets and shown.targets:
        yield f"the nodes of {now.group} are as the stack file says: another run was faster"


def _moved(before: Collection[str], after: Collection[str], came: str, went: str) -> Iterator[str]:
    yield from (came.format(name) for name in after if name not in before)
    yield from (went.format(name) for name in before if name not in after)
