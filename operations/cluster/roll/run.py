"""Carries a roll out: close the nodes, wait for the jobs or stop them, replace the nodes or empty the group, start the jobs, open the nodes.

Every step may be done twice. A run that was killed is followed by another one, which finds the marks of the first: nodes that it closed
and jobs that it stopped. Nodes are looked at by their group, not by the names in the plan: an autoscaler or a repair may add some.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from facts.kubernetes_kinds import Resource
from operations.cluster.roll.others import COME_BACK, goes_with_node, holds_devices, is_over
from operations.cluster.roll.plan import CORDONED_BY_ROLL, RollPlan, is_of, named
from operations.cluster.roll.stopping import start, stop
from operations.cluster.status.subject import NODES
from operations.errors import CommandError, OwnershipError
from operations.interruption import signals_kept
from operations.jobs.cancel.plan import CancelPlan
from operations.jobs.cancel.run import MARGIN_S, PAUSE_S, LastLog, log_path
from operations.jobs.listing.found import makers_of
from operations.kube import budgets
from operations.kube.api import Kubernetes, Object
from operations.kube.job_pods import PODS
from operations.pulumi import Pulumi
from operations.watching import Watching

IDLE_PAUSE_S = 30
"""Between two looks while jobs are waited for."""


class Unfinished(CommandError):
    """Left as it is: the next run goes on from here."""


@dataclass(frozen=True)
class Roll:
    """One roll, with the doors that it needs."""

    plan: RollPlan
    stack: str
    kubernetes: Kubernetes
    pulumi: Pulumi
    watching: Watching
    empty: Callable[[], list[str]]
    """Sets the group to zero nodes; what EKS says went wrong."""
    wait_s: float
    """How long jobs are waited for, at most."""
    check: Callable[[], None]
    """Raises CommandError where the lock is lost, the cluster is another one, or the stack file is not the one of the plan."""

    def run(self) -> list[str]:
        """Do it; what went wrong, empty where nothing did. Nodes are opened and jobs started again also where the replacement fails.

        Raises CommandError where a job does not end in its time: nothing was replaced then, and the next run goes on. Other errors, and
        Ctrl-C, leave the jobs running and the nodes open.
        """
        plan, code = self.plan, 0
        stopped = [(job.kind.resource, job.item) for job in plan.stopped]
        if not plan.replaces:
            self._put_back(stopped)
            return []
        try:
            self._free(stopped)
            self.check()
            self._refuse_others()
            if not plan.to:
                code, _ = self.pulumi.run(self.command, {})
        except (Unfinished, OwnershipError):
            raise
        except (CommandError, KeyboardInterrupt):
            self.watching.tell(f"stopped: jobs start again, and the nodes of {plan.group} take pods")
            self._put_back(stopped)
            raise
        if plan.to:
            self._start(stopped)
            return self.empty()
        self._put_back(stopped)
        return [f"`{' '.join(self.command[:2])}` ended with {code}: the nodes may be as they were"] if code else []

    def _free(self, stopped: list[tuple[Resource, Object]]) -> None:
        """Close the nodes, and let the jobs end or stop them; each that is stopped joins the list before it is asked to."""
        self._close()
        self.watching.tell(f"the nodes of {self.plan.group} take no new pods")
        self._refuse_others()
        if self.plan.way == "when-idle":
            self._wait_for_jobs()
            return
        for job in self.plan.jobs:
            self.check()
            stopped.append((job.job.kind.resource, job.job.item))
            self._stop(job)

    def _put_back(self, stopped: Sequence[tuple[Resource, Object]]) -> None:
        """Nodes first: a job that starts while its own are closed would go to another group. Ctrl-C waits for the end of it."""
        with signals_kept():
            self._open()
            self._start(stopped)

    @property
    def command(self) -> tuple[str, ...]:
        """What replaces the nodes, and nothing else."""
        targets = (word for urn in self.plan.targets for word in ("--target", urn))
        return ("pulumi", "up", "--yes", "--skip-preview", "--non-interactive", "--stack", self.stack, *targets)

    def _close(self) -> list[Object]:
        """Close those that are open; all nodes of the group."""
        nodes = self._nodes()
        for node in nodes:
            if not node.get("spec", {}).get("unschedulable"):
                self._set(node, closed=True)
        return nodes

    def _open(self) -> None:
        """Those that a roll closed: successors of replaced nodes never were."""
        for node in self._nodes():
            if CORDONED_BY_ROLL in (node["metadata"].get("annotations") or {}):
                self._set(node, closed=False)

    def _nodes(self) -> list[Object]:
        return [node for node in self.kubernetes.list(NODES) or () if is_of(node, self.plan.group)]

    def _set(self, node: Object, *, closed: bool) -> None:
        mark = {"annotations": {CORDONED_BY_ROLL: "true" if closed else None}}
        self.kubernetes.patch(NODES, node["metadata"]["name"], "", {"metadata": mark, "spec": {"unschedulable": closed or None}})

    def _refuse_others(self) -> None:
        """Raises CommandError for what holds devices of the nodes and is not in the plan: it came after the plan was made."""
        late = list(self._late(self._pods_on(self._nodes())))
        if late:
            raise CommandError(
                f"{', '.join(late)} runs on {self.plan.group} and is in no job of the plan: nothing was replaced",
                "the same command again plans anew",
            )

    def _late(self, here: Sequence[Object]) -> Iterator[str]:
        """Pods with devices that the plan does not have, and that would be lost with their node."""
        own = {str(pod["metadata"].get("uid")) for job in self.plan.jobs for pod in job.job.pods} | {pod.uid for pod in self.plan.others}
        jobs = {job.uid for job in self.plan.jobs}
        for pod in here:
            owners = {owner.get("kind") for owner in pod["metadata"].get("ownerReferences") or ()}
            is_known = str(pod["metadata"].get("uid")) in own or jobs & makers_of(pod)
            if holds_devices(pod) and not is_known and not goes_with_node(pod) and not COME_BACK & owners:
                yield budgets.named(pod)

    def _wait_for_jobs(self) -> None:
        """Until none is left on the nodes, those among them that have joined meanwhile."""
        waited = 0.0
        while True:
            here = self._pods_on(self._close())
            there = [*(named(job.job) for job in self.plan.jobs if _is_among(here, job)), *self._late(here)]
            if not there:
                return
            if waited >= self.wait_s:
                raise CommandError(
                    f"{', '.join(there)} still runs on {self.plan.group} after {waited / 3600:.0f} h: nothing was replaced",
                    "the nodes take pods again; `--wait-hours` waits longer, `--checkpoint` does not wait",
                )
            if waited % 600 == 0:
                self.watching.tell(f"waiting for {', '.join(there)}")
            self.watching.pause(IDLE_PAUSE_S)
            waited += IDLE_PAUSE_S

    def _stop(self, plan: CancelPlan) -> None:
        job = plan.job
        log = LastLog(self.kubernetes, log_path(plan), plan.grace_s + MARGIN_S).start() if plan.saves else None
        stop(self.kubernetes, job, self.plan.group)
        self.watching.tell(f"{named(job)} is asked to stop, and has {plan.grace_s} s")
        for _ in range((plan.grace_s + MARGIN_S) // PAUSE_S):
            if not _is_among(self._pods_on(self._nodes(), job.namespace), plan):
                break
            self.watching.pause(PAUSE_S)
        else:
            raise Unfinished(
                f"{named(job)} has not left {self.plan.group}: nothing was replaced",
                "`kubectl get pods` shows which pod does not end; the same command again goes on from here, and without the change in the"
                " stack file it starts the jobs and opens the nodes",
            )
        step = log.saved_step() if log is not None else None
        if step is not None:
            self.watching.tell(f"{named(job)} has saved step {step} in {plan.folder}")
        elif plan.saves:
            self.watching.tell(f"no worker of {named(job)} said that it saved: the last checkpoint in {plan.folder} counts")

    def _pods_on(self, nodes: Sequence[Object], namespace: str = "") -> list[Object]:
        """Pods on nodes that have not ended."""
        names = {node["metadata"]["name"] for node in nodes}
        found = self.kubernetes.list(PODS, namespace=namespace) or ()
        return [pod for pod in found if pod["spec"].get("nodeName") in names and not is_over(pod)]

    def _start(self, stopped: Sequence[tuple[Resource, Object]]) -> None:
        for resource, item in stopped:
            start(self.kubernetes, resource, item)
            self.watching.tell(f"{resource.qualified}/{item['metadata']['name']} in {item['metadata'].get('namespace', '')} starts again")


def _is_among(pods: Sequence[Object], plan: CancelPlan) -> bool:
    """Whether a pod of a job is there, one that its controller has made anew included."""
    own = {str(pod["metadata"].get("uid")) for pod in plan.job.pods}
    return any(str(pod["metadata"].get("uid")) in own or plan.uid in makers_of(pod) for pod in pods)
