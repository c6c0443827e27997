"""A drain of one stack's cluster: whose it is, what would go, the question, the lock, the drain."""

from collections.abc import Callable
from pathlib import Path

from operations.aws.api import Api
from operations.cluster.drain.plan import DrainPlan, Step, Target, plan_drain, refuse_unknown
from operations.cluster.drain.run import Drain
from operations.kube.cluster import cluster_of
from operations.lock import locked, this_run
from operations.ownership import Consent, StackCluster, agreed, read_ownership, refuse_change
from operations.pulumi import Pulumi
from operations.watching import Watching


def drain_stack(
    api: Api,
    pulumi: Pulumi,
    subject: StackCluster,
    consent: Consent,
    watching: Watching,
    shown: Callable[[DrainPlan], None],
    *,
    state_file: Path | None = None,
    break_lock: bool = False,
    left: list[Target] | None = None,
) -> tuple[DrainPlan, tuple[Target, ...]]:
    """Close, empty and delete what users started; the plan, and what is still there.

    `shown`: called with what is about to be asked. `left`: takes what is still there, however it ends. Raises CommandError where it
    is not this stack's cluster, another operator is at it, or it cannot be seen what runs there.
    """
    ownership = read_ownership(api, pulumi, subject, state_file)
    identity = agreed(ownership, consent, watching.tell)
    kubernetes = cluster_of(api, subject.cluster)
    plan = plan_drain(kubernetes)
    shown(plan)
    refuse_unknown(plan)
    if plan.counts:
        consent.agree(f"Go on in {subject.cluster} in {identity.region}, account {identity.account}: {plan.counts}?")
    with locked(api, subject.cluster, this_run(ownership.caller, f"drain {subject.stack}"), watching.tell, break_lock=break_lock) as lock:

        def check() -> None:
            lock.refuse_lost()
            refuse_change(api, ownership)

        agree, left = asking(consent, watching.tell), [] if left is None else left
        return plan, Drain(kubernetes, watching.pause, watching.tell, watching.show, check, agree, left).run(plan)


def asking(consent: Consent, tell: Callable[[str], None]) -> Callable[[tuple[Step, ...]], bool]:
    """How what appears during a drain is asked about; with `--yes` it stays and is reported."""

    def agree(new: tuple[Step, ...]) -> bool:
        for step in new:
            tell(f"new since the plan was confirmed: {step.kind.verb} {step.target}: {step.kind.why}")
        return not consent.yes and consent.ask(f"{DrainPlan(new).counts.capitalize()} as well?")

    return agree
