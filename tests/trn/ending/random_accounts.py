"""Random accounts: what one cluster left, or still has, among neighbours of every kind, and a state that knows it, or not."""

import copy
import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from facts.names import CLUSTER_TAG, STACK_TAG
from tests.trn.aws.cloud import ACCOUNT, STACK, Cloud, Entry, tag_list
from tests.trn.aws.leftovers import REGION, leave_balancers, leave_compute, leave_control_plane, leave_everything, leave_network
from tests.trn.change.owned import EMPTY, FakePulumi, state, subject
from tests.trn.ending.destroying import destroy
from trn.aws.api import Api
from trn.aws.owner_tags import NAME_TAGS, owned_key
from trn.change.clients import Live, using
from trn.change.cluster import cluster_of
from trn.change.consent import Person
from trn.change.executor import carry_out
from trn.change.ownership import Consent
from trn.change.sweep_plan import DATA_NAMES
from trn.change.whose import Site
from trn.cli.errors import CommandError
from trn.ending.drain.change import Drain
from trn.ending.sweep.change import Sweep

RANDOM_ACCOUNTS = 10_000
"""They take a quarter of an hour."""
OTHER_STACKS = ("organization/trn/prod", "acme/trn/dev", "organization/other/dev")
BY_NAME = ("log group",)
"""Kinds that may carry no tag: where another stack's cluster has the name now, they are its own."""
KOPS = {"KubernetesCluster": "NAME", "kubernetes.io/cluster/NAME": "owned", "k8s.io/role/node": "1", "kops.k8s.io/instancegroup": "nodes"}
Key = tuple[str, str]


@dataclass
class RandomAccount:
    """One drawn account."""

    seed: int
    cluster: str
    cloud: Cloud
    pulumi: FakePulumi
    living: str
    """Whose EKS cluster has the name: there is none, ours, or another owner's."""
    ours: set[Key] = field(default_factory=set)
    """Kind and id of what may go, if no cluster of ours is up."""
    older: set[Key] = field(default_factory=set)
    """Of that, what may go beside a cluster that is up."""
    shared_vpc: str = ""
    """Of others, in which the stack lives too."""
    story: list[str] = field(default_factory=list)
    """What was drawn."""

    def theirs(self) -> dict[Key, Entry]:
        """Everything of the neighbours, as it is now."""
        return {key: entry for key, entry in self.everything().items() if key not in self.ours}

    def everything(self) -> dict[Key, Entry]:
        """All there is, as it is now."""
        listed = ((kind, which, entry) for kind, entries in self.cloud.world.state.others.items() for which, entry in entries.items())
        return {(kind, which): copy.deepcopy(entry) for kind, which, entry in listed}

    @property
    def may_go(self) -> set[Key]:
        """A cluster that is up keeps all that belongs to it until `pulumi destroy` has run."""
        is_destroyed = any(command[1] == "destroy" for command in self.pulumi.ran)
        return self.ours if is_destroyed or self.living != "ours, up" else self.older

    def deleted(self) -> int:
        """How many of our objects are gone."""
        return sum(which not in self.cloud.of(kind) for kind, which in self.ours)


def random_account(seed: int) -> RandomAccount:
    """The account of a seed."""
    drawn = random.Random(seed)
    cluster = drawn.choice(("train", "a", "dev-1"))
    cloud = Cloud(lag=drawn.randint(0, 1), ignores_filters=drawn.random() < 0.3, page_size=100)
    leave_everything(cloud, cluster, "a")
    for kind in list(cloud.world.state.others):
        # A killed destroy has taken some of it, and never what the VPC hangs on.
        if kind not in ("vpc", "subnet") and drawn.random() < 0.3:
            cloud.of(kind).clear()
    made = RandomAccount(
        seed, cluster, cloud, FakePulumi(None), drawn.choice(("no cluster", "ours", "ours", "another stack", "another tool"))
    )
    made.ours = _keys(cloud)
    _control_plane(made, drawn)
    for number in range(drawn.randint(1, 4)):
        neighbour = drawn.choice(NEIGHBOURS)
        made.story.append(neighbour.__name__)
        neighbour(made, drawn, f"n{number}")
    made.pulumi = _pulumi(made, drawn)
    return made


def _keys(cloud: Cloud) -> set[Key]:
    return {(kind, which) for kind, entries in cloud.world.state.others.items() for which in entries}


def _control_plane(made: RandomAccount, drawn: random.Random) -> None:
    """The EKS cluster of the name: our own in any status, or somebody else's."""
    if made.living == "no cluster":
        return
    cloud, before = made.cloud, _keys(made.cloud)
    leave_control_plane(cloud, made.cluster, "a" if made.living == "ours" else "x")
    added = _keys(cloud) - before
    entry = cloud.of("cluster")[made.cluster]
    entry["endpoint"] = "https://example"
    if made.living == "ours":
        made.ours |= added
        entry["status"] = drawn.choice(("ACTIVE", "CREATING", "UPDATING", "PENDING", "DELETING", "FAILED"))
        if entry["status"] not in ("DELETING", "FAILED"):
            made.living = "ours, up"
        _beside_ours(made, drawn)
        return
    theirs = {CLUSTER_TAG: made.cluster, STACK_TAG: drawn.choice(OTHER_STACKS)} if made.living == "another stack" else {}
    for kind, which in added:
        cloud.of(kind)[which]["tags"] = theirs
    entry["createdAt"] = "2026-01-01T00:00:00Z"
    # Names without a tag are those of the cluster that has the name now.
    made.ours = {key for key in made.ours if key[0] not in BY_NAME}


def _beside_ours(made: RandomAccount, drawn: random.Random) -> None:
    """What belongs to our cluster and stands in no state, and a network that a killed run of ours left before it was made."""
    cloud, before = made.cloud, _keys(made.cloud)
    ours = {CLUSTER_TAG: made.cluster, STACK_TAG: STACK}
    cloud.put("node group", "by-hand", {"clusterName": made.cluster, "nodegroupName": "by-hand", "status": "ACTIVE", "tags": {}})
    for number, tags in enumerate(({CLUSTER_TAG: made.cluster}, ours, {"eks:cluster-name": made.cluster, "eks:nodegroup-name": "by-hand"})):
        place = {"VpcId": drawn.choice(("vpc-a", "vpc-elsewhere")), "InstanceType": "m5.large", "State": {"Name": "running"}}
        cloud.put("instance", f"i-node-{number}", {"InstanceId": f"i-node-{number}", "Tags": tag_list(tags), **place})
    template = {"LaunchTemplateName": f"{made.cluster}-new", "CreateTime": "2026-02-01T00:00:00Z", "Tags": tag_list(ours)}
    cloud.put("template", "lt-new", {"LaunchTemplateId": "lt-new", **template})
    made.ours |= _keys(cloud) - before
    cloud.put("vpc", "vpc-old", {"VpcId": "vpc-old", "Tags": tag_list(ours)})
    cloud.put("template", "lt-old", {**template, "LaunchTemplateId": "lt-old", "CreateTime": "2025-12-01T00:00:00Z"})
    made.older = {("vpc", "vpc-old"), ("template", "lt-old")}
    if "nat-a" not in cloud.of("nat"):
        # Nothing uses it.
        made.older |= {key for key in made.ours if key[0] == "address"}
    made.ours |= made.older


def _look_alike(made: RandomAccount, drawn: random.Random, mark: str) -> None:
    """A whole cluster whose name begins or ends like ours."""
    name = drawn.choice((f"{made.cluster}-2", f"my-{made.cluster}", f"{made.cluster}2", made.cluster.upper()))
    leave_everything(made.cloud, name, mark)


def _twin(made: RandomAccount, drawn: random.Random, mark: str) -> None:
    """Another stack's cluster of the same name, with a VPC of its own."""
    before, other = _keys(made.cloud), drawn.choice(OTHER_STACKS)
    leave_network(made.cloud, made.cluster, mark)
    leave_compute(made.cloud, made.cluster, mark)
    leave_balancers(made.cloud, made.cluster, mark)
    for kind, which in _keys(made.cloud) - before:
        entry = made.cloud.of(kind)[which]
        for key in ("Tags", "TagSet"):
            for tag in entry.get(key, ()):
                tag.update({"Value": other} if tag["Key"] == STACK_TAG else {})
    for name in [name for name in made.cloud.of("log group") if drawn.random() < 0.3]:
        # Log groups are found by the names that both clusters use: their tags say whose they are.
        made.cloud.of("log group")[name]["tags"] = {CLUSTER_TAG: made.cluster, STACK_TAG: other}
        made.ours.discard(("log group", name))


def _in_our_vpc(made: RandomAccount, drawn: random.Random, mark: str) -> None:
    """Another owner's things in our VPC, each with a mark of its owner's, some with ours beside it."""
    marks: tuple[Mapping[str, str], ...] = (
        *({key: "peer"} for key in NAME_TAGS),
        {owned_key("peer"): drawn.choice(("owned", "shared"))},
        {key.replace("NAME", made.cluster): value.replace("NAME", made.cluster) for key, value in KOPS.items()},
        {"aws:cloudformation:stack-id": "arn:aws:cloudformation:us-west-2:1:stack/x"},
        {CLUSTER_TAG: made.cluster, STACK_TAG: drawn.choice(OTHER_STACKS)},
    )
    for kind, entry, key in _placed(mark):
        tags = drawn.choice(marks)
        if drawn.random() < 0.3:
            tags = {CLUSTER_TAG: made.cluster, STACK_TAG: STACK, **tags}
        made.cloud.put(kind, f"{kind}-{mark}", {**entry, key: tag_list(dict(tags))})


def _of_another_account(made: RandomAccount, drawn: random.Random, mark: str) -> None:
    """What another account has in our VPC, which is shared with it: nothing but its owner tells."""
    for kind, entry, key in _placed(mark):
        if kind in ("interface", "group"):
            made.cloud.put(kind, f"{kind}-{mark}", {**entry, "OwnerId": "999999999999", key: []})


def _elsewhere(made: RandomAccount, drawn: random.Random, mark: str) -> None:
    """Things without any tag, in a VPC without an owner's tag."""
    for kind, entry, _ in _placed(mark, vpc=f"vpc-of-{mark}", subnet=f"subnet-of-{mark}"):
        made.cloud.put(kind, f"{kind}-{mark}", entry)


def _of_a_shared_vpc(made: RandomAccount, drawn: random.Random, mark: str) -> None:
    """A cluster of kubeadm or RKE of our name, in a VPC that others keep and our stack uses: its controllers mark their objects as ours do."""
    made.shared_vpc = "vpc-shared"
    marks = ({owned_key(made.cluster): "owned"}, {owned_key(made.cluster): "owned", "elbv2.k8s.aws/cluster": made.cluster}, {})
    for kind, entry, key in _placed(mark, made.shared_vpc, "subnet-shared"):
        made.cloud.put(kind, f"{kind}-{mark}", {**entry, key: tag_list(drawn.choice(marks))})
    arn = f"arn:aws:elasticloadbalancing:{REGION}:{ACCOUNT}:loadbalancer/net/{mark}/0"
    made.cloud.put(
        "lb", arn, {"LoadBalancerArn": arn, "LoadBalancerName": mark, "VpcId": made.shared_vpc, "Tags": tag_list(drawn.choice(marks[:2]))}
    )


def _in_another_organization(made: RandomAccount, drawn: random.Random, mark: str) -> None:
    """Names that are equal to ours, and the mark of a stack of the same project and name in another organization."""
    theirs = {CLUSTER_TAG: made.cluster, STACK_TAG: "acme/trn/dev"}
    for kind in ("sqs", "rule", "schedule group", "budget", "topic", "role", "key", "log group"):
        for which in [which for which in made.cloud.of(kind) if (kind, which) in made.ours and drawn.random() < 0.5]:
            entry = made.cloud.of(kind)[which]
            # One that was made later, or earlier, in the place of ours.
            made.cloud.of(kind)[which] = {**entry, "tags": theirs, **({"CreateDate": _born(drawn)} if kind == "role" else {})}
            made.ours.discard((kind, which))
    leave_network(made.cloud, made.cluster, mark)
    for kind, which in [key for key in _keys(made.cloud) if key[1].endswith(f"-{mark}")]:
        for tags in (made.cloud.of(kind)[which].get(key, ()) for key in ("Tags", "TagSet")):
            for tag in tags:
                tag.update({"Value": theirs[STACK_TAG]} if tag["Key"] == STACK_TAG else {})


def _born(drawn: random.Random) -> str:
    return drawn.choice(("2025-06-01T00:00:00Z", "2026-06-01T00:00:00Z"))


def _earlier_log_groups(made: RandomAccount, drawn: random.Random, mark: str) -> None:
    """Logs of a cluster that had the name before ours, without a tag; where ours is gone nothing tells how old it was."""
    if made.living.startswith("ours"):
        for name in [name for name in made.cloud.of("log group") if drawn.random() < 0.5]:
            made.cloud.of("log group")[name]["creationTime"] = 1_735_689_600_000
            made.ours.discard(("log group", name))


def _user_of_our_role(made: RandomAccount, drawn: random.Random, mark: str) -> None:
    """Another cluster whose control plane or nodes have the role that our stack made."""
    arn, peer = f"arn:aws:iam::{ACCOUNT}:role/{made.cluster}-{REGION}-node", f"peer-{mark}"
    made.cloud.put("cluster", peer, {"name": peer, "arn": f"arn:aws:eks:{REGION}:{ACCOUNT}:cluster/{peer}", "status": "ACTIVE", "tags": {}})
    if drawn.random() < 0.5:
        made.cloud.of("cluster")[peer]["roleArn"] = arn
    else:
        group = {"clusterName": peer, "nodegroupName": f"gpu-{mark}", "status": "ACTIVE", "tags": {}, "nodeRole": arn}
        made.cloud.put("node group", f"gpu-{mark}", group)
    made.ours.discard(("role", arn.rpartition("/")[2]))


def _placed(mark: str, vpc: str = "vpc-a", subnet: str = "subnet-a") -> list[tuple[str, Entry, str]]:
    """Kind, entry and the key of its tags, of what lies in a VPC."""
    place = {"VpcId": vpc, "SubnetId": subnet}
    return [
        ("instance", {"InstanceId": f"instance-{mark}", "InstanceType": "m5.large", "State": {"Name": "running"}, **place}, "Tags"),
        ("group", {"GroupId": f"group-{mark}", "GroupName": f"peer-{mark}", "VpcId": vpc, "IpPermissions": [], "IpPermissionsEgress": []}, "Tags"),
        ("interface", {"NetworkInterfaceId": f"interface-{mark}", "Status": "available", "Groups": [], **place}, "TagSet"),
        ("nat", {"NatGatewayId": f"nat-{mark}", "State": "available", "NatGatewayAddresses": [], **place}, "Tags"),
        ("endpoint", {"VpcEndpointId": f"endpoint-{mark}", "VpcEndpointType": "Interface", "SubnetIds": [subnet], "State": "available", "VpcId": vpc}, "Tags"),
        ("subnet", {"SubnetId": f"subnet-{mark}", "VpcId": vpc, "AvailabilityZoneId": "usw2-az1"}, "Tags"),
    ]  # fmt: skip


NEIGHBOURS: tuple[Callable[[RandomAccount, random.Random, str], None], ...] = (
    _look_alike, _twin, _in_our_vpc, _in_our_vpc, _of_another_account, _elsewhere, _of_a_shared_vpc, _in_another_organization,
    _earlier_log_groups, _user_of_our_role,
)  # fmt: skip


def _pulumi(made: RandomAccount, drawn: random.Random) -> FakePulumi:
    """Pulumi with a state that knows the cluster, one that knows another cluster, an empty one, or none."""
    wrong: dict[str, Any] = drawn.choice(
        ({"vpc": "vpc-b"}, {"created_at": "2020-01-01T00:00:00Z"}, {"arn": f"arn:aws:eks:{REGION}:999999999999:cluster/{made.cluster}"})
    )
    own = state(made.cluster, with_cluster=made.living != "no cluster")
    exports = (own, own, own, EMPTY, None, state(made.cluster, **wrong))
    return FakePulumi(drawn.choice(exports), lambda command: _destroyed(made) if command[1] == "destroy" else (0, ""))


def _destroyed(made: RandomAccount) -> tuple[int, str]:
    """What `pulumi destroy` takes: some of what the state holds."""
    for kind in ("node group", "access entry", "cluster", "nat", "fsx"):
        for which in [key for key in made.cloud.of(kind) if (kind, key) in made.ours]:
            del made.cloud.of(kind)[which]
    made.pulumi.export = EMPTY
    return 0, ""


class _Access(Live):
    """The account, and a Kubernetes that may be asked only where the cluster is ours."""

    def __init__(self, made: RandomAccount) -> None:
        self._made = made

    def aws(self, _stack: str, region: str, /) -> Api:
        """The one account."""
        return self._made.cloud.api

    def kubernetes(self, api: Api, entry: dict[str, Any]) -> Any:
        """It never answers: nothing in it can be changed."""
        raise CommandError("the API server does not answer")


def run(made: RandomAccount, command: str, said: list[str] | None = None, *, break_lock: bool = False) -> list[str]:
    """One command, with everything said in advance that can be said. `said`: takes its lines, and the error that ended it."""
    said = [] if said is None else said
    about = replace(subject(made.cluster), existing_vpc=made.shared_vpc)
    consent = Consent(yes=True, name=made.cluster, identity="" if made.pulumi.export == state(made.cluster) else STACK)
    try:
        with using(_Access(made)):
            site = Site(
                made.cloud.api, made.pulumi, about, lambda: cluster_of(made.cloud.api, made.cluster), lambda _: None,
                lambda line: said.append(str(line)),
            lambda line: said.append(str(line)), break_lock=break_lock,
            )  # fmt: skip
            if command == "sweep":
                carry_out(Sweep(about.stack, DATA_NAMES, named=consent.identity), site, Person(consent, said.append))
            elif command == "destroy":
                destroy(site, consent, data=DATA_NAMES)
            else:
                carry_out(Drain(about.stack), site, Person(consent, said.append))
    except CommandError as error:
        said.append(str(error))
    return said


def touched(seed: int, command: str) -> tuple[list[str], int]:
    """What of a neighbour's is gone or changed after a command in the account of a seed, and how many of our objects went."""
    made = random_account(seed)
    before = made.everything()
    run(made, command)
    after, may_go = made.everything(), made.may_go
    changed = {key for key in before.keys() | after.keys() if key not in may_go and before.get(key) != after.get(key)}
    wrong = sorted(f"{kind} {which}" for kind, which in changed)
    return [f"seed {seed}, {command}, {made.living}, {made.story}: {what}" for what in wrong], made.deleted()
