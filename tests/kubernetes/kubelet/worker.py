"""One pod on its node: a thread that looks, decides by the pure functions, acts, writes the status, and waits for the next event."""

import logging
import os
import select
import threading
from contextlib import suppress

from tests.kubernetes.kubelet import api, lifecycle, volumes
from tests.kubernetes.kubelet.environment import MissingReference
from tests.kubernetes.kubelet.fields import UnknownField
from tests.kubernetes.kubelet.images import NotPulled
from tests.kubernetes.kubelet.lifecycle import Ending, Plan
from tests.kubernetes.kubelet.mounts import BadSubPath
from tests.kubernetes.kubelet.names import hosts_file, services_seen
from tests.kubernetes.kubelet.network import NetworkFailed
from tests.kubernetes.kubelet.node import Node
from tests.kubernetes.kubelet.pods import Object, full_title, grace_s, is_deleted, is_over, title, uid
from tests.kubernetes.kubelet.preparation import prepare
from tests.kubernetes.kubelet.running import PodContainers
from tests.kubernetes.kubelet.sandbox import Sandbox, find_sandbox
from tests.kubernetes.kubelet.setbacks import RETRY_S, setback
from tests.kubernetes.kubelet.status import Place, pod_status
from tests.kubernetes.kubelet.times import as_seconds

_log = logging.getLogger(__name__)


class PodWorker(threading.Thread):
    """Lives until the pod's object is gone, or its node is."""

    def __init__(self, pod: Object, node: Node) -> None:
        super().__init__(daemon=True, name=title(pod))
        self.pod, self._node, self._machine = pod, node, node.machine
        self._folder = node.machine.store.pod(uid(pod))
        self._naming = threading.Lock()
        self._bell = os.eventfd(0, os.EFD_NONBLOCK | os.EFD_CLOEXEC)
        self.containers = PodContainers(pod, node, self._folder, self.wake)
        self._sandbox: Sandbox | None = None
        self._address: str | None = None
        self._ending: Ending | None = None
        self._removed = False
        self._written: Object | None = None
        self._held: dict[str, float] = {}
        since = (pod.get("status") or {}).get("startTime")
        self._since_s = as_seconds(since) if since else self._machine.clock()

    def wake(self) -> None:
        """Make the thread look again."""
        os.eventfd_write(self._bell, 1)

    def update(self, pod: Object) -> None:
        """The pod's object has changed."""
        if int(pod["metadata"]["resourceVersion"]) > int(self.pod["metadata"]["resourceVersion"]):
            self.pod = pod
        self.wake()

    def remove(self) -> None:
        """The pod's object is gone from the API server."""
        self._removed = True
        self.wake()

    def lose(self) -> None:
        """The machine is gone: `node.lost` is set. Everything of the pod ends at once, and nothing is written any more."""
        self.containers.lose()
        sandbox = self._sandbox or find_sandbox(self._folder)
        if sandbox:
            sandbox.holder.kill()
        self.wake()

    def rename(self) -> None:
        """Names of the cluster have changed. For any thread: the last one to come writes what is newest."""
        with self._naming:
            if self._sandbox and self._folder.hosts.exists():
                self._folder.write_hosts(hosts_file(self.pod, self._sandbox.address, self._machine.names.now))

    def run(self) -> None:
        """The pod's life."""
        known = find_sandbox(self._folder)
        if known:
            self._address = known.address
            self._sandbox = known if known.holder.alive else None
            self.rename()
            self.containers.recall(known)
        if not is_over(self.pod):
            self._live()
        if self._node.lost.is_set():
            self.lose()
            return
        if self._sandbox:
            self._sandbox.holder.kill()
        self._rest()

    def _live(self) -> None:
        """Until nothing runs and nothing will."""
        while not self._node.lost.is_set():
            self.containers.observe()
            now_s = self._machine.clock()
            self._ending = self._how_to_end(now_s)
            plan = lifecycle.plan(self.containers.records, full_title(self.pod), now_s, self._machine.back_off, self._ending)
            for name, why in plan.wait.items():
                record = self.containers.records[name]
                if record.state != why:
                    self.containers.say("Warning", "BackOff", f"Back-off restarting failed container {name} in pod {full_title(self.pod)}")
                self.containers.records[name] = record.waits(why.reason, why.message)
            acted = self._act(plan, now_s)
            written = self._write(plan.over)
            if plan.over and written:
                return
            if not acted or not written:
                self._wait(plan, now_s, written)

    def _how_to_end(self, now_s: float) -> Ending | None:
        """Whether the whole pod is to end, and how; the first reason stays."""
        if self._removed:
            return Ending(1)
        if self._ending:
            return self._ending
        if is_deleted(self.pod):
            return Ending(grace_s(self.pod))
        try:
            volumes.check_volumes(self.pod)
        except volumes.Refused as error:
            return Ending(0, "Failed", "UnsupportedVolume", str(error))
        limit_s = lifecycle.deadline_s(self.pod, self._since_s)
        return lifecycle.deadline_ending(grace_s(self.pod)) if limit_s is not None and now_s >= limit_s else None

    def _act(self, plan: Plan, now_s: float) -> bool:
        """Do what the plan says; True if anything changed."""
        if self._removed:
            # Its grace ended with its object.
            self.containers.kill_stopping()
        for name in plan.stop:
            self.containers.say("Normal", "Killing", f"Stopping container {name}")
            self.containers.stop(name, self._ending.grace_s if self._ending else grace_s(self.pod))
        wanted = [name for name in plan.start if self._held.get(name, 0.0) <= now_s]
        if wanted and self._sandbox is None:
            self._prepare(wanted)
        if self._sandbox is None:
            return bool(plan.stop)
        for name in wanted:
            self._start(name, self._sandbox)
        return bool(plan.stop or wanted)

    def _prepare(self, wanted: list[str]) -> None:
        """Make what all containers need; what cannot be had now is tried again."""
        try:
            self._sandbox = prepare(self.pod, self._node, self._folder)
            self._address = self._sandbox.address
            # Names may have changed since they were written.
            self.rename()
        except (MissingReference, UnknownField) as error:
            self.containers.say("Warning", "FailedMount", f"MountVolume.SetUp failed: {error}")
            self._hold(wanted, RETRY_S)
        except (volumes.Refused, NetworkFailed, OSError) as error:
            self.containers.say("Warning", "FailedCreatePodSandBox", str(error))
            self._hold(wanted, RETRY_S)
        except (api.Refused, api.Gone) as error:
            _log.warning("%s: %s", self.name, error)
            self._hold(wanted, RETRY_S)

    def _start(self, name: str, sandbox: Sandbox) -> None:
        """Start a container, or note why it cannot be."""
        records = self.containers.records
        services = services_seen(self.pod, self._machine.names.now)
        try:
            self.containers.start(name, sandbox, self._folder.places(self.pod), services)
        except (NotPulled, MissingReference, UnknownField, BadSubPath, OSError) as error:
            found = setback(error, records[name].state)
            records[name] = records[name].waits(found.waiting.reason, found.waiting.message)
            self.containers.say("Warning", "Failed", found.event)
            self._hold([name], found.retry_s)
        except (api.Refused, api.Gone) as error:
            _log.warning("%s: %s", self.name, error)
            self._hold([name], RETRY_S)

    def _hold(self, names: list[str], seconds: float) -> None:
        self._held |= dict.fromkeys(names, self._machine.clock() + seconds)

    def _write(self, over: bool) -> bool:
        """Write the status if it is another one; False if that must be tried again."""
        place = Place(self._node.host, self._address, self._since_s)
        status = pod_status(self.pod, self.containers.records, place, self._machine.clock(), self._ending, over)
        if status == self._written or self._removed or self._node.lost.is_set():
            return True
        try:
            answer = self._machine.api.patch(f"{_path(self.pod)}/status", {"metadata": {"uid": uid(self.pod)}, "status": status})
        except (api.Refused, api.Gone) as error:
            _log.warning("status of %s: %s", self.name, error)
            return False
        self._written = status
        if answer is None:
            self._removed = True
        else:
            self.update(answer)
        return True

    def _wait(self, plan: Plan, now_s: float, written: bool) -> None:
        """Until something happens: a container ends, a probe changes its mind, the object changes, a time comes."""
        times = [*self._held.values()] if plan.start else []
        times += [each for each in (plan.wake_at_s, lifecycle.deadline_s(self.pod, self._since_s)) if each is not None]
        later = [each - now_s for each in times if each > now_s]
        if not written:
            later.append(RETRY_S)
        self._sleep(min(later, default=None))

    def _sleep(self, seconds: float | None) -> None:
        poll, ends = select.poll(), self.containers.ends()
        for descriptor in (self._bell, *ends):
            poll.register(descriptor, select.POLLIN)
        poll.poll(None if seconds is None else seconds * 1000 + 1)
        for descriptor in ends:
            os.close(descriptor)
        with suppress(BlockingIOError):
            os.eventfd_read(self._bell)

    def _rest(self) -> None:
        """The pod is over; its logs stay until its object goes."""
        asked = False
        while not self._removed and not self._node.lost.is_set():
            if is_deleted(self.pod) and not asked:
                asked = self._confirm()
            self._sleep(None if asked or not is_deleted(self.pod) else RETRY_S)
        if self._removed:
            self._machine.addresses.free(uid(self.pod))
            self._folder.remove()

    def _confirm(self) -> bool:
        """Tell the API server that nothing of the pod is left; False if that must be tried again."""
        body = {"apiVersion": "v1", "kind": "DeleteOptions", "gracePeriodSeconds": 0, "preconditions": {"uid": uid(self.pod)}}
        try:
            self._machine.api.delete(_path(self.pod), body)
        except (api.Refused, api.Gone) as error:
            _log.warning("end of %s: %s", self.name, error)
            return isinstance(error, api.Refused) and error.status == 409
        return True


def _path(pod: Object) -> str:
    return f"/api/v1/namespaces/{pod['metadata']['namespace']}/pods/{pod['metadata']['name']}"
