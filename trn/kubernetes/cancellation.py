"""What a cancellation does, as a value that is shown before it is done, and what a job that is asked to end says of its checkpoint."""

import threading
from collections.abc import Mapping
from dataclasses import dataclass, field

from facts.kubernetes_kinds import Resource
from training.metrics_line import Event, parse
from trn.cli.errors import CommandError
from trn.kubernetes.client import Kubernetes, Object
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


PAUSE_S, MARGIN_S = 2, 120
"""Between two looks; and how much longer than the grace is waited: the end of 64 pods takes Kubernetes a while."""
LAST_WORDS_S = 10
"""How long the log may take to end when the pods are gone."""


@dataclass
class LastLog:
    """What a pod says from now to its end. A pod is gone a moment after its last line, so its log is followed and not asked for again."""

    kubernetes: Kubernetes
    path: str
    timeout_s: float
    text: str = ""
    wrong: str = ""
    thread: threading.Thread | None = field(default=None)

    def start(self) -> "LastLog":
        """Begin to follow it."""
        # Of no use to the end of this process: Ctrl-C must not wait for it.
        self.thread = threading.Thread(target=self._read, daemon=True)
        self.thread.start()
        return self

    def _read(self) -> None:
        try:
            self.text = self.kubernetes.text(self.path, timeout_s=self.timeout_s) or ""
        except CommandError as error:
            self.wrong = str(error.args[0])

    def saved_step(self) -> int | None:
        """Step of the checkpoint that was written after the request to stop."""
        if self.thread is not None:
            self.thread.join(LAST_WORDS_S)
        return saved_on_request(self.text)


def saved_on_request(log: str) -> int | None:
    """Step of the newest checkpoint that a log tells of after its `stopping`, or as `stopped`; None for none."""
    asked, step = False, None
    for said in map(parse, log.splitlines()):
        if isinstance(said, Event):
            asked = asked or said.event == "stopping"
            if said.step is not None and (said.event == "stopped" or (asked and said.event == "saved")):
                step = said.step
    return step


def log_path(plan: CancelPlan) -> str:
    """Where the API serves the log of the first pod that runs, from now on."""
    pod = next(pod for pod in plan.job.pods if pod.get("status", {}).get("phase") == "Running")
    name, container = pod["metadata"]["name"], pod["spec"]["containers"][0]["name"]
    return f"/api/v1/namespaces/{plan.job.namespace}/pods/{name}/log?container={container}&follow=true&sinceSeconds=1"
