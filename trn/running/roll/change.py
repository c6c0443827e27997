"""A roll of one group as a change: close its nodes, let its jobs end or stop them, replace the nodes or empty the group, and put all back.

Every action may be done twice. A run that was killed is followed by another one, which finds the marks of the first: nodes that it closed
and jobs that it stopped. Nodes are looked at by their group, not by the names in the plan: an autoscaler or a repair may add some.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from facts.kubernetes_kinds import Resource
from facts.typed import typed
from trn.aws.eks import OVERDUE, begin_resize, scaling, sized
from trn.change.action import Action, Difference, Hold, Outcome, Pace, PulumiRun, Question, Refusal
from trn.change.hold import cluster_lock
from trn.change.identity import Aws, Kube, StateId, state_id
from trn.change.report import ChangeDocument, Report
from trn.change.whose import Site, Whose
from trn.cli.errors import CommandError
from trn.engine.planned import ask_engine
from trn.engine.program import record_stack, settings_of
from trn.engine.stack_file import StackFile, read_stack_file, refuse_edited
from trn.kubernetes import budgets
from trn.kubernetes.cancellation import MARGIN_S, CancelPlan, LastLog, log_path
from trn.kubernetes.claimed import with_claims
from trn.kubernetes.client import Kubernetes, Object
from trn.kubernetes.job_end import can_stop, start, stop, stopped_for
from trn.kubernetes.job_pods import PODS
from trn.kubernetes.jobs.job import JOB_KINDS, FoundJob, makers_of
from trn.kubernetes.jobs.look import View, look_everywhere
from trn.running.roll.others import COME_BACK, goes_with_node, holds_devices, is_over
from trn.running.roll.plan import CORDONED_BY_ROLL, RollPlan, Way, differences, is_of, named, plan_roll
from trn.running.scale.change import BUSY, described, settling
from trn.running.subject import NODES

PAUSE_S, IDLE_PAUSE_S = 5, 30
"""Between two looks at a job that stops, and at jobs that are waited for."""
WAITS, RESIZE_WAITS = 24 * 3600 // PAUSE_S, 1800 // PAUSE_S
JOINS = 20
"""How often nodes may join the group while jobs are waited for."""


@dataclass(frozen=True)
class Seen:
    """What a look saw."""

    file: StackFile
    state: StateId
    plan: RollPlan | None
    """None where it is refused."""
    refused: Refusal | None
    group: Aws | None
    """None where nothing is to be done."""
    where: str
    """Region and account."""


class RollReport(ChangeDocument, frozen=True):
    """What `trn roll` did."""

    schema_: Literal["trn-roll"] = "trn-roll"
    group: str | None = None
    way: Way | None = None
    plan: tuple[str, ...] | None = None
    """As it was shown."""
    problems: tuple[str, ...] | None = None


def marked_jobs(kubernetes: Kubernetes, group: str) -> list[tuple[Resource, Object]]:
    """Jobs that a roll of the group stopped."""
    kinds = [kind.resource for kind in JOB_KINDS if can_stop(kind.resource)]
    return [(kind, item) for kind in kinds for item in kubernetes.list(kind) or () if stopped_for(item) == group]


def views_of(kubernetes: Kubernetes, namespace: str, group: str) -> list[View]:
    """A look at each namespace with pods, and at those in which an earlier run stopped a job: it has no pod now."""
    own = (str(item["metadata"].get("namespace", "")) for _, item in marked_jobs(kubernetes, group))
    return look_everywhere(kubernetes, [namespace, *own])


def _nodes(kubernetes: Kubernetes, group: str) -> list[Object]:
    return [node for node in kubernetes.list(NODES) or () if is_of(node, group)]


def _is_open(node: Object) -> bool:
    return not node.get("spec", {}).get("unschedulable")


def _set(kubernetes: Kubernetes, node: Object, *, closed: bool) -> None:
    # An object's uid cannot be changed: the server refuses a patch of another node that has got the name, which goes by the address.
    mark = {"uid": node["metadata"]["uid"], "annotations": {CORDONED_BY_ROLL: "true" if closed else None}}
    kubernetes.patch(NODES, node["metadata"]["name"], "", {"metadata": mark, "spec": {"unschedulable": closed or None}})


def _open(kubernetes: Kubernetes, group: str) -> None:
    """Those that a roll closed: successors of replaced nodes never were."""
    for node in _nodes(kubernetes, group):
        if CORDONED_BY_ROLL in (node["metadata"].get("annotations") or {}):
            _set(kubernetes, node, closed=False)


def _pods_on(kubernetes: Kubernetes, nodes: Sequence[Object], namespace: str = "") -> list[Object]:
    """Pods on nodes that have not ended."""
    names = {node["metadata"]["name"] for node in nodes}
    found = with_claims(kubernetes.list(PODS, namespace=namespace) or [], kubernetes)
    return [pod for pod in found if pod["spec"].get("nodeName") in names and not is_over(pod)]


def _is_among(pods: Sequence[Object], plan: CancelPlan) -> bool:
    """Whether a pod of a job is there, one that its controller has made anew included."""
    own = {str(pod["metadata"].get("uid")) for pod in plan.job.pods}
    return any(str(pod["metadata"].get("uid")) in own or plan.uid in makers_of(pod) for pod in pods)


def _late(plan: RollPlan, here: Sequence[Object]) -> Iterator[str]:
    """Pods with devices that the plan does not have, and that would be lost with their node."""
    own = {str(pod["metadata"].get("uid")) for job in plan.jobs for pod in job.job.pods} | {pod.uid for pod in plan.others}
    jobs = {job.uid for job in plan.jobs}
    for pod in here:
        owners = {owner.get("kind") for owner in pod["metadata"].get("ownerReferences") or ()}
        is_known = str(pod["metadata"].get("uid")) in own or jobs & makers_of(pod)
        if holds_devices(pod) and not is_known and not goes_with_node(pod) and not COME_BACK & owners:
            yield budgets.named(pod)


def _limited(ended: Callable[[Site], Outcome | None], looks: int, overdue: Outcome) -> Callable[[Site], Outcome | None]:
    """What is waited for, that many looks at most."""
    left = iter(range(looks))

    def settled(site: Site) -> Outcome | None:
        return ended(site) or (overdue if next(left, None) is None else None)

    return settled


@dataclass(frozen=True)
class Roll:
    """Bring the nodes of a group to the stack file's AMI release and launch template, at a time that its jobs agree to."""

    stack_file: StackFile
    cluster: str
    group: str
    way: Way
    to: str
    """The second group; empty without one."""
    accepted: frozenset[str]
    """Pods of no job, as NAMESPACE/NAME, that may end."""
    wait_s: float
    """How long jobs are waited for, at most."""

    @property
    def name(self) -> str:
        """As it is typed."""
        return f"roll {self.stack_file.stack} {self.group}"

    document = RollReport

    @property
    def pace(self) -> Pace:
        """Action after action; another round where nodes have joined the group."""
        if self.way == "when-idle":
            return Pace(JOINS, IDLE_PAUSE_S, int(self.wait_s // IDLE_PAUSE_S) + 2, in_order=True)
        return Pace(pause_s=PAUSE_S, waits=WAITS, in_order=True)

    def hold(self, site: Site, whose: Whose) -> Hold:
        """The cluster's lock."""
        return cluster_lock(self.name, site, whose)

    def look(self, site: Site, whose: Whose) -> Seen:
        """The plan as engine, account and cluster are at this moment. The state first: what changes meanwhile is seen before the run."""
        file = self._file()
        settings = settings_of(file)
        state = state_id(site.pulumi, file.stack)
        engine = ask_engine(site.pulumi, file.stack, record_stack(file))
        kubernetes = site.kubernetes()
        views = views_of(kubernetes, settings.training.namespace, self.group)
        sizes = {each: scaling(site.api, self.cluster, each)["desiredSize"] for each in ([self.to] if self.to else [])}
        tight = kubernetes.list(budgets.BUDGETS) or []
        identity = whose.ownership.identity
        plan, refused = None, None
        try:
            plan = plan_roll(self.group, self.way, self.to, engine, views, sizes, tight, self.accepted)
        except CommandError as error:
            refused = Refusal(str(error.args[0]), error.hint, error.code)
        group = described(site, self.cluster, self.group)[0] if plan is not None and plan.has_work else None
        return Seen(file, state, plan, refused, group, f"{identity.region}, account {identity.account}")

    def _file(self) -> StackFile:
        return read_stack_file(self.stack_file.stack, self.stack_file.root)

    def refusals(self, seen: Seen) -> Iterator[Refusal]:
        """A job that cannot be stopped, a pod that would be lost, a second group without room, a change that is no roll."""
        if seen.refused is not None:
            yield seen.refused

    def actions(self, seen: Seen) -> list[Action]:
        """Nodes are opened before jobs start: a job that starts while its own are closed would go to another group."""
        plan, group = seen.plan, seen.group
        if plan is None or group is None:
            return []
        stopped = [] if self.way == "when-idle" or not plan.replaces else [job.job for job in plan.jobs]
        starts = [self._start(job) for job in (*plan.stopped, *stopped)]
        opens = Action("open", group, "its jobs run there again", self._open)
        if not plan.replaces:
            return [opens, *starts]
        closes = Action(
            "close", group, "nothing is to start on nodes that go", lambda site, _: self._close(site, plan), undo=self._put_back
        )
        stops = [self._stop(job, seen) for job in plan.jobs] if stopped else []
        if self.to:
            return [closes, *stops, *starts, Action("set to 0 nodes", group, f"its jobs are on {self.to}", self._emptying(seen))]
        run = PulumiRun(
            typed("pulumi up"), seen.state, "it replaces the nodes one after the other", self._running(seen), wanted=plan.wanted
        )
        return [closes, *stops, run, opens, *starts]

    # What is done

    def _close(self, site: Site, plan: RollPlan) -> Outcome:
        kubernetes = site.kubernetes()
        for node in filter(_is_open, _nodes(kubernetes, self.group)):
            _set(kubernetes, node, closed=True)
        site.tell(f"the nodes of {self.group} take no new pods")
        self._refuse_late(kubernetes, plan)
        return Outcome("done", settled=self._idle(kubernetes, plan) if self.way == "when-idle" else None)

    def _refuse_late(self, kubernetes: Kubernetes, plan: RollPlan) -> None:
        """Raises CommandError for what holds devices of the nodes and is not in the plan: it came after the plan was made."""
        late = list(_late(plan, _pods_on(kubernetes, _nodes(kubernetes, self.group))))
        if late:
            wrong = f"{', '.join(late)} runs on {self.group} and is in no job of the plan: nothing was replaced"
            raise CommandError(wrong, "the same command again plans anew")

    def _idle(self, kubernetes: Kubernetes, plan: RollPlan) -> Callable[[Site], Outcome | None]:
        """Until no job is left on the nodes. Raises CommandError where that takes too long."""
        waited = -IDLE_PAUSE_S

        def settled(site: Site) -> Outcome | None:
            nonlocal waited
            waited += IDLE_PAUSE_S
            nodes = _nodes(kubernetes, self.group)
            if joined := [node["metadata"]["name"] for node in nodes if _is_open(node)]:
                return Outcome("held", (f"{', '.join(joined)} has joined {self.group}",))
            here = _pods_on(kubernetes, nodes)
            there = [*(named(job.job) for job in plan.jobs if _is_among(here, job)), *_late(plan, here)]
            if not there:
                return Outcome("done")
            if waited >= self.wait_s:
                raise CommandError(
                    f"{', '.join(there)} still runs on {self.group} after {waited / 3600:.0f} h: nothing was replaced",
                    "the nodes take pods again; `--wait-hours` waits longer, `--checkpoint` does not wait",
                )
            if waited % 600 == 0:
                site.tell(f"waiting for {', '.join(there)}")
            return None

        return settled

    def _stop(self, plan: CancelPlan, seen: Seen) -> Action:
        job = plan.job

        def do(site: Site, which: Kube) -> Outcome:
            refuse_edited(seen.file, self._file())
            kubernetes = site.kubernetes()
            if _item(kubernetes, job, which) is None:
                return Outcome("gone")
            log = LastLog(kubernetes, log_path(plan), plan.grace_s + MARGIN_S).start() if plan.saves else None
            stop(kubernetes, job, self.group)
            site.tell(f"{named(job)} is asked to stop, and has {plan.grace_s} s")

            def left(site: Site) -> Outcome | None:
                if _is_among(_pods_on(kubernetes, _nodes(kubernetes, self.group), job.namespace), plan):
                    return None
                step = log.saved_step() if log is not None else None
                if step is not None:
                    site.tell(f"{named(job)} has saved step {step} in {plan.folder}")
                elif plan.saves:
                    site.tell(f"no worker of {named(job)} said that it saved: the last checkpoint in {plan.folder} counts")
                return Outcome("done")

            hint = (
                "`kubectl get pods` shows which pod does not end; the same command again goes on from here, and without the change in the"
                " stack file it starts the jobs and opens the nodes"
            )
            overdue = (f"{named(job)} has not left {self.group}: nothing was replaced", hint)
            return Outcome("done", settled=_limited(left, (plan.grace_s + MARGIN_S) // PAUSE_S, Outcome("unsure", overdue)))

        return Action("stop", _identity(job), f"it has nodes of {self.group}", do)

    def _running(self, seen: Seen) -> Callable[[Site, StateId], Outcome]:
        plan = seen.plan
        assert plan is not None
        command = up_command(self.stack_file.stack, plan.targets)

        def do(site: Site, _: StateId) -> Outcome:
            refuse_edited(seen.file, self._file())
            self._refuse_late(site.kubernetes(), plan)
            code, _printed = site.pulumi.run(command, {})
            said = f"`{' '.join(command[:2])}` ended with {code}: the nodes may be as they were"
            return Outcome("refused", (said,)) if code else Outcome("done")

        return do

    def _emptying(self, seen: Seen) -> Callable[[Site, Aws], Outcome]:
        plan = seen.plan
        assert plan is not None

        def do(site: Site, which: Aws) -> Outcome:
            refuse_edited(seen.file, self._file())
            self._refuse_late(site.kubernetes(), plan)
            identity, _, sizes = described(site, self.cluster, self.group)
            if identity != which:
                return Outcome("moved", (f"{self.group} was made again",))
            update = begin_resize(site.api, self.cluster, self.group, sized(sizes, 0), site.token)
            settled = settling(self.cluster, self.group, update)
            return Outcome("done", settled=_limited(settled, RESIZE_WAITS, Outcome("unsure", (OVERDUE,))))

        return do

    def _open(self, site: Site, _: Aws) -> Outcome:
        _open(site.kubernetes(), self.group)
        return Outcome("done")

    def _start(self, job: FoundJob) -> Action:
        def do(site: Site, which: Kube) -> Outcome:
            kubernetes = site.kubernetes()
            item = _item(kubernetes, job, which)
            if item is None or stopped_for(item) != self.group:
                return Outcome("gone")
            start(kubernetes, job.kind.resource, item)
            site.tell(f"{named(job)} starts again")
            return Outcome("done")

        return Action("start", _identity(job), f"it was stopped for the roll of {self.group}", do)

    def _put_back(self, site: Site) -> None:
        """By the marks alone. A group that EKS sets to zero keeps its nodes closed."""
        _, status, sizes = described(site, self.cluster, self.group)
        if self.to and (status in BUSY or not sizes["desiredSize"]):
            return
        site.tell(f"stopped: jobs start again, and the nodes of {self.group} take pods")
        kubernetes = site.kubernetes()
        _open(kubernetes, self.group)
        for kind, item in marked_jobs(kubernetes, self.group):
            start(kubernetes, kind, item)

    # What is said

    def question(self, seen: Seen) -> Question | None:
        """Asked whatever runs there."""
        return Question(f"Roll {self.group} in {self.cluster} in {seen.where}?")

    def shown(self, seen: Seen) -> list[str]:
        """The plan."""
        return seen.plan.lines if seen.plan is not None else []

    def differences(self, shown: Seen, now: Seen) -> Iterator[Difference]:
        """Of the plans; and another state, of which a preview may say the same."""
        if shown.plan is None or now.plan is None:
            return
        yield from differences(shown.plan, now.plan)
        if now.plan.targets and now.state != shown.state:
            yield Difference(f"the state of stack `{now.state.name}` has changed since it was shown", is_grave=True)

    def result(self, _: Seen, report: Report) -> Iterator[str]:
        """What went wrong, or how it ended."""
        if report.left:
            yield from _problems(report)
        elif report.outcomes and self.to:
            end = f"the jobs are on {self.to} and {self.group} has no nodes"
            yield f"{end}: remove `nodeGroups.{self.group}` from the stack file, then `{typed('pulumi up')}`"
        elif report.outcomes:
            yield f"{self.group} is rolled"

    def data(self, seen: Seen, report: Report) -> dict[str, Any]:
        """For `--json`."""
        return {"group": self.group, "way": self.way, "plan": self.shown(seen), "problems": _problems(report)}


def up_command(stack: str, targets: Sequence[str]) -> tuple[str, ...]:
    """What replaces the nodes, and nothing else."""
    named_urns = (word for urn in targets for word in ("--target", urn))
    return ("pulumi", "up", "--yes", "--skip-preview", "--non-interactive", "--stack", stack, *named_urns)


def _problems(report: Report) -> list[str]:
    return [said for _, outcome in report.left for said in outcome.said]


def _identity(job: FoundJob) -> Kube:
    return Kube(job.kind.resource.qualified, f"{job.namespace}/{job.name}", str(job.item["metadata"].get("uid") or ""))


def _item(kubernetes: Kubernetes, job: FoundJob, which: Kube) -> Object | None:
    """The job as it is now; None where it is gone."""
    found = kubernetes.list(job.kind.resource, namespace=job.namespace) or ()
    return next((item for item in found if item["metadata"].get("uid") == which.uid), None)
