"""One stack's story in one account, among neighbours: brought up, killed, recovered, killed again, destroyed, killed, swept.

The engine is the rehearsal's; recovery and sweep are those of `trn`, through boto3 and the Kubernetes client.
"""

import copy
import json
import random
from collections.abc import Container, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Literal

from botocore.exceptions import ClientError

from facts.external.description import Description
from facts.external.network import NetworkDescription
from facts.names import CLUSTER_TAG, stack_path
from facts.resources.queries import Leftover
from facts.resources.table import TYPES
from simulator.account import kinds
from simulator.account.putting import put_existing
from simulator.account.world import World
from simulator.aws_endpoint import endpoint
from simulator.aws_endpoint.inventory import KINDS, Inventory
from simulator.engine.crash import MOMENTS
from simulator.engine.run import Engine, Kill
from simulator.engine.state import State, object_key
from simulator.kubernetes_endpoint.server import ApiServer
from simulator.recording import Recording
from stacks.settings import Settings
from tests.trn.aws.cloud import ACCOUNT, Cloud, Entry, tag_list
from tests.trn.aws.leftovers import leave_control_plane, leave_everything
from tests.trn.ending.sweeping import Sweeping
from trn.aws.api import BotoApi
from trn.aws.eks import described
from trn.aws.leftovers import CLUSTERS, Place, kind_named
from trn.change.identity import state_id
from trn.change.ownership import Consent, StackCluster
from trn.change.sweep_plan import DATA_NAMES, is_up
from trn.ending.recover.change import actions_of
from trn.ending.recover.look import Objects, Recovery
from trn.ending.recover.plan import Plan
from trn.engine.assumed_account import put_missing
from trn.engine.interrupted import Pending, read_state
from trn.kubernetes.client import KubernetesClient
from trn.practice.kubernetes import SimulatedClient
from trn.practice.state import exported, imported, refreshed, take_over

Operation = Literal["create", "delete"]
IDS = {
    "instance": "InstanceId",
    "interface": "NetworkInterfaceId",
    "nat": "NatGatewayId",
    "fsx": "FileSystemId",
    "log group": "logGroupName",
}
"""Kind to the key of its id, as its service lists it."""
SWEPT_KINDS: Mapping[str, str] = {token: item.leftover.kind for token, item in TYPES.items() if isinstance(item.leftover, Leftover)}
"""Type to the kind as which a sweep lists it."""


@dataclass
class Story:
    """One stack of a cluster in one account."""

    recording: Recording
    cluster: str
    region: str
    engine: Engine = field(default_factory=lambda: Engine(World(), State()))
    existing: Description | None = None
    """What the stack uses of others; in a network of theirs are interfaces, groups and instances of theirs."""
    given: Settings | None = None
    """With it all else that its stack file names is there as well: roles, boundary, bucket."""

    @property
    def world(self) -> World:
        """The account."""
        return self.engine.world

    @property
    def api(self) -> BotoApi:
        """The account through boto3."""
        return BotoApi(self.region, endpoint.session(self.world, endpoint.Options(self.region, page_size=50)))

    def sweeping(self) -> Sweeping:
        """`trn sweep --delete` of everything without a state, data too."""
        recording, network = self.recording, self.existing.network if self.existing else None
        about = StackCluster(recording.project, recording.stack, self.cluster, network.vpc_id if network else "")
        stack = stack_path("organization", recording.project, recording.stack)
        return Sweeping(self, DATA_NAMES, consent=Consent(yes=True, name=self.cluster, identity=stack), about=about)

    def recover(self) -> Plan:
        """`trn recover --yes`. Raises AssertionError where it does not find exactly what the account holds, or does not import it."""
        api, state = self.api, self.engine.state
        before = {item.registration.urn for item in state.pending if item.doing == "creating"}
        held = state.known()
        made = (item.registration for item in self.world.state if item.registration.urn in before)
        there = {(item.urn, item.id) for item in made if object_key(item) not in held}
        recovery = Recovery(api, self.cluster, lambda: self._objects(api), lambda _: None, lambda _: None)
        plan = recovery.plan(read_state(json.dumps(exported(state))))
        assert not plan.unclear, plan.unclear
        found = {(item.pending.urn, self._id(item.pending, held)) for item in (*plan.imports, *plan.uninstalls)}
        assert found == there, found ^ there
        assert {pending.urn for pending in plan.never_made} == before - {urn for urn, _ in there}
        pulumi = SimpleNamespace(ask=lambda _command: (0, json.dumps(exported(state))), run=self._run)
        site: Any = SimpleNamespace(pulumi=pulumi, kubernetes=self._kubernetes, tell=lambda _: None)
        for action in actions_of(plan, "dev", state_id(site.pulumi, "dev")):
            assert action.do(site, action.object).kind == "done"
        known = state.known()
        unknown = [item.what for item in self.world.state if object_key(item.registration) not in known]
        assert unknown == []
        return plan

    def _objects(self, api: BotoApi) -> Objects | None:
        return None if described(api, self.cluster) is None else Objects(self._kubernetes())

    def _kubernetes(self) -> KubernetesClient:
        return KubernetesClient(SimulatedClient(ApiServer(self.world), lambda: None), lambda: "practice")

    def _id(self, pending: Pending, held: Container[tuple[str, str, str]]) -> str:
        """The id that Pulumi has for what the state did not know."""
        made = (item.registration for item in self.world.state if item.registration.urn == pending.urn)
        return next(item.id for item in made if object_key(item) not in held)

    def _run(self, command: tuple[str, ...], _environment: Mapping[str, str]) -> tuple[int, str]:
        if command[1] == "refresh":
            refreshed(self.engine.state, self.world, drop=False)
            return 0, ""
        document = json.loads(Path(command[command.index("--file") + 1]).read_text())
        if command[1] == "stack":
            take_over(document["deployment"], self.engine.state, self.world)
            return 0, ""
        wanted = document["resources"]
        missing = imported(wanted, self.engine.state, self.world, self.recording)
        return (1 if missing else 0), missing

    def delete_cluster(self) -> None:
        """As a person does it by hand: a sweep leaves a cluster that is up alone.

        Raises AssertionError where a sweep would delete anything with it.
        """
        place = Place(self.cluster)
        if any(is_up(item) for item in CLUSTERS.find(self.api, place)):
            plan = self.sweeping().plan()
            assert not {item.kind for item in plan.deletions} & {"EKS cluster", "node group", "instance", "file system"}
        for _ in range(100):
            found = [(kind, item) for kind in (kind_named("node group"), CLUSTERS) for item in kind.find(self.api, place)]
            for kind, item in found:
                # A cluster with node groups is refused until these are gone.
                with suppress(ClientError):
                    kind.delete(self.api, item)
            # The sweep waits for its end.
            if all(item.going for _, item in found):
                return
        raise AssertionError("the cluster does not go")

    def sweep(self) -> list[tuple[Any, str]]:
        """What a sweep could not delete.

        Raises AssertionError where it does not find exactly what the account holds of ours.
        """
        self.delete_cluster()
        # What is being deleted may end while the sweep looks.
        before, beside = self._swept_objects(), self._made_beside()
        plan = self.sweeping().plan()
        assert plan.kept == ()
        found = {(item.kind, item.id) for item in plan.deletions}
        assert self._swept_objects() <= found, self._swept_objects() - found
        assert {which for _, which in found - before} <= beside, found - before
        # What appeared since the plan, such as an interface that a node left, is the next sweep's.
        return self.sweeping().run().left and self.sweeping().run().left

    def _swept_objects(self) -> set[tuple[str, str]]:
        made = {(item.registration.type, item.registration.id) for item in self.world.state}
        return {(SWEPT_KINDS[kind], which) for kind, which in made if kind in SWEPT_KINDS}

    def _made_beside(self) -> set[str]:
        """Ids of what AWS and controllers made for the cluster without a request of the program."""
        entries, others = Inventory(self.world, self.region).entries, self.world.state.others
        return {which for kind in KINDS for which in entries(kind) if which not in others.get(kind, {})}

    def left(self) -> list[str]:
        """What the account still holds of ours."""
        return [what for _, what in self.world.state.leftovers()]


def drawn_kill(drawn: random.Random, recording: Recording, operation: Operation) -> Kill:
    """Any moment of an operation on any resource."""
    return Kill(drawn.choice(recording.resources()).urn, operation, drawn.choice(MOMENTS))


def told(story: Story, kill: Kill, seed: int) -> list[str]:
    """The whole story of one kill, at any moment of `up` or of `destroy`; what was left of ours, or went of the neighbours'.

    Raises AssertionError as `recover` and `sweep` do. `seed` draws the later kills.
    """
    drawn, engine = random.Random(seed), story.engine
    others = engine.world.state.others = neighbours(story.cluster)
    if story.existing is not None:
        put_existing(engine.world.state, story.existing)
        if story.existing.network is not None:
            put_tenants(others, story.existing.network)
    if story.given is not None:
        assert put_missing(engine.world.state, story.given)
    before = copy.deepcopy(others)
    if kill.operation == "create":
        engine.up(story.recording, kill=kill)
        story.recover()
        if engine.up(story.recording, kill=drawn_kill(drawn, story.recording, "create")).killed and drawn.random() < 0.5:
            story.recover()
        kill = drawn_kill(drawn, story.recording, "delete")
    elif not engine.state.held:
        engine.up(story.recording)
    engine.destroy(kill=kill)
    left = [f"{item.kind} {item.id}: {why}" for item, why in story.sweep()]
    return [*left, *story.left(), *([] if others == before else ["something of a neighbour's is gone"])]


def neighbours(cluster: str) -> dict[str, dict[str, Entry]]:
    """Everything of a cluster whose name begins like ours, and of one that ours is a part of."""
    cloud = Cloud()
    for number, name in enumerate((f"{cluster}-2", f"my-{cluster}")):
        leave_everything(cloud, name, f"n{number}")
    leave_control_plane(cloud, f"{cluster}-2", "n0")
    return cloud.world.state.others


def put_tenants(others: dict[str, dict[str, Entry]], network: NetworkDescription) -> None:
    """What a colleague has in a network: nothing of it carries a tag, so nothing but the VPC could make it anyone's."""
    place = {"VpcId": network.vpc_id, "SubnetId": next(iter(network.subnets))}
    others.setdefault("instance", {})["i-colleague"] = {
        "InstanceId": "i-colleague", "InstanceType": "m5.large", "State": {"Name": "running"}, "Tags": [], **place,
    }  # fmt: skip
    others.setdefault("interface", {})["eni-colleague"] = {
        "NetworkInterfaceId": "eni-colleague", "Status": "available", "Groups": [], "TagSet": [], **place,
    }  # fmt: skip
    others.setdefault("group", {})["sg-colleague"] = {
        "GroupId": "sg-colleague", "GroupName": "colleague", "VpcId": network.vpc_id, "IpPermissions": [], "IpPermissionsEgress": [], "Tags": [],
    }  # fmt: skip


def move_in(story: Story) -> None:
    """Put what others own into our VPC, each with a mark of its owner's, and beside our names names that begin like them."""
    state = story.world.state
    subnet = state.existing(kinds.SUBNET)[0].registration
    place = {"VpcId": subnet.inputs["vpcId"], "SubnetId": subnet.id}
    theirs: dict[tuple[str, str], Entry] = {
        ("instance", "i-peer"): {
            "InstanceType": "m5.large",
            "State": {"Name": "running"},
            "Tags": tag_list({CLUSTER_TAG: "peer"}),
            **place,
        },
        ("group", "sg-peer"): {
            "GroupId": "sg-peer",
            "GroupName": "peer",
            "VpcId": place["VpcId"],
            "Tags": tag_list({"eks:cluster-name": "peer"}),
        },
        ("interface", "eni-peer"): {
            "Status": "available",
            "Groups": [],
            "TagSet": tag_list({"cluster.k8s.amazonaws.com/name": "peer"}),
            **place,
        },
        ("nat", "nat-peer"): {
            "State": "available",
            "NatGatewayAddresses": [],
            "Tags": tag_list({"kubernetes.io/cluster/peer": "owned"}),
            **place,
        },
        ("fsx", "fs-00000000000000eee"): {
            "FileSystemType": "LUSTRE",
            "Lifecycle": "AVAILABLE",
            "SubnetIds": [subnet.id],
            "Tags": tag_list({CLUSTER_TAG: "peer"}),
        },
        ("log group", f"/aws/eks/{story.cluster}/cluster-2"): {"storedBytes": 1},
        ("log group", f"/aws/eks/{story.cluster}-2/cluster"): {"storedBytes": 1},
        ("sqs", f"https://sqs.{story.region}.amazonaws.com/{ACCOUNT}/{story.cluster}-jobs"): {"tags": {}},
    }
    for (kind, which), entry in theirs.items():
        key = IDS.get(kind)
        state.others.setdefault(kind, {})[which] = {**entry, **({key: which} if key else {})}
