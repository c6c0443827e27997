"""What the probes of one running container say together."""

import threading
from collections.abc import Callable

from tests.kubernetes.kubelet.pods import Object
from tests.kubernetes.kubelet.prober import Prober
from tests.kubernetes.kubelet.probes import Reach, Verdict, timing


class Health:
    """One attempt of one container. Probes run in threads of their own until `over`."""

    def __init__(self, spec: Object, reach: Reach, over: threading.Event, say: Callable[[str], None], wake: Callable[[], None]) -> None:
        """`say` gets what a failed check said; `wake` is called when anything that counts has changed."""
        self._spec, self._reach, self._over, self._say, self._wake = spec, reach, over, say, wake
        self._verdicts: dict[str, Verdict] = {}
        self.failed: str | None = None
        """The probe for which the container must be started again."""
        self._begin("startup") if "startupProbe" in spec else self._begin("readiness", "liveness")

    @property
    def started(self) -> bool:
        """The startup probe has passed, or there is none."""
        return self._holds("startup")

    @property
    def ready(self) -> bool:
        """Started, and the readiness probe holds, or there is none."""
        return self.started and self._holds("readiness")

    def _holds(self, kind: str) -> bool:
        if f"{kind}Probe" not in self._spec:
            return True
        return kind in self._verdicts and self._verdicts[kind].holds

    def _begin(self, *kinds: str) -> None:
        for kind in kinds:
            if f"{kind}Probe" in self._spec:
                Prober(
                    kind, self._spec, self._reach, self._over, lambda verdict, said, kind=kind: self._report(kind, verdict, said)
                ).start()

    def _report(self, kind: str, verdict: Verdict, said: str | None) -> None:
        before = self._holds(kind)
        self._verdicts[kind] = verdict
        if said is not None:
            self._say(f"{kind.capitalize()} probe failed: {said}")
        if kind == "startup" and verdict.holds:
            self._begin("readiness", "liveness")
        failed = verdict.last is False and verdict.run >= timing(self._spec[f"{kind}Probe"]).failure_count
        if failed and kind != "readiness":
            self.failed = kind
        if failed or before != verdict.holds:
            self._wake()
