"""The containers of one pod on this machine: started, observed, stopped. Decisions are made elsewhere; records say what is so."""

import socket
import threading
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path

from tests.kubernetes.kubelet import attempts, hooks
from tests.kubernetes.kubelet.attempts import Attempt, Program
from tests.kubernetes.kubelet.contents import Contents
from tests.kubernetes.kubelet.environment import Surroundings, container_environment
from tests.kubernetes.kubelet.expansion import expand
from tests.kubernetes.kubelet.health import Health
from tests.kubernetes.kubelet.images import find_image, kept_of_tmp, process_arguments
from tests.kubernetes.kubelet.mounts import container_mounts
from tests.kubernetes.kubelet.node import LOOPBACK, Node
from tests.kubernetes.kubelet.pods import Object, containers, grace_s, uid
from tests.kubernetes.kubelet.probes import Reach
from tests.kubernetes.kubelet.processes import pidfd
from tests.kubernetes.kubelet.records import Running, Terminated, new_records
from tests.kubernetes.kubelet.sandbox import Sandbox
from tests.kubernetes.kubelet.store import PodFolder


class PodContainers:
    """Used by the pod's own thread; `log` and `lose` also by others."""

    def __init__(self, pod: Object, node: Node, folder: PodFolder, wake: Callable[[], None]) -> None:
        """`wake` makes the pod's thread look again."""
        self._pod, self._node, self._folder, self._wake = pod, node, folder, wake
        self._specs = {container["name"]: container for _, container in containers(pod)}
        self._attempts: dict[str, Attempt] = {}
        self._health: dict[str, Health] = {}
        self._address = ""
        self.records = new_records(pod)

    def recall(self, sandbox: Sandbox) -> None:
        """Find the attempts of an earlier kubelet process; those that run go on, and are probed from the start."""
        self._address = sandbox.address
        for name in self.records:
            for number in self._folder.attempts(name)[-2:]:
                attempt = attempts.find(self._folder.attempt(name, number), number)
                # An end that was not seen yet is noted as any other.
                self._note_start(name, attempt)
                if not attempt.shim.alive and number != self._folder.attempts(name)[-1]:
                    self.observe()
                elif attempt.shim.alive:
                    self._examine(name, attempt)

    def observe(self) -> None:
        """Bring the records up to date: who ended, who is started and ready, who must be stopped for a probe."""
        for name, attempt in self._attempts.items():
            record, spec = self.records[name], self._specs[name]
            if not record.runs:
                continue
            ended = attempt.ended(spec.get("terminationMessagePolicy") == "FallbackToLogsOnError")
            if ended:
                self._note_end(name, attempt, ended)
                continue
            health = self._health.get(name)
            self.records[name] = replace(record, started=health is None or health.started, ready=health is None or health.ready)
            if health and health.failed and not record.stopping:
                probe = spec[f"{health.failed}Probe"]
                self.say("Normal", "Killing", f"Container {name} failed {health.failed} probe, will be restarted")
                self.stop(name, probe.get("terminationGracePeriodSeconds") or grace_s(self._pod))

    def start(self, name: str, sandbox: Sandbox, places: Mapping[str, Path], services: tuple[Object, ...]) -> None:
        """Start one container. Raises NotPulled, MissingReference, UnknownField, BadSubPath, api.Refused, api.Gone."""
        spec, machine = self._specs[name], self._node.machine
        self._address = sandbox.address
        image = find_image(spec["image"], machine.images)
        around = Surroundings(
            {"podIP": sandbox.address, "hostIP": self._node.host},
            Contents(machine.api, self._pod).text_of,
            self._node.allocatable,
            image.environment,
            services,
        )
        values = container_environment(self._pod, spec, around)
        number = max(self._folder.attempts(name), default=-1) + 1
        folder = self._folder.attempt(name, number)
        program = Program(
            [expand(each, values) for each in process_arguments(spec, image)],
            values,
            spec.get("workingDir") or image.working_folder,
            container_mounts(spec, places, self._folder.own_files(spec, folder), values),
            sandbox.holder.pid,
            bool((spec.get("securityContext") or {}).get("readOnlyRootFilesystem")),
            kept_of_tmp(values),
        )
        attempt = attempts.start(folder, number, program, machine.store.folder, machine.life)
        self._note_start(name, attempt)
        if attempt.started_at_s is not None:
            self.say("Normal", "Started", f"Container started: {name}")
            self._examine(name, attempt)
            threading.Thread(target=hooks.after_start, args=(spec, attempt, self._reach(attempt), self.say), daemon=True).start()

    def stop(self, name: str, grace_s: float) -> None:
        """Ask a container to end, and end it when its time is over; returns at once."""
        self.records[name] = replace(self.records[name], stopping=True)
        attempt = self._attempts[name]
        wanted = (self._specs[name], attempt, self._reach(attempt), grace_s, self.say)
        threading.Thread(target=hooks.terminate, args=wanted, daemon=True).start()

    def lose(self) -> None:
        """End everything without a word, as when the machine is gone."""
        for attempt in list(self._attempts.values()):
            attempt.over.set()
            attempt.lose()

    def kill_stopping(self) -> None:
        """Give no more time to those that were asked to end."""
        for name, attempt in self._attempts.items():
            if self.records[name].stopping:
                attempt.kill()

    def ends(self) -> list[int]:
        """Descriptors that become readable when a container ends, for the caller to close."""
        running = [attempt for name, attempt in self._attempts.items() if self.records[name].runs]
        found = [pidfd(attempt.shim) for attempt in running]
        if None in found:
            self._wake()
        return [each for each in found if each is not None]

    def log(self, name: str, previous: bool) -> Attempt | None:
        """The attempt whose log is asked for: the last one, or the one before it. None where there is none."""
        numbers = self._folder.attempts(name)[: -1 if previous else None]
        if not numbers:
            return None
        last = self._attempts.get(name)
        return last if last and last.number == numbers[-1] else attempts.find(self._folder.attempt(name, numbers[-1]), numbers[-1])

    def say(self, kind: str, reason: str, message: str) -> None:
        """An event of the pod, as long as the node is there."""
        if not self._node.lost.is_set():
            self._node.events.say(self._pod, kind, reason, message)

    def _note_start(self, name: str, attempt: Attempt) -> None:
        record, self._attempts[name] = self.records[name], attempt
        self._health.pop(name, None)
        self.records[name] = replace(
            record,
            state=Running(attempt.started_at_s or self._node.machine.clock()),
            last=record.ended or record.last,
            restarts=attempt.number,
            started=False,
            ready=False,
            stopping=False,
            container_id=f"{attempt.main.pid}/{uid(self._pod)}/{name}/{attempt.number}",
        )

    def _note_end(self, name: str, attempt: Attempt, ended: Terminated) -> None:
        attempt.over.set()
        record = self.records[name]
        crashes = self._node.machine.back_off.crashes_after(record.crashes, ended.finished_at_s - ended.started_at_s)
        self.records[name] = replace(record, state=ended, crashes=crashes, started=False, ready=False, stopping=False)
        if ended.reason == "StartError":
            self.say("Warning", "Failed", f"Error: {ended.message}")

    def _examine(self, name: str, attempt: Attempt) -> None:
        """Begin its probes."""
        self._health[name] = Health(
            self._specs[name], self._reach(attempt), attempt.over, lambda text: self.say("Warning", "Unhealthy", text), self._wake
        )

    def _reach(self, attempt: Attempt) -> Reach:
        if self._pod["spec"].get("hostNetwork"):
            return Reach(LOOPBACK, attempt.run, lambda address, port, timeout_s: socket.create_connection((address, port), timeout_s))
        return Reach(self._address, attempt.run, self._node.machine.network.connect)
