"""A shell in the cluster, as a change: a pod is made, entered and deleted, and so are those of shells whose time is over."""

import secrets
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, Literal

from facts.kubernetes_kinds import Resource
from stacks.settings import Settings
from training.job import SHARED_PATH
from trn.aws.api import Api
from trn.change.action import Action, Difference, Hold, Outcome, Pace, Refusal
from trn.change.hold import job_lock
from trn.change.identity import Kube, New
from trn.change.kubectl import kubectl
from trn.change.report import ChangeDocument, Report
from trn.change.whose import Site, Whose
from trn.cli.errors import CommandError
from trn.kubernetes.claimed import give_templates
from trn.kubernetes.client import AlreadyThere, Conflict, Object
from trn.kubernetes.job_pods import PODS
from trn.kubernetes.lease import LEASES
from trn.running.shell.pod import SHELL_LABEL, claims_of, pod
from trn.running.subject import Subject, name_of
from trn.running.verify.jobs import is_of, marked
from trn.running.verify.stage import Stage, phase, states

START_S, POLL_S = 900, 3
"""A Neuron image has more than 10 GB."""


class ShellReport(ChangeDocument, frozen=True):
    """What `trn shell` did."""

    schema_: Literal["trn-shell"] = "trn-shell"
    pod: str | None = None
    namespace: str | None = None
    image: str | None = None
    node: str | None = None
    """Null where the pod did not come to run."""
    exit_code: int | None = None
    """Of the command; null where it was not run to its end."""


@dataclass(frozen=True)
class Seen:
    """The pod that is to be made, and what ended shells left."""

    body: Object
    left: tuple[tuple[Resource, Object], ...]
    templates: tuple[Object, ...] = ()
    """Of what the pod claims; deleted with it."""


@dataclass(frozen=True)
class Shell:
    """A pod of one's own for as long as a command runs in it."""

    stack: str
    settings: Settings
    command: Sequence[str]
    life_s: int
    node_group: str | None = None
    neuron: bool = False
    image: str | None = None
    pod: str = field(default_factory=lambda: f"trn-shell-{secrets.token_hex(3)}")
    """No second run draws the same."""
    said: dict[str, Any] = field(default_factory=dict[str, Any])
    """The node, and the exit code of the command."""
    document = ShellReport
    pace = Pace(pause_s=POLL_S, waits=START_S // POLL_S + 2, in_order=True)

    @property
    def name(self) -> str:
        """As it is typed."""
        return f"shell {self.stack}"

    @property
    def _namespace(self) -> str:
        return self.settings.training.namespace

    def hold(self, site: Site, whose: Whose) -> Hold:
        """The pod's own name: others have shells of theirs."""
        return job_lock(self.name, self.pod.removeprefix("trn-"), self._namespace, site, whose)

    def look(self, site: Site, _: Whose) -> Seen:
        """Shells of this cluster whose time is over, with the locks of those that were killed. One that runs has somebody in it."""
        subject = Subject(self.settings, site.api, site.kubernetes())
        body, left = (
            pod(subject, self.stack, self.pod, self.life_s, self.node_group, self.image, neuron=self.neuron),
            list[tuple[Resource, Object]](),
        )
        for item in subject.kubernetes.list(PODS, namespace=self._namespace, label=f"{SHELL_LABEL}={self.settings.name}") or ():
            if phase(item) in ("Succeeded", "Failed"):
                lease = subject.kubernetes.read(f"{LEASES.path}/namespaces/{self._namespace}/{LEASES.plural}/{name_of(item)}")
                left += [(PODS, item), *([(LEASES, lease)] if lease else [])]
        return Seen(body, tuple(left), claims_of(subject, body))

    def refusals(self, _: Seen) -> Iterator[Refusal]:
        """None beside what a look raises: no node of a group, no image."""
        return iter(())

    def actions(self, seen: Seen) -> list[Action]:
        """The pod goes with its shell."""
        which = New(PODS.kind, f"{self._namespace}/{self.pod}", f"{PODS.path}/namespaces/{self._namespace}/{PODS.plural}/{self.pod}")

        def make(site: Site, _: New) -> Outcome:
            try:
                made = site.kubernetes().make(PODS, self._namespace, marked(seen.body, site.token))
                give_templates(site.kubernetes(), seen.templates, made)
            except AlreadyThere:
                return Outcome("moved", (f"there is a pod {self.pod} already",))
            return Outcome("done", settled=self._running())

        def enter(site: Site, _: New) -> Outcome:
            has_file_system = self.settings.storage.lustre.enabled
            mounted = f", the file system at {SHARED_PATH}" if has_file_system else "; there is no file system in this stack"
            site.tell(f"{self.pod} on {self.said['node']}{mounted}; the pod is deleted when the shell ends")
            self.said["exit_code"] = run_shell(site.api, self.settings, self.pod, self.command)
            return Outcome("done")

        def delete(site: Site, _: Any = None) -> Outcome:
            for item in (each for each in self._stage(site).pods(self.pod) if is_of(each, site.token)):
                _delete(PODS, item)(site, None)
            return Outcome("done")

        left = [
            Action("delete", Kube(resource.kind, f"{self._namespace}/{name_of(item)}", item["metadata"]["uid"]), "its shell is over", _delete(resource, item))
            for resource, item in seen.left
        ]  # fmt: skip
        return [
            *left,
            Action("make", which, "a shell is asked for", make, undo=delete),
            Action("enter", which, "it was made for that", enter),
            Action("delete", which, "its shell is over", delete),
        ]

    def _stage(self, site: Site) -> Stage:
        return Stage(Subject(self.settings, site.api, site.kubernetes()), "", None)

    def _running(self) -> Callable[[Site], Outcome | None]:
        """Until it runs. Raises CommandError with Kubernetes' own reason."""
        began, told = time.monotonic(), [""]

        def settled(site: Site) -> Outcome | None:
            pods = self._stage(site).pods(self.pod)
            if pods and phase(pods[0]) == "Running":
                self.said["node"] = str(pods[0]["spec"]["nodeName"])
                return Outcome("done")
            if time.monotonic() - began >= START_S or (pods and phase(pods[0]) != "Pending"):
                hint = "devices are held by a job, or the image cannot be pulled: `kubectl describe pod` while it waits"
                raise CommandError(f"the shell did not start within {START_S} s: {states(pods)}", hint)
            if states(pods) != told[0]:
                told[0] = states(pods)
                site.tell(told[0])
            return None

        return settled

    def question(self, _: Seen) -> None:
        """None: what it makes is new and its own."""

    def shown(self, seen: Seen) -> Iterator[str]:
        """What goes first."""
        yield from (f"pod {name_of(item)} is deleted: its shell is over" for resource, item in seen.left if resource == PODS)

    def differences(self, _shown: Seen, _now: Seen) -> Iterator[Difference]:
        """None."""
        return iter(())

    def result(self, _: Seen, report: Report) -> Iterator[str]:
        """What could not be done: standard output is the command's own."""
        yield from (f"{action}: {text}" for action, outcome in report.left for text in outcome.said)

    def data(self, seen: Seen, _: Report) -> Mapping[str, Any]:
        """For `--json`."""
        return {"pod": self.pod, "namespace": self._namespace, "image": seen.body["spec"]["containers"][0]["image"], **self.said}


def _delete(resource: Resource, item: Object) -> Callable[[Site, Any], Outcome]:
    """This very object."""

    def do(site: Site, _: Any) -> Outcome:
        with suppress(Conflict):
            site.kubernetes().delete(resource, name_of(item), item["metadata"]["namespace"], uid=item["metadata"]["uid"])
        return Outcome("done")

    return do


def run_shell(api: Api, settings: Settings, name: str, command: Sequence[str]) -> int:
    """Run the command in the pod, on the caller's terminal; returns its exit code."""
    with kubectl(api, settings.name, settings.training.namespace) as first:
        terminal = ["--tty"] if sys.stdin.isatty() else []
        return subprocess.run([*first, "exec", "--stdin", *terminal, name, "--", *command], check=False).returncode
