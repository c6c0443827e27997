"""One stage for every changing command: the shipped stack up in a simulated account, reached as a command reaches AWS, and a person.

All calls are counted, reads too, whichever way they take. Any one may fail, be the last, or have something happen before it.
"""

import io
import json
import pickle
import signal
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import chdir, contextmanager, redirect_stderr, redirect_stdout
from dataclasses import dataclass, field, replace
from fcntl import LOCK_EX, flock
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Literal

from botocore.exceptions import ReadTimeoutError
from urllib3.exceptions import HTTPError

from facts.names import lock_name
from simulator.account import kinds
from simulator.account.world import World
from simulator.aws_endpoint import endpoint
from simulator.aws_endpoint.surroundings import Surroundings
from simulator.aws_endpoint.wire import Refused
from simulator.engine.run import Engine
from simulator.engine.state import State
from simulator.kubernetes_endpoint.server import ApiServer
from stacks.config import parse_settings
from tests.support import ROOT, copy_project, dev_configuration, record_stack
from tests.trn.change.owned import break_locks, lock_entry, locks_among
from tests.trn.change.pulumi import CANCELLED, LOCKED, Cut, stage_pulumi
from tests.trn.change.registries import Registries
from tests.trn.ending.story import neighbours
from trn.app import app
from trn.aws.api import Api, BotoApi
from trn.aws.lock import Holder
from trn.change.clients import Live, using
from trn.cli.text_files import write_text
from trn.engine.stack_file import read_stack_file
from trn.engine.stack_state import parse_state
from trn.jobs.submit.apply import MARK
from trn.kubernetes.client import Kubernetes, KubernetesClient
from trn.kubernetes.lease import LEASES as LEASE
from trn.practice.kubernetes import SimulatedClient
from trn.practice.state import exported
from trn.practice.users import start_job
from trn.table import ENTRIES, OUTSIDE

CLUSTER, REGION, STACK, JOB = "trainium-dev", "us-west-2", "dev", "bert"
Fault = Literal["denied", "throttled", "broken", "401", "403", "lost"]
"""lost: the service does what it was asked, and its answer does not arrive."""
REFUSALS = {
    "denied": ("AccessDeniedException", 403), "throttled": ("ThrottlingException", 400), "broken": ("InternalFailure", 500),
}  # fmt: skip
FAULTS: dict[str, tuple[Fault, ...]] = {
    "aws": ("denied", "throttled", "broken", "lost"), "kubernetes": ("401", "403", "broken", "lost"), "pulumi": ("broken", "lost"),
    "registry": ("403", "broken", "lost"), "tool": ("broken",), "file": ("broken",),
}  # fmt: skip
KILLED = 137
LOCK = ("ec2.CreateLaunchTemplate", "ec2.DeleteLaunchTemplate")
STACK_FILE, PROJECT_FILE = f"Pulumi.{STACK}.yaml", "Pulumi.yaml"
OTHER_STACK, IMPORT_FILE = "taken", "build/import.json"
OTHER_STACK_FILE = f"Pulumi.{OTHER_STACK}.yaml"
"""The stack that is made of a cluster of others, and what `pulumi import` reads."""
LEASES, LEASE_TYPE = "/apis/coordination.k8s.io/v1/namespaces/training/leases", "kubernetes:coordination.k8s.io/v1:Lease"


class Died(BaseException):
    """The process is gone: no call goes out any more."""


@dataclass(frozen=True)
class Answer:
    """What an API server sends that refuses."""

    status: int
    reason: str = "Refused"
    body: bytes = b"{}"


@dataclass(frozen=True)
class Call:
    """One call."""

    way: str
    """aws, kubernetes or pulumi."""
    name: str
    given: Any
    is_change: bool

    @property
    def key(self) -> str:
        """Calls of one key fail alike."""
        return f"{self.way} {self.name}"

    @property
    def lock(self) -> Literal["take", "check", "give back", ""]:
        """What it does with a lock: the cluster's, or the Lease of a job's name. Nothing for all other calls."""
        if self.name in (LOCK[0], f"POST {LEASES}", "flock"):
            return "take"
        if self.name == LOCK[1] or self.name.startswith(f"DELETE {LEASES}"):
            return "give back"
        is_named = self.name in ("ec2.DescribeLaunchTemplates", "ssm.GetParameter") and lock_name("") in str(self.given)
        return "check" if is_named or self.name.startswith((f"GET {LEASES}", "stat")) else ""


@dataclass(frozen=True)
class Ended:
    """How a run of a command ended."""

    code: int
    out: str
    err: str
    report: dict[str, Any] | None


@cache
def _standing() -> Engine:
    engine = Engine(World(), State())
    assert engine.up(record_stack(dev_configuration(), stack=STACK)).ended_well
    engine.world.state.others = neighbours(CLUSTER)
    start_job(_client(ApiServer(engine.world)), parse_settings(dev_configuration(), STACK, rehearsal=True), STACK, JOB, 1)
    return engine


def _unmarked(inputs: dict[str, Any]) -> dict[str, Any]:
    """Without what is another for each run of a command."""
    metadata = dict(inputs.get("metadata") or {})
    marks = {key: value for key, value in (metadata.pop("annotations", None) or {}).items() if key != MARK}
    return inputs if "metadata" not in inputs else {**inputs, "metadata": {**metadata, **({"annotations": marks} if marks else {})}}


def _client(server: ApiServer) -> Kubernetes:
    return KubernetesClient(SimulatedClient(server, lambda: None), lambda: "t")


class _Answers(io.RawIOBase):
    """Standard input: whoever reads it asks a person."""

    def __init__(self, answer: Callable[[], str]) -> None:
        self._answer = answer

    def readable(self) -> bool:
        """It is."""
        return True

    def readinto(self, buffer: Any) -> int:
        """One answer."""
        if not len(buffer):
            return 0
        text = self._answer().encode()
        buffer[: len(text)] = text
        return len(text)


@dataclass
class Stage:
    """An account with its cluster and its Pulumi."""

    answers: tuple[str, ...] = ()
    """What the person types, question by question; none is the end of the input."""
    engine: Engine = field(default_factory=lambda: _standing().copy())
    calls: list[Call] = field(default_factory=list)
    asked_at: list[int] = field(default_factory=list)
    """Calls made before each question."""
    faults: dict[int, Fault] = field(default_factory=dict)
    """By the number of the call, from 1."""
    acts: dict[int, Callable[[], object]] = field(default_factory=dict)
    """Done before a call."""
    on_question: list[Callable[[], None]] = field(default_factory=list)
    """Done while a question waits, question by question."""
    on_pause: Callable[[float], None] = lambda _seconds: None
    """Done in each pause."""
    stop_at: int = 0
    """Number of the call after which the process is stopped; 0 never."""
    stopped_by: signal.Signals | None = None
    """None: without a warning."""
    account: str = ""
    """The caller's, where it is another one."""
    is_dead: bool = False
    is_running: bool = False
    is_locked: bool = False
    """By Pulumi's own lock, which a CLI that died leaves, and `pulumi cancel` removes."""
    stack_file: str = field(default_factory=(ROOT / STACK_FILE).read_text)
    """Its text, before and after a run."""
    built: dict[str, str] = field(default_factory=dict[str, str])
    """What runs have left in the project, by path: stack files of other names, and what is below `build`."""
    has_files: bool = False
    """Whether the run has locked the project's files."""
    locks_files: bool = False
    """Whether another run has locked the project's files."""

    around: Surroundings = field(default_factory=lambda: Surroundings.of_region(REGION))
    """What the region offers."""
    registries: Registries = field(default_factory=lambda: Registries(REGION))
    """Of images."""
    asked: set[str] = field(default_factory=set)
    """Whom runs have asked, as rows of the table name them."""

    # What a test does to it

    def fault(self, number: int, fault: Fault) -> None:
        """Let a call fail."""
        self.faults[number] = fault

    def kill(self, number: int, by: signal.Signals | None = None) -> None:
        """Let a call be the last, or the one that a signal falls into."""
        self.stop_at, self.stopped_by = number, by

    def before(self, number: int, act: Callable[[], object]) -> None:
        """Let something happen before a call."""
        self.acts[number] = act

    # Ways in

    def through(self, call: Call, act: Callable[[], Any], failed: Callable[[Fault], Any]) -> Any:
        """One call, whichever way it takes."""
        if self.is_dead:
            raise Died
        self.calls.append(call)
        number = len(self.calls)
        self.acts.pop(number, lambda: None)()
        fault = self.faults.get(number)
        if fault is not None and fault != "lost":
            return failed(fault)
        answer = act()
        if number == self.stop_at:
            if self.stopped_by is None:
                self.is_dead = True
                raise Died
            signal.raise_signal(self.stopped_by)
        return failed(fault) if fault else answer

    def aws(self, region: str = REGION) -> Api:
        """AWS."""
        wire = endpoint.wire(
            self.engine.world, endpoint.Options(region, page_size=100, surroundings=self.around if region == REGION else None)
        )
        for name, handler in wire.handlers.items():
            wire.handlers[name] = self._handler(name, handler)
        return BotoApi(region, wire.session())

    def _handler(self, name: str, handler: Callable[[Any], Any]) -> Callable[[Any], Any]:
        def failed(fault: Fault) -> Any:
            if fault == "lost":
                raise ReadTimeoutError(endpoint_url="https://simulated")
            code, status = REFUSALS[fault]
            raise Refused(code, "refused by the stage", status)

        def answered(given: Any) -> Any:
            if name == "sts.GetCallerIdentity" and self.account:
                return {"Account": self.account, "Arn": f"arn:aws:iam::{self.account}:user/a", "UserId": "a"}
            return handler(given)

        is_change = not name.split(".")[1].startswith(("Describe", "List", "Get", "Search"))
        return lambda given: self.through(Call("aws", name, dict(given), is_change), lambda: answered(given), failed)

    def kubernetes(self) -> Kubernetes:
        """The API server."""
        stage = self

        class Server(ApiServer):
            def answer(self, method: str, path: str, body: Any = None) -> Any:
                def failed(fault: Fault) -> Any:
                    if fault == "lost":
                        raise HTTPError("connection lost")
                    return Answer(500 if fault == "broken" else int(fault))

                what = f"{method} {path.partition('?')[0]}"
                is_change = method != "GET" and "dryRun" not in path
                return stage.through(
                    Call("kubernetes", what, body, is_change), lambda: super(Server, self).answer(method, path, body), failed
                )

        return _client(Server(self.engine.world))

    def run(self, command: tuple[str, ...], environment: Mapping[str, str], /) -> tuple[int, str]:
        """`pulumi up`, `destroy`, `refresh` and `import`: one changing call each, that is stopped in its midst."""

        def act() -> tuple[int, str]:
            if self.is_locked:
                return _refused(LOCKED)
            cut: Cut = "" if len(self.calls) != self.stop_at else "cancelled" if self.stopped_by else "killed"
            self.is_locked = cut == "killed"
            answer = stage_pulumi(self.engine, read_stack_file(STACK), cut).run(command, environment)
            return _refused(CANCELLED) if cut else answer

        return self._pulumi(command, act, is_change=True)

    def ask(self, command: tuple[str, ...]) -> tuple[int, str]:
        """`pulumi stack export`, `preview`, and the refresh that only takes the lock."""

        def act() -> tuple[int, str]:
            if command[1] == "refresh":
                return _refused(LOCKED) if self.is_locked else (0, "")
            return stage_pulumi(self.engine, read_stack_file(STACK)).ask(command)

        return self._pulumi(command, act, is_change=False)

    def _pulumi(self, command: tuple[str, ...], act: Callable[[], tuple[int, str]], *, is_change: bool) -> tuple[int, str]:
        name = " ".join(command[1 : 3 if command[1] == "stack" else 2])
        state = parse_state(exported(self.engine.state), CLUSTER)
        given = {"command": command, "serial": state.id.digest, "held": state.held}
        return self.through(Call("pulumi", name, given, is_change), act, lambda _: _refused("error: the stage refuses\n"))

    def images(self) -> Registries:
        """Image registries."""

        def through(name: str, given: str, is_change: bool, act: Callable[[], Any], failed: Callable[[Fault], Any]) -> Any:
            return self.through(Call("registry", name, given, is_change), act, failed)

        return self.registries.serve(self.engine.world, through)

    def _answer(self) -> str:
        if self.is_dead:
            raise Died
        number = len(self.asked_at)
        self.asked_at.append(len(self.calls))
        if number < len(self.on_question):
            self.on_question[number]()
        return f"{self.answers[number]}\n" if number < len(self.answers) else ""

    # What is there

    @property
    def changes(self) -> list[tuple[int, Call]]:
        """Changing calls with their numbers, without those for the lock."""
        return [(number, call) for number, call in enumerate(self.calls, 1) if call.is_change and not call.lock]

    def locks(self) -> dict[str, Any]:
        """Locks that are held."""
        leases = {f"{LEASE_TYPE} {item.registration.id}": item.registration.inputs for item in self._leases()}
        files = {PROJECT_FILE: "another"} if self.locks_files else {}
        return {**locks_among(self.engine.world.state.others.setdefault("template", {})), **leases, **files}

    def _leases(self) -> list[Any]:
        return self.engine.world.state.existing(LEASE_TYPE)

    def found(self, kind: str, which: str) -> Any:
        """One object of the stack's."""
        found = self.engine.world.state.find(kind, which)
        assert found is not None
        return found

    def everything(self) -> dict[str, Any]:
        """All there is by kind and id, but locks."""
        state = self.engine.world.state
        others = {
            f"{kind} {which}": entry for kind, found in state.others.items() for which, entry in found.items() if which not in self.locks()
        }
        own = {
            f"{item.registration.type} {item.registration.id}": _unmarked(dict(item.registration.inputs))
            for item in state
            if item.registration.type != LEASE_TYPE
        }
        others |= dict(self.registries.everything())
        # A copy of what calls change in place; registrations are replaced.
        files = {name: text for name, text in self.built.items() if name in (OTHER_STACK_FILE, IMPORT_FILE)}
        return {**pickle.loads(pickle.dumps(others)), **own, **files, "state": exported(self.engine.state), "file": self.stack_file}

    # What happens meanwhile

    def lose_lock(self) -> None:
        """Another run breaks it."""
        break_locks(self.engine.world.state.others.setdefault("template", {}))
        if self.has_files:
            # An editor that writes a file anew: the next run locks that one.
            self.locks_files = True
            Path("again").write_text(Path(PROJECT_FILE).read_text())
            Path("again").replace(PROJECT_FILE)
        for item in self._leases():
            spec = {**item.registration.inputs["spec"], "holderIdentity": "another"}
            inputs, outputs = {**item.registration.inputs, "spec": spec}, {"metadata": {"uid": "another"}}
            item.registration = replace(item.registration, inputs=inputs, outputs=outputs)

    def lock(self, lease: str, template: str) -> None:
        """Another run holds the Lease, or where none is named the lock that is this launch template. Or it has locked the project's files."""
        if lease == PROJECT_FILE:
            self.locks_files = True
            return
        if lease:
            body = {"metadata": {"name": lease}, "spec": {"holderIdentity": "another"}}
            _client(ApiServer(self.engine.world)).create(LEASE, "training", body)
            return
        which, entry = lock_entry(CLUSTER, Holder("another", "host", "sweep", "2026-01-01T00:00:00Z", "t"))
        self.engine.world.state.others.setdefault("template", {})[which] = {**entry, "LaunchTemplateName": template}

    def make_again(self, kind: str = kinds.CLUSTER, which: str = CLUSTER, **outputs: Any) -> None:
        """Another object of the same name stands there, or again."""
        made = (self.engine.world.state.find(kind, which) or Stage().found(kind, which)).registration
        self.engine.world.state.put(replace(made, outputs={**made.outputs, **outputs}))

    def colleague(self) -> Kubernetes:
        """The API server as others reach it."""
        return _client(ApiServer(self.engine.world))

    def start(self, name: str) -> None:
        """A colleague starts a job on one node."""
        start_job(self.colleague(), parse_settings(dev_configuration(), STACK, rehearsal=True), STACK, name, 1)

    def grow(self) -> None:
        """Another run of Pulumi makes a log group."""
        groups = [
            held.registration for held in self.engine.state.held.values() if held.registration.type == "aws:cloudwatch/logGroup:LogGroup"
        ]
        made = replace(groups[0], urn=f"{groups[0].urn}-late", id="late")
        self.engine.world.state.put(made)
        self.engine.state.adopt(made)

    def edit(self, old: str, new: str) -> None:
        """A colleague edits the stack file."""
        if self.is_running:
            self.stack_file = Path(STACK_FILE).read_text()
        assert old in self.stack_file
        self.stack_file = self.stack_file.replace(old, new, 1)
        if self.is_running:
            Path(STACK_FILE).write_text(self.stack_file)

    # A run

    def trn(self, *arguments: str, folder: Path, reports: bool = True) -> Ended:
        """Run a command line to its end, with its report where it has one."""
        json_file = folder / f"report-{len(list(folder.iterdir()))}.json"
        out, err, code = io.StringIO(), io.StringIO(), 0
        typed = io.TextIOWrapper(io.BufferedReader(_Answers(self._answer), 1 << 12))
        with self.project(), using(_Access(self)), redirect_stdout(out), redirect_stderr(err), _standard_input(typed):
            try:
                app([*arguments, *(["--json", str(json_file)] if reports else [])], prog_name="trn")
            except SystemExit as end:
                code = end.code if isinstance(end.code, int) else 0
            except Died:
                code = KILLED
        place = next(words for words in (" ".join(arguments[:2]), arguments[0]) if words in ENTRIES)
        assert self.asked <= set(ENTRIES[place].asks), f"`trn {place}` asks somebody whom its row in trn/table.py does not name"
        report = json.loads(json_file.read_text()) if json_file.exists() else None
        return Ended(code, out.getvalue(), err.getvalue(), report)

    @contextmanager
    def project(self) -> Iterator[None]:
        """A folder with the stack file, for one run."""
        with TemporaryDirectory() as folder, chdir(copy_project(Path(folder))):
            Path(STACK_FILE).write_text(self.stack_file)
            for name, text in self.built.items():
                write_text(Path(name), text, "")
            self.is_running = True
            try:
                with Path(PROJECT_FILE).open("rb+") as other:
                    if self.locks_files:
                        flock(other, LOCK_EX)
                    yield
            finally:
                self.is_running, self.has_files, self.stack_file = False, False, Path(STACK_FILE).read_text()
                paths = [*sorted(Path("build").rglob("*.json")), *Path().glob(OTHER_STACK_FILE)]
                self.built = {str(path): path.read_text() for path in paths}


def _refused(printed: str) -> tuple[int, str]:
    sys.stderr.write(printed)
    return 255, printed


@contextmanager
def _standard_input(text: io.TextIOWrapper) -> Iterator[None]:
    before, sys.stdin = sys.stdin, text
    try:
        yield
    finally:
        sys.stdin = before


class _Access(Live):
    """An access that leads to the stage."""

    def __init__(self, stage: Stage) -> None:
        self._stage = stage

    def aws(self, _stack: str, region: str, /) -> Api:
        """The stage's own account."""
        self._stage.asked.add(OUTSIDE[0])
        return self._stage.aws(region)

    def kubernetes(self, api: Api, entry: dict[str, Any]) -> Kubernetes:
        """The stage's own cluster."""
        self._stage.asked.add(OUTSIDE[1])
        return self._stage.kubernetes()

    def registries(self) -> Any:
        """The stage's own."""
        return self._stage.images()

    def pulumi(self, _stack: str, /) -> Any:
        """The stage's own."""
        self._stage.asked.add(OUTSIDE[2])
        return self._stage

    def need_tools(self, *_tools: str) -> None:
        """All are there."""

    def pause(self, seconds: float) -> None:
        """Nothing waits."""
        self._stage.on_pause(seconds)
