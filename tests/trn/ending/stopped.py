"""A drain or a destroy of the shipped stack that is stopped after any of its changing calls: to AWS, to Kubernetes, to the Pulumi CLI."""

import copy
import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Literal

from facts.names import cluster_tags, stack_path
from simulator.account.world import World
from simulator.aws_endpoint import endpoint
from simulator.engine.run import Engine, Kill
from simulator.engine.state import State
from simulator.kubernetes_endpoint.server import ApiServer
from tests.simulator.account.standing import recording
from tests.trn.aws.cloud import Entry, tag_list
from tests.trn.ending.destroying import destroy
from tests.trn.ending.story import neighbours
from trn.aws.api import BotoApi
from trn.change.consent import Person
from trn.change.executor import carry_out
from trn.change.ownership import Consent, StackCluster
from trn.change.sweep_plan import DATA_NAMES
from trn.change.whose import Site
from trn.cli.errors import CommandError
from trn.ending.drain.change import Drain
from trn.kubernetes.client import Kubernetes, KubernetesClient
from trn.kubernetes.kinds import CLAIMS, JOBS, SERVICES
from trn.practice.kubernetes import SimulatedClient
from trn.practice.state import exported, refreshed

OWN = "vol-own-"
"""Begins the ids of what Pulumi does not know of and a destroy sweeps."""
CLUSTER, REGION, NAMESPACE = "trainium-dev", "us-west-2", "training"
Command = Literal["drain", "destroy"]
LOCKED = "error: the stack is currently locked by 1 lock(s). Either wait for the other process to end or delete the lock file."


class Died(BaseException):
    """The process is gone, and with it the machine: no call goes out any more, and the Pulumi CLI is dead too."""


@cache
def _standing() -> Engine:
    """The shipped stack, up, with jobs, a load balancer, a volume, and neighbours."""
    engine = Engine(World(), State())
    assert engine.up(recording()).ended_well
    others = engine.world.state.others = neighbours(CLUSTER)
    tags = tag_list(cluster_tags(CLUSTER, stack_path("organization", recording().project, recording().stack)))
    base: Entry = {"Size": 10, "VolumeType": "gp3", "State": "available", "Tags": tags}
    for number in range(3):
        others["volume"][f"{OWN}{number}"] = {**base, "VolumeId": f"{OWN}{number}"}
    client = KubernetesClient(SimulatedClient(ApiServer(engine.world), lambda: None), lambda: "t")
    for name in ("prepare", "train"):
        client.create(JOBS, NAMESPACE, {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": name}, "spec": {}})
    client.create(SERVICES, NAMESPACE, {"metadata": {"name": "tensorboard"}, "spec": {"type": "LoadBalancer", "ports": [{"port": 80}]}})
    client.create(CLAIMS, NAMESPACE, {"metadata": {"name": "scratch"}, "spec": {"storageClassName": "gp3"}})
    return engine


@dataclass
class Stage:
    """One account, its cluster and its Pulumi, of which one changing call may be the last."""

    engine: Engine = field(default_factory=lambda: _standing().copy())
    stop_at: int = 0
    """Number of the changing call after which it is stopped; 0 never."""
    error: Callable[[], BaseException] = KeyboardInterrupt
    changes: list[str] = field(default_factory=list)
    is_dead: bool = False
    is_locked: bool = False
    """Pulumi's own lock, which a CLI that died leaves."""

    def __post_init__(self) -> None:
        self.engine.world.state.others = copy.deepcopy(self.engine.world.state.others)

    # The ways in

    def aws(self) -> BotoApi:
        """AWS."""
        wire = endpoint.wire(self.engine.world, endpoint.Options(REGION, page_size=100, after_call=self._after_aws))
        return BotoApi(REGION, wire.session())

    def kubernetes(self) -> Kubernetes:
        """The API server."""
        return KubernetesClient(SimulatedClient(ApiServer(self.engine.world), lambda: self._changed("kubernetes")), lambda: "t")

    def _after_aws(self, operation: str) -> None:
        if not operation.split(".")[1].startswith(("Describe", "List", "Get", "Search")):
            self._changed(operation)
        elif self.is_dead:
            raise self.error()

    def _changed(self, call: str) -> None:
        if self.is_dead:
            raise self.error()
        self.changes.append(call)
        if len(self.changes) == self.stop_at:
            self.is_dead = self.error is Died
            raise self.error()

    def run(self, command: tuple[str, ...], environment: Mapping[str, str], /) -> tuple[int, str]:
        """`pulumi destroy` and `refresh`: each resource that is deleted is one changing call."""
        if self.is_locked:
            return 255, LOCKED
        if command[1] == "refresh":
            refreshed(self.engine.state, self.engine.world, drop=bool(environment))
            self._changed("pulumi refresh")
            return 0, ""
        urns = self._deleted_in_order()
        number = self.stop_at - len(self.changes)
        kill = Kill(urns[number - 1], "delete", 0.5 if self.error is Died else 1.0) if 0 < number <= len(urns) else None
        phase = self.engine.destroy(kill=kill)
        self.changes += ["pulumi destroy"] * len(phase.order)
        if phase.killed:
            if self.error is Died:
                self.is_dead = self.is_locked = True
            else:
                # The CLI lets what is under way end, and saves it.
                refreshed(self.engine.state, self.engine.world, drop=False)
            raise self.error()
        return (0, "") if phase.ended_well else (1, "\n".join(str(step.refusal) for step in phase.errors))

    def _deleted_in_order(self) -> list[str]:
        phase = self.engine.copy().destroy()
        return [phase.steps[key].urn for key in phase.order]

    def ask(self, command: tuple[str, ...]) -> tuple[int, str]:
        """`pulumi stack export`, and the refresh that only takes the lock."""
        if self.is_dead:
            raise self.error()
        if command[1] == "refresh":
            return (255, LOCKED) if self.is_locked else (0, "")
        return 0, json.dumps(exported(self.engine.state))

    # What a command did

    def neighbours(self) -> dict[tuple[str, str], Entry]:
        """Everything that is not ours, by kind and id; the lock left out."""
        listed = ((kind, which, entry) for kind, entries in self.engine.world.state.others.items() for which, entry in entries.items())
        return {(kind, which): copy.deepcopy(entry) for kind, which, entry in listed if kind != "parameter" and not which.startswith(OWN)}

    def ours(self) -> set[str]:
        """All that is left of ours, Kubernetes' objects among it."""
        state = self.engine.world.state
        own = {which for which in state.others.get("volume", {}) if which.startswith(OWN)}
        return {what for _, what in state.leftovers()} | {item.what for item in state} | own

    def act(self, command: Command, *, break_lock: bool = False, said: list[str] | None = None) -> tuple[list[str], bool]:
        """Run a command to its end, or to the call that is its last; its lines, which `said` takes, and whether it ended well."""
        said = [] if said is None else said
        about = StackCluster(recording().project, recording().stack, CLUSTER)
        consent = Consent(yes=True, name=CLUSTER)
        site = Site(
            self.aws(), self, about, self.kubernetes, lambda _: None, lambda line: said.append(str(line)),
            lambda line: said.append(str(line)), break_lock=break_lock,
        )  # fmt: skip
        try:
            if command == "drain":
                return said, carry_out(Drain(recording().stack), site, Person(consent, said.append)) == 0
            return said, destroy(site, consent, data=DATA_NAMES) == 0
        except CommandError as error:
            return [*said, str(error)], False


@cache
def whole(command: Command) -> tuple[int, frozenset[str]]:
    """Changing calls of a run that nothing stops, and what is there after it."""
    stage = Stage()
    _, ended_well = stage.act(command)
    assert ended_well, command
    return len(stage.changes), frozenset(stage.ours())


def wrong_after(command: Command, number: int, error: Callable[[], BaseException]) -> Iterator[str]:
    """What is wrong after a run that was stopped after this changing call, and the runs that end it; nothing where all is well."""
    stage = Stage(stop_at=number, error=error)
    before, said = stage.neighbours(), list[str]()
    try:
        said, _ = stage.act(command)
        yield "it was not stopped"
    except (KeyboardInterrupt, Died):
        pass
    stage.is_dead, stage.stop_at = False, 0
    if error is KeyboardInterrupt and stage.engine.world.state.others.get("parameter"):
        yield "Ctrl-C left the lock"
    said, ended_well = stage.act(command)
    break_lock = False
    for _ in range(2):
        # What a person does who reads the hint.
        if not ended_well and "--break-lock" in said[-1]:
            break_lock = True
        elif not ended_well and f"`pulumi cancel --stack {recording().stack}`" in said[-1]:
            stage.is_locked = False
        else:
            break
        said, ended_well = stage.act(command, break_lock=break_lock)
    if not ended_well:
        yield f"the next run does not end it: {said[-1:]}"
    if left := stage.ours() - whole(command)[1]:
        yield f"left: {sorted(left)[:3]}"
    if stage.neighbours() != before:
        yield "something of a neighbour's is changed"
    if stage.engine.world.state.others.get("parameter"):
        yield "the lock stays"
