"""Events of pods, in the kubelet's words: one object for each thing said, with a count."""

import hashlib
import logging
import threading
import time
from collections.abc import Callable

from tests.kubernetes.kubelet.api import Api, Gone, Refused
from tests.kubernetes.kubelet.pods import Object, uid
from tests.kubernetes.kubelet.times import as_text

_log = logging.getLogger(__name__)


class Events:
    """Writes events of one node's pods. What the API server does not take is only noted: events are hints."""

    def __init__(self, api: Api, node: str, clock: Callable[[], float] = time.time) -> None:
        self._api, self._node, self._clock = api, node, clock
        self._counts: dict[str, int] = {}
        self._lock = threading.Lock()

    def say(self, pod: Object, kind: str, reason: str, message: str) -> None:
        """`kind` is Normal or Warning. The same said again raises the count."""
        key = event_name(pod, reason, message)
        with self._lock:
            self._counts[key] = count = self._counts.get(key, 0) + 1
        path = f"/api/v1/namespaces/{pod['metadata']['namespace']}/events"
        try:
            if count > 1:
                self._api.patch(f"{path}/{key}", {"count": count, "lastTimestamp": as_text(self._clock())})
            else:
                self._api.create(path, event(pod, self._node, kind, reason, message, self._clock()))
        except (Refused, Gone) as error:
            _log.info("event %s of %s: %s", reason, pod["metadata"]["name"], error)


def event_name(pod: Object, reason: str, message: str) -> str:
    """Equal for what is equal."""
    return f"{pod['metadata']['name']}.{hashlib.sha256(f'{uid(pod)} {reason} {message}'.encode()).hexdigest()[:16]}"


def event(pod: Object, node: str, kind: str, reason: str, message: str, now_s: float) -> Object:
    """The object."""
    return {
        "metadata": {"name": event_name(pod, reason, message), "namespace": pod["metadata"]["namespace"]},
        "involvedObject": {"apiVersion": "v1", "kind": "Pod", **{key: pod["metadata"][key] for key in ("name", "namespace", "uid")}},
        "reason": reason,
        "message": message[:1024],
        "type": kind,
        "source": {"component": "kubelet", "host": node},
        "reportingComponent": "kubelet",
        "reportingInstance": node,
        "firstTimestamp": as_text(now_s),
        "lastTimestamp": as_text(now_s),
        "count": 1,
    }
