"""Carries a cancellation out: asks for the end, follows what a worker says of its checkpoint, waits until all is gone."""

import threading
from collections.abc import Callable
from dataclasses import dataclass, field

from operations.errors import CommandError
from operations.jobs.cancel.plan import CancelPlan
from operations.kube.api import Kubernetes
from operations.kube.job_pods import PODS
from training.metrics_line import Event, parse

PAUSE_S, MARGIN_S = 2, 120
"""Between two looks; and how much longer than the grace is waited: the end of 64 pods takes Kubernetes a while."""
LAST_WORDS_S = 10
"""How long the log may take to end when the pods are gone."""


@dataclass(frozen=True)
class Outcome:
    """What became of it."""

    is_gone: bool
    saved_step: int | None
    """Step of the checkpoint that was written on request; None where no worker said so."""


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


def cancel_job(plan: CancelPlan, kubernetes: Kubernetes, pause: Callable[[float], None], tell: Callable[[str], None]) -> Outcome:
    """End the job. Raises CommandError where another one has its name by now, and for what the server refuses."""
    job = plan.job
    log = LastLog(kubernetes, log_path(plan), plan.grace_s + MARGIN_S).start() if plan.saves else None
    kubernetes.delete(plan.resource, job.name, job.namespace, uid=plan.uid)
    tell(f"deleting {job.reference}")
    if plan.now:
        for pod in job.pods:
            metadata = pod["metadata"]
            if plan.belongs_to_another(pod):
                tell(f"pod {metadata['name']} bears the job's label and was not shown to be made by it: it is left")
                continue
            kubernetes.delete(PODS, metadata["name"], job.namespace, uid=metadata.get("uid") or "", grace_s=plan.grace_s)
    try:
        is_gone = _wait(plan, kubernetes, pause)
    except KeyboardInterrupt:
        tell(
            f"stopped while waiting for the end of {job.reference}: it is being deleted, and its pods have {plan.grace_s} s from the request"
        )
        raise
    step = log.saved_step() if log is not None else None
    if log is not None and log.wrong:
        tell(f"the log of its first pod could not be read to the end: {log.wrong}")
    return Outcome(is_gone, step)


def _wait(plan: CancelPlan, kubernetes: Kubernetes, pause: Callable[[float], None]) -> bool:
    for _ in range((plan.grace_s + MARGIN_S) // PAUSE_S):
        if not _is_there(plan, kubernetes):
            return True
        pause(PAUSE_S)
    return not _is_there(plan, kubernetes)


def _is_there(plan: CancelPlan, kubernetes: Kubernetes) -> bool:
    """Whether the job, or a pod of it, is still there: not one of its name that was made since."""
    uids = {str(pod["metadata"].get("uid")) for pod in plan.job.pods if not plan.belongs_to_another(pod)}
    jobs = kubernetes.list(plan.resource, namespace=plan.job.namespace) or ()
    if any(item["metadata"]["name"] == plan.job.name and plan.uid in ("", item["metadata"].get("uid")) for item in jobs):
        return True
    return any(str(pod["metadata"].get("uid")) in uids for pod in kubernetes.list(PODS, namespace=plan.job.namespace) or ())


def log_path(plan: CancelPlan) -> str:
    """Where the API serves the log of the first pod that runs, from now on."""
    pod = next(pod for pod in plan.job.pods if pod.get("status", {}).get("phase") == "Running")
    name, container = pod["metadata"]["name"], pod["spec"]["containers"][0]["name"]
    return f"/api/v1/namespaces/{plan.job.namespace}/pods/{name}/log?container={container}&follow=true&sinceSeconds=1"
