"""Carries a roll out: close the nodes, wait for the jobs or stop them, replace the nodes or empty the group, start the jobs, open the nodes.

Every step may be done twice. A run that was killed is followed by another one, which finds the marks of the first: nodes that it closed
and jobs that it stopped.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from facts.kubernetes_kinds import Resource
from facts.names import NEURON_RESOURCE
from operations.cluster.roll.plan import CORDONED_BY_ROLL, RollPlan
from operations.cluster.roll.stopping import start, stop
from operations.cluster.status.subject import NODES
from operations.errors import CommandError
from operations.jobs.cancel.plan import CancelPlan
from operations.jobs.cancel.run import MARGIN_S, PAUSE_S, LastLog, log_path
from operations.jobs.listing.found import FoundJob
from operations.kube.api import Kubernetes, Object
from operations.kube.job_pods import PODS
from operations.pulumi import Pulumi
from operations.watching import Watching

IDLE_PAUSE_S = 30
"""Between two looks while jobs are waited for."""


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

    def run(self) -> list[str]:
        """Do it; what went wrong, empty where nothing did. Nodes are opened and jobs started again also where the replacement fails.

        Raises CommandError where a job does not end in its time: nothing was replaced then, and the next run goes on.
        """
        plan = self.plan
        if not plan.targets and not plan.to:
            self._start([(job.kind.resource, job.item) for job in plan.stopped])
            self._open()
            return []
        self._close()
        self._refuse_others()
        stopped = [(job.kind.resource, job.item) for job in plan.stopped]
        if plan.way == "when-idle":
            self._wait_for_jobs()
        else:
            for job in plan.jobs:
                self._stop(job)
                stopped.append((job.job.kind.resource, job.job.item))
        if plan.to:
            self._start(stopped)
            return self.empty()
        code, _ = self.pulumi.run(self.command, {})
        self._start(stopped)
        self._open()
        return [f"`{' '.join(self.command[:2])}` ended with {code}: the nodes may be as they were"] if code else []

    @property
    def command(self) -> tuple[str, ...]:
        """What replaces the nodes, and nothing else."""
        targets = (word for urn in self.plan.targets for word in ("--target", urn))
        return ("pulumi", "up", "--yes", "--skip-preview", "--non-interactive", "--stack", self.stack, *targets)

    def _close(self) -> None:
        for node in self._nodes():
            if not node.get("spec", {}).get("unschedulable"):
                self._set(node, closed=True)
        self.watching.tell(f"the nodes of {self.plan.group} take no new pods")

    def _open(self) -> None:
        """Those of the plan that are still there, and closed by a roll: successors of replaced nodes never were."""
        for node in self._nodes():
            if CORDONED_BY_ROLL in (node["metadata"].get("annotations") or {}):
                self._set(node, closed=False)

    def _nodes(self) -> list[Object]:
        return [node for node in self.kubernetes.list(NODES) or () if node["metadata"]["name"] in self.plan.nodes]

    def _set(self, node: Object, *, closed: bool) -> None:
        mark = {"annotations": {CORDONED_BY_ROLL: "true" if closed else None}}
        self.kubernetes.patch(NODES, node["metadata"]["name"], "", {"metadata": mark, "spec": {"unschedulable": closed or None}})

    def _refuse_others(self) -> None:
        """Raises CommandError for what holds devices of the nodes and is in none of the plan's jobs: it came after the plan was made, say."""
        own = {str(pod["metadata"].get("uid")) for job in self.plan.jobs for pod in job.job.pods}
        others = sorted(
            f"{pod['metadata'].get('namespace', '')}/{pod['metadata']['name']}"
            for pod in self.kubernetes.list(PODS) or ()
            if str(pod["metadata"].get("uid")) not in own and self._is_here(pod) and _holds_devices(pod)
        )
        if others:
            self._open()
            raise CommandError(
                f"{', '.join(others)} runs on {self.plan.group} and is in no job of the plan: nothing was replaced",
                "the same command again sees a job that has just begun; a pod of no job is ended by whoever started it",
            )

    def _wait_for_jobs(self) -> None:
        waited = 0.0
        while True:
            there = [job.job.reference for job in self.plan.jobs if self._is_on_nodes(job.job)]
            if not there:
                return
            if waited >= self.wait_s:
                self._open()
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
        self.watching.tell(f"{job.reference} is asked to stop, and has {plan.grace_s} s")
        for _ in range((plan.grace_s + MARGIN_S) // PAUSE_S):
            if not self._is_on_nodes(job):
                break
            self.watching.pause(PAUSE_S)
        else:
            raise CommandError(
                f"{job.reference} has not left {self.plan.group}: nothing was replaced", "run the same command again, it goes on from here"
            )
        step = log.saved_step() if log is not None else None
        if step is not None:
            self.watching.tell(f"{job.reference} has saved step {step} in {plan.folder}")
        elif plan.saves:
            self.watching.tell(f"no worker of {job.reference} said that it saved: the last checkpoint in {plan.folder} counts")

    def _is_on_nodes(self, job: FoundJob) -> bool:
        own = {str(pod["metadata"].get("uid")) for pod in job.pods}
        return any(
            str(pod["metadata"].get("uid")) in own and self._is_here(pod)
            for pod in self.kubernetes.list(PODS, namespace=job.namespace) or ()
        )

    def _is_here(self, pod: Object) -> bool:
        """Whether a pod runs on one of the nodes."""
        return pod["spec"].get("nodeName") in self.plan.nodes and pod.get("status", {}).get("phase") not in ("Succeeded", "Failed")

    def _start(self, stopped: Sequence[tuple[Resource, Object]]) -> None:
        for resource, item in stopped:
            start(self.kubernetes, resource, item)
            self.watching.tell(f"{resource.qualified}/{item['metadata']['name']} starts again")


def _holds_devices(pod: Object) -> bool:
    """Whether it asks for Neuron devices or cores, and no DaemonSet made it."""
    parts = [*(pod["spec"].get("initContainers") or ()), *(pod["spec"].get("containers") or ())]
    asked = {name for part in parts for name in (part.get("resources") or {}).get("limits") or {}}
    owners = {owner.get("kind") for owner in pod["metadata"].get("ownerReferences") or ()}
    return any(name.startswith(NEURON_RESOURCE) for name in asked) and "DaemonSet" not in owners
