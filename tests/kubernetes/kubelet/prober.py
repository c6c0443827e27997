"""One probe of one running container, tried again and again until the container ends."""

import threading
from collections.abc import Callable

from tests.kubernetes.kubelet.pods import Object
from tests.kubernetes.kubelet.probes import CheckFailed, Reach, Verdict, check, first_verdict, timing


class Prober(threading.Thread):
    """Runs until the container is over; a startup probe only until it has passed."""

    def __init__(
        self,
        kind: str,
        container: Object,
        reach: Reach,
        over: threading.Event,
        report: Callable[[Verdict, str | None], None],
    ) -> None:
        """`report` gets the verdict after each answer, and what the check said if it failed."""
        super().__init__(daemon=True)
        self._kind, self._container, self._reach, self._over, self._report = kind, container, reach, over, report

    def run(self) -> None:
        """Try, report, wait."""
        probe = self._container[f"{self._kind}Probe"]
        numbers, verdict = timing(probe), first_verdict(self._kind)
        if self._over.wait(numbers.initial_delay_s):
            return
        while True:
            said = None
            try:
                check(probe, self._container, self._reach, numbers.timeout_s)
            except CheckFailed as error:
                said = str(error)
            if self._over.is_set():
                return
            verdict = verdict.after(said is None, numbers)
            self._report(verdict, said)
            if (self._kind == "startup" and verdict.holds) or self._over.wait(numbers.period_s):
                return
