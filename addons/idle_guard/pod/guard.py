"""The guard: looks every few minutes, sends a message about idle Neuron nodes, and by choice sets their groups to zero.

A call that fails ends the look: nothing is changed, the reason is printed, and the next look begins anew.
"""

import argparse
import json
import os
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from .aws import Aws, AwsError
from .decision import Decision, Group, Idle, Memory, Seen, Settings, decide, subject, text
from .gangs import waiting
from .kubernetes import ApiError, Kubernetes, nodes_of, pods_of
from .notebook import Message, Notebook

EVERY_S = 300
ACCOUNT = Path("/var/run/secrets/kubernetes.io/serviceaccount")
MEMORY = "idle-guard-memory"


def settings_of(given: Mapping[str, Any]) -> Settings:
    """What the program wrote for the guard."""
    groups = tuple(Group(**entry) for entry in given["groups"])
    stays = tuple((what, usd) for what, usd in given["stays"])
    return Settings(given["cluster"], given["region"], given["idle_hours"], given["empties"], groups, stays)


class Guard:
    """One cluster's guard. `say` takes lines for the log."""

    def __init__(
        self, settings: Settings, topic: str, namespace: str, kubernetes: Kubernetes, aws: Aws, clock: Callable[[], float]
    ) -> None:
        self._settings, self._topic = settings, topic
        self._kubernetes, self._aws, self._clock = kubernetes, aws, clock
        self._notebook = Notebook(kubernetes, namespace, MEMORY)

    def look(self, say: Callable[[str], None] = print) -> bool:
        """One look; whether all went well."""
        try:
            memory = self._notebook.read()
            decision = decide(self._settings, self._seen(), memory)
            # Written before anything is done: of two guards one is refused here, and does nothing.
            self._notebook.write(decision.memory)
            is_sent = self._send_rest(decision, say)
            if not decision.tell:
                say(self._words(decision))
                return is_sent
            # What came meanwhile counts: a pod that was submitted a second ago is seen here. `told` is left out, it is of this look.
            again = decide(
                self._settings, self._seen(), {name: _as_before(entry, memory.get(name)) for name, entry in decision.memory.items()}
            )
            return self._act(again, decision, say) and is_sent
        except (ApiError, AwsError, OSError, ValueError, KeyError) as error:
            say(f"nothing was changed: {type(error).__name__}: {error}")
            return False

    def _seen(self) -> Seen:
        nodes = nodes_of(self._kubernetes.listed("/api/v1/nodes"))
        pods = tuple(pods_of(self._kubernetes.listed("/api/v1/pods"), nodes))
        gangs = tuple(waiting(self._kubernetes))
        there = {node.group for node in nodes.values()}
        scaling = {
            group.name: self._aws.scaling(self._settings.cluster, group.name)
            for group in self._settings.groups
            if self._settings.empties and not group.keeps and group.name in there
        }
        return Seen(self._clock(), tuple(nodes.values()), pods, gangs, scaling)

    def _act(self, again: Decision, first: Decision, say: Callable[[str], None]) -> bool:
        told = [item for item in again.tell if item.group in {one.group for one in first.tell}]
        if not told:
            say("the nodes came into use between two looks: nothing was changed")
            # A pod that is deleted before the next look has used them all the same.
            self._notebook.write(again.memory)
            return True
        kept = self._notebook.unsent
        if any(item.empty for item in told):
            # Before the first call: an end of the pod, or a refusal of SNS, must not leave a group empty without a word.
            draft = Message(subject(self._settings, told), text(self._settings, told, {}, self._clock(), is_done=False))
            self._notebook.write(again.memory, [*kept, draft])
        failed = self._emptied(told, say)
        told = [item for item in told if item.is_due or item.group not in failed]
        is_changed = any(item.empty and item.group not in failed for item in told)
        message = Message(subject(self._settings, told), text(self._settings, told, failed, self._clock())) if told else None
        is_sent = message is not None and self._is_published(message, say)
        memory = again.memory
        if message is not None and not is_sent and not is_changed:
            # What is idle still is told of anew by the next look.
            memory = {name: replace(entry, told=None) for name, entry in memory.items()}
        try:
            self._notebook.write(memory, [*kept, message] if message is not None and not is_sent and is_changed else kept)
        except ApiError as error:
            # Not for `look`, which says that nothing was changed.
            say(f"the memory was not written, so that the message may come twice: {error}")
            return False
        return is_sent and not failed

    def _emptied(self, told: Sequence[Idle], say: Callable[[str], None]) -> dict[str, str]:
        """Set groups to zero nodes; those that could not be, with what EKS said."""
        failed: dict[str, str] = {}
        for item in told:
            if item.empty:
                try:
                    self._aws.empty(self._settings.cluster, item.group)
                    say(f"{item.group} was set to zero nodes")
                except AwsError as error:
                    failed[item.group] = str(error)
                    say(f"{item.group} was not set to zero nodes: {error}")
        return failed

    def _is_published(self, message: Message, say: Callable[[str], None]) -> bool:
        say(message.text)
        try:
            self._aws.publish(self._topic, message.subject, message.text)
        except AwsError as error:
            say(f"the message was not sent: {error}")
            return False
        return True

    def _send_rest(self, decision: Decision, say: Callable[[str], None]) -> bool:
        """Send messages of earlier looks, the oldest first; whether none is left. Raises ApiError."""
        while self._notebook.unsent:
            if not self._is_published(self._notebook.unsent[0], say):
                return False
            self._notebook.write(decision.memory, self._notebook.unsent[1:])
        return True

    def _words(self, decision: Decision) -> str:
        now = self._clock()
        parts = [f"{name} last used {max(0.0, now - entry.used) / 60:.0f} min ago" for name, entry in decision.memory.items()]
        return ", ".join(parts) or "no Neuron node is up"


def _as_before(entry: Memory, before: Memory | None) -> Memory:
    return replace(entry, told=before.told if before else None)


def main(arguments: list[str] | None = None) -> int:
    """Look for ever, or once."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--settings", type=Path, required=True, help="file that the program wrote")
    parser.add_argument("--api", default="https://{KUBERNETES_SERVICE_HOST}:{KUBERNETES_SERVICE_PORT}", help="address of the API server")
    parser.add_argument("--account", type=Path, default=ACCOUNT, help="folder with the token of the service account")
    parser.add_argument("--once", action="store_true", help="look once; exit with 1 where that failed")
    options = parser.parse_args(arguments)
    kubernetes = Kubernetes(options.api.format_map(os.environ), options.account)
    while True:
        # Read again for each look: kubelet brings a change of the settings into the running pod.
        given = json.loads(options.settings.read_text())
        aws = Aws(given["region"], given["dns_suffix"], os.environ)
        guard = Guard(settings_of(given), given["topic"], given["namespace"], kubernetes, aws, time.time)
        well = guard.look(lambda line: print(line, flush=True))
        if options.once:
            return 0 if well else 1
        time.sleep(EVERY_S)


if __name__ == "__main__":
    sys.exit(main())
