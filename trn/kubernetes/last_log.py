"""What a job that is asked to end says of its checkpoint."""

import threading
from dataclasses import dataclass, field

from training.metrics_line import Event, parse
from trn.cli.errors import CommandError
from trn.kubernetes.cancellation import CancelPlan
from trn.kubernetes.client import Kubernetes

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
