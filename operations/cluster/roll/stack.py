"""A roll of one stack's group: the plan as things are now, whose cluster it is, the question, the lock, and the plan once more."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from operations.access import access
from operations.aws.api import Api
from operations.aws.node_groups import resize, scaling, sized
from operations.cluster.plan.planned import ask_engine
from operations.cluster.roll.differences import Differences, differences
from operations.cluster.roll.plan import RollPlan, Way, plan_roll
from operations.cluster.roll.run import Roll
from operations.cluster.roll.stopping import can_stop, stopped_for
from operations.errors import CommandError
from operations.jobs.listing.kinds import JOB_KINDS
from operations.jobs.listing.look import View, look_everywhere
from operations.kube.api import Kubernetes
from operations.kube.budgets import BUDGETS
from operations.kube.cluster import cluster_of
from operations.lock import locked, this_run
from operations.ownership import Consent, StackCluster, agreed, read_ownership, refuse_change
from operations.program import record_stack, settings_of
from operations.stack_file import StackFile, read_stack_file, refuse_edited
from operations.watching import Watching


@dataclass(frozen=True)
class Request:
    """What the caller asked for."""

    group: str
    way: Way
    to: str
    """The second group; empty without one."""
    accepted: frozenset[str]
    """Pods of no job, as NAMESPACE/NAME, that may end."""
    wait_s: float


def views_of(kubernetes: Kubernetes, namespace: str, group: str) -> list[View]:
    """A look at each namespace with pods, and at those in which an earlier run stopped a job: it has no pod now."""
    stopped = [item for kind in JOB_KINDS if can_stop(kind.resource) for item in kubernetes.list(kind.resource) or ()]
    own = (str(item["metadata"].get("namespace", "")) for item in stopped if stopped_for(item) == group)
    return look_everywhere(kubernetes, [namespace, *own])


def plan_now(request: Request, api: Api, kubernetes: Kubernetes, stack_file: StackFile) -> RollPlan:
    """The plan as engine, account and cluster are at this moment. Raises CommandError as `plan_roll` does."""
    settings = settings_of(stack_file)
    engine = ask_engine(access().pulumi(stack_file.stack), stack_file.stack, record_stack(stack_file))
    views = views_of(kubernetes, settings.training.namespace, request.group)
    sizes = {each: scaling(api, settings.name, each)["desiredSize"] for each in ([request.to] if request.to else [])}
    budgets = kubernetes.list(BUDGETS) or []
    return plan_roll(request.group, request.way, request.to, engine, views, sizes, budgets, request.accepted)


def roll_group(
    api: Api, stack_file: StackFile, request: Request, consent: Consent, tell: Callable[[str], None], *,
    state_file: Path | None = None, break_lock: bool = False,
) -> tuple[RollPlan, list[str]]:  # fmt: skip
    """Plan, ask, take the lock, look again, and roll; the plan that was carried out, and what went wrong.

    Raises CommandError where it is not this stack's cluster, and as `plan_roll` and `Roll` do.
    """
    stack, name = stack_file.stack, settings_of(stack_file).name
    ownership = read_ownership(api, access().pulumi(stack), StackCluster(stack_file.project, stack, name), state_file)
    identity = agreed(ownership, consent, tell)
    kubernetes = cluster_of(api, name)
    shown = plan_now(request, api, kubernetes, stack_file)
    for line in shown.lines:
        tell(line)
    if not shown.has_work:
        return shown, []
    consent.agree(f"Roll {request.group} in {name} in {identity.region}, account {identity.account}?")

    def empty() -> list[str]:
        return resize(api, name, request.group, sized(scaling(api, name, request.group), 0), access().pause)

    holder = this_run(ownership.caller, f"roll {stack} {request.group}")
    with locked(api, name, holder, tell, break_lock=break_lock) as lock:
        refuse_change(api, ownership)
        # While the question stood, an autoscaler, a repair, a job or another person may have changed what it was about.
        file = read_stack_file(stack, stack_file.root)
        plan = plan_now(request, api, kubernetes, file)
        agree_again(differences(shown, plan), plan, consent, tell)

        def check() -> None:
            lock.refuse_lost()
            refuse_change(api, ownership)
            refuse_edited(file, read_stack_file(stack, stack_file.root))

        watching = Watching(tell, access().pause)
        return plan, Roll(plan, stack, kubernetes, access().pulumi(stack), watching, empty, request.wait_s, check).run()


def agree_again(changed: Differences, plan: RollPlan, consent: Consent, tell: Callable[[str], None]) -> None:
    """Show what has changed since the question, and ask again. Raises CommandError where `--yes` was said to another plan than this."""
    if not changed.lines:
        return
    if consent.yes and changed.grave:
        raise CommandError(f"the plan has changed since it was shown: {'; '.join(changed.grave)}", "run it again: it plans anew")
    tell("since the plan was shown:")
    for line in (*changed.lines, "so that now:", *plan.lines):
        tell(f"  {line}")
    consent.agree(f"Roll {plan.group} all the same?")
