"""What a cancellation does, as a value that is shown before it is done. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass

from facts.kubernetes_kinds import Resource
from trn.kubernetes.client import Object
from trn.kubernetes.jobs.job import FoundJob, makers_of

CHECKPOINTS = "TRN_CHECKPOINTS"
"""Variable with the folder of a job's checkpoints (training/environment.py)."""
DEFAULT_GRACE_S = 30
"""Kubernetes' own `terminationGracePeriodSeconds`."""
AT_ONCE_S = 1
"""Grace of a pod that gets none: with 0 the API server would forget it before kubelet has ended it (Kubernetes, pod life cycle)."""


@dataclass(frozen=True)
class CancelPlan:
    """One job that is to end."""

    job: FoundJob
    now: bool
    """Without time for a checkpoint."""
    owners: Mapping[str, frozenset[str]]
    """Uids of makers, by uid, of all that was looked at."""

    @property
    def resource(self) -> Resource:
        """Its kind."""
        return self.job.kind.resource

    @property
    def uid(self) -> str:
        """Kubernetes' own id of it."""
        return str(self.job.item["metadata"].get("uid") or "")

    def own(self, owners: Mapping[str, frozenset[str]]) -> set[str]:
        """Uids of the job and of all that it made, so far as makers of makers show it: a label can be written by every user.

        A TrainJob's pods are a Job's, which is a JobSet's, which is the TrainJob's. Where one of them is of a kind that is not looked at,
        such as the StatefulSets of a LeaderWorkerSet, the pod is left to whoever made it. A pod with the job's label that nobody made is its own.
        """
        found = {self.uid, *(str(pod["metadata"].get("uid")) for pod in self.job.pods if not makers_of(pod))}
        while more := {uid for uid, makers in owners.items() if makers & found} - found:
            found |= more
        return found

    @property
    def own_pods(self) -> list[Object]:
        """Those of its pods that nobody else made."""
        own = self.own(self.owners)
        return [pod for pod in self.job.pods if str(pod["metadata"].get("uid")) in own]

    @property
    def grace_s(self) -> int:
        """Seconds from the request to stop to the end of a pod."""
        return AT_ONCE_S if self.now else int(self.job.pod_spec.get("terminationGracePeriodSeconds", DEFAULT_GRACE_S))

    @property
    def folder(self) -> str:
        """Where it keeps checkpoints; empty for nowhere that is known."""
        return self.job.environment.get(CHECKPOINTS, "")

    @property
    def saves(self) -> bool:
        """Whether a checkpoint is to be expected: it keeps some, it runs, and it is given the time."""
        return bool(self.folder) and self.job.running > 0 and not self.now

    @property
    def lines(self) -> list[str]:
        """What will be done, for a person."""
        job = self.job
        head = (
            f"{job.reference} in {job.namespace} is {job.phase}, {job.running} of {job.wanted} nodes run; it will be deleted with its pods"
        )
        if not job.running:
            return [head]
        if self.saves:
            return [head, f"its workers are asked for a checkpoint in {self.folder} first, and have {self.grace_s} s for it"]
        if self.folder:
            return [head, f"what it trained since its last checkpoint in {self.folder} is lost: --now gives it no time for another one"]
        return [head, f"it keeps no checkpoints that are known: what it trained may be lost; its pods have {self.grace_s} s to end"]
