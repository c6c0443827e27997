"""What a command must know before its first change, whoever else is in the account: nothing that is not this stack's is touched."""

import copy
import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from tests.training.sites import SITE
from tests.trn.aws.cloud import ACCOUNT, CREATED_AT, STACK, Cloud, tag_list
from tests.trn.aws.leftovers import leave_control_plane, leave_everything
from tests.trn.change.owned import EMPTY, FakePulumi, cluster_arn, locks_of, owner_of, put_lock, resource, state, subject
from tests.trn.ending import destroying
from tests.trn.ending.sweeping import Sweeping
from tests.trn.given import Given
from tests.trn.kubernetes.fake_kubernetes import FakeCluster, busy
from trn.aws.leftovers import Found
from trn.aws.lock import Holder
from trn.change.action import Change
from trn.change.consent import Person
from trn.change.executor import carry_out
from trn.change.ownership import Consent, agreed, read_ownership, refuse_mismatch
from trn.change.sweep_plan import UNKNOWN, is_data
from trn.change.whose import Site
from trn.cli.errors import CommandError, OwnershipError
from trn.ending.drain.change import Drain
from trn.ending.sweep.plan import refuse_data
from trn.running.scale.change import Scale

CLUSTER, PEER = "train", "organization/trn/peer"
YES = Consent(yes=True)
NAMED = Consent(yes=True, name=CLUSTER)


class World:
    """A cluster that is up, its stack and its Kubernetes."""

    def __init__(self, given: Given, export: dict[str, Any] | None = None, *, up: bool = True) -> None:
        self.cloud, self.kubernetes = Cloud(), busy()
        leave_everything(self.cloud, CLUSTER)
        if up:
            leave_control_plane(self.cloud, CLUSTER)
            self.cluster["endpoint"] = "https://example"
            scaling = {"minSize": 0, "maxSize": 2, "desiredSize": 2}
            group = f"arn:aws:eks:us-west-2:{ACCOUNT}:nodegroup/{CLUSTER}/core/1"
            self.cloud.of("node group")["core"] |= {"scalingConfig": scaling, "nodegroupArn": group}
        self.pulumi = FakePulumi(state(CLUSTER) if export is None else export)
        self.pulumi.on_run = self._destroyed
        given.cluster = lambda: self.kubernetes
        self.before = self.ids()
        self.about = subject(CLUSTER)
        """As the stack file says it."""

    @property
    def cluster(self) -> dict[str, Any]:
        """As EKS describes it."""
        return self.cloud.of("cluster")[CLUSTER]

    def ids(self) -> set[str]:
        """Everything in the account but the lock."""
        return self.cloud.ids() - locks_of(self.cloud)

    def _destroyed(self, command: tuple[str, ...]) -> tuple[int, str]:
        if command[1] == "destroy":
            self.cloud.of("instance").clear()
        return self._destroyed_but_instances(command)

    def _destroyed_but_instances(self, command: tuple[str, ...]) -> tuple[int, str]:
        if command[1] == "destroy":
            for kind in ("cluster", "node group", "access entry", "nat", "fsx"):
                self.cloud.of(kind).clear()
            self.pulumi.export = EMPTY
        return 0, ""

    def sweep(self, consent: Consent = YES, **choices: Any) -> Sweeping:
        """`trn sweep --delete`."""
        return Sweeping(self.cloud, pulumi=self.pulumi, consent=consent, about=self.about, choices=choices).run()

    def destroy(self, consent: Consent = YES, *, is_protected: bool = False, given: frozenset[str] = frozenset(), **choices: Any) -> Any:
        """`trn destroy`. `given`: what the stack file says that others keep."""
        site = replace(self.site(), subject=replace(self.about, existing_ids=given))
        report, ended = destroying.reported(site, consent, is_protected=is_protected, **choices)
        if ended is not None:
            raise ended
        return SimpleNamespace(**report)

    def drain(self, consent: Consent = YES) -> Any:
        """`trn drain`."""
        return self._carry_out(Drain("dev"), consent)

    def scale(self, consent: Consent = YES) -> Any:
        """`trn scale core 0`."""
        return self._carry_out(Scale("dev", CLUSTER, "core", 0, "training", SITE, costs=()), consent)

    def _carry_out(self, change: Change[Any], consent: Consent) -> int:
        return carry_out(change, self.site(), Person(consent, lambda _: None))

    def site(self) -> Site:
        """Where a command is carried out."""
        return Site(self.cloud.api, self.pulumi, self.about, lambda: self.kubernetes, lambda _: None, lambda _: None, lambda _: None)

    def look(self, consent: Consent = YES) -> Any:
        """What `trn verify` and `trn shell` ask before they start a pod."""
        return agreed(read_ownership(self.cloud.api, self.pulumi, self.about), consent, lambda line: None)

    def is_untouched(self) -> bool:
        """Nothing was changed anywhere."""
        sizes = self.cloud.of("node group").get("core", {}).get("scalingConfig", {}).get("desiredSize", 2)
        changed = [command for command in self.pulumi.ran if command[1] != "refresh"]
        return self.ids() == self.before and not self.kubernetes.log and not changed and sizes == 2


@pytest.fixture
def world(given: Given) -> World:
    """The cluster, held by its stack."""
    return World(given)


COMMANDS: dict[str, Callable[[World], Any]] = {name: getattr(World, name) for name in ("sweep", "destroy", "drain", "scale", "look")}


def another_account(world: World) -> None:
    """The caller's credentials are another account's."""
    world.cloud.wire.handlers["sts.GetCallerIdentity"] = lambda given: {"Account": "999999999999", "Arn": "arn:aws:iam::999999999999:user/a", "UserId": "a"}  # fmt: skip


FOREIGN: dict[str, Callable[[World], Any]] = {
    "account": another_account,
    "region": lambda world: world.cluster.update(arn=cluster_arn(CLUSTER, region="us-east-1")),
    "made again": lambda world: world.cluster.update(createdAt="2026-02-02T00:00:00Z"),
    "VPC": lambda world: world.cluster.update(resourcesVpcConfig={"vpcId": "vpc-b"}),
    "stack": lambda world: world.cluster.update(tags={"trn:cluster": CLUSTER, "trn:stack": PEER}),
    "no stack": lambda world: world.cluster.update(tags={"trn:cluster": CLUSTER}),
    "no tag": lambda world: world.cluster.update(tags={}),
}


@pytest.mark.parametrize("difference", FOREIGN)
@pytest.mark.parametrize("command", COMMANDS)
def test_another_cluster_of_the_same_name_is_left_alone_by_every_command(world: World, command: str, difference: str):
    """Both sides are shown; giving the name changes nothing of it."""
    FOREIGN[difference](world)
    with pytest.raises(CommandError) as raised:
        COMMANDS[command](world)
    assert world.is_untouched()
    assert "state has" in str(raised.value) or "lacks the tag" in str(raised.value)


@pytest.mark.parametrize("command", ["sweep", "destroy", "drain", "scale", "look"])
def test_a_state_that_cannot_be_read_is_not_a_stack_that_is_gone(world: World, command: str, monkeypatch: pytest.MonkeyPatch):
    """A backend out of reach, a passphrase that is not set."""
    monkeypatch.setattr(world.pulumi, "ask", lambda command: (255, "error: passphrase must be set"))
    with pytest.raises(CommandError, match="it is not known whose the cluster is"):
        COMMANDS[command](world)
    assert world.is_untouched()


@pytest.mark.parametrize("command", ["drain", "scale", "look"])
@pytest.mark.parametrize("export", [EMPTY, None])
def test_where_the_stack_is_gone_the_name_is_asked_for(world: World, command: str, export: dict[str, Any] | None):
    """`--yes` alone says nothing about whose it is; a slip in the name is a no."""
    world.pulumi.export = export
    for consent, says in ((YES, "--yes alone is not enough"), (Consent(yes=True, name="trian"), "is not the cluster's name")):
        with pytest.raises(OwnershipError, match=says):
            COMMANDS[command](world, consent)  # pyright: ignore[reportCallIssue]
    assert world.is_untouched()
    asked = list[str]()
    COMMANDS[command](world, Consent(prompt=lambda question: asked.append(question) or CLUSTER))  # pyright: ignore[reportCallIssue]
    assert len(asked) == 1


def test_a_stack_that_holds_something_else_does_not_hold_this_cluster(world: World):
    """Its own `trn:name` was another one: nothing is asked, it is refused."""
    world.pulumi.export = state("other", vpc="vpc-other")
    for command in COMMANDS.values():
        with pytest.raises(CommandError, match="does not hold the cluster"):
            command(world, NAMED)  # pyright: ignore[reportCallIssue]
    assert world.is_untouched()


def test_what_another_stack_made_is_not_swept_by_a_name_that_was_typed(world: World):
    """The cluster of `peer` in place of ours, and our stack gone."""
    world.pulumi.export = None
    FOREIGN["stack"](world)
    for command in (world.sweep, world.drain, world.scale, world.look):
        with pytest.raises(OwnershipError, match="another stack made this"):
            command(NAMED)
    assert world.is_untouched()


# The state


@pytest.mark.parametrize(
    ("stack", "says"), [("organization/trn/prod", "state of another stack"), ("organization/other/dev", "state of another stack")]
)
def test_a_state_file_must_be_this_stacks_own(world: World, tmp_path: Path, stack: str, says: str):
    """And it switches no guard off: the identity in it is compared as that of the backend is."""
    file = tmp_path / "state.json"
    file.write_text(json.dumps(state(CLUSTER, stack=stack)))
    with pytest.raises(CommandError, match=says):
        world.sweep(state_file=file)
    file.write_text(json.dumps(state(CLUSTER, created_at="2025-01-01T00:00:00Z")))
    with pytest.raises(OwnershipError, match="created: Pulumi's state has 2025-01-01T00:00:00Z"):
        world.sweep(state_file=file)
    file.write_text(json.dumps(EMPTY))
    with pytest.raises(CommandError, match="does not say whose state it is"):
        world.sweep(replace(NAMED), state_file=file)
    assert world.is_untouched()


def written(file: Path, export: dict[str, Any]) -> Path:
    """The state in a file."""
    file.write_text(json.dumps(export))
    return file


def version(export: dict[str, Any], time: str, salt: str = "salt") -> dict[str, Any]:
    """The state as written at a time, with the key of its secrets."""
    more = {"manifest": {"time": time}, "secrets_providers": {"type": "passphrase", "state": {"salt": salt}}}
    return {**export, "deployment": {**export["deployment"], **more}}


FLEET = "fs-00000000000000061"
OLD, NEW = "2026-11-01T00:00:00.123456789Z", "2026-11-02T00:00:00+01:00"


def test_a_state_file_of_today_is_as_good_as_the_backend(left: World, tmp_path: Path):
    """And the ids of both are kept."""
    export = version(state(CLUSTER, FLEET, vpc="vpc-earlier", with_cluster=False), OLD)
    left.pulumi.export = export
    swept = left.sweep(state_file=written(tmp_path / "state.json", export))
    assert FLEET in left.ids()
    assert "in Pulumi's state" in [why for item, why in swept.kept if item.id == FLEET]
    assert "nat-a" not in left.ids()


@pytest.mark.parametrize(
    ("time", "salt", "says"),
    [(OLD, "salt", "is an old state of 2026-11-01T00:00:00Z"), ("", "salt", "is an old state"), (OLD, "other", "state of another stack of this name"), (NEW, "other", "state of another stack of this name")],
)  # fmt: skip
def test_an_old_state_or_one_of_another_lineage_deletes_nothing(left: World, tmp_path: Path, time: str, salt: str, says: str):
    """What was made since is in the backend's state and in no file."""
    left.pulumi.export = version(state(CLUSTER, FLEET, "nat-a", vpc="vpc-earlier", with_cluster=False), NEW)
    stale = version(state(CLUSTER, vpc="vpc-earlier", with_cluster=False), time, salt)
    for consent in (YES, NAMED):
        with pytest.raises(OwnershipError, match=says):
            left.sweep(consent, state_file=written(tmp_path / "state.json", stale))
    assert left.is_untouched()


def test_a_state_that_the_backend_lost_keeps_what_either_holds(left: World, tmp_path: Path):
    """The backend was set back: its own state is the older one."""
    left.pulumi.export = version(state(CLUSTER, "lt-a", vpc="vpc-earlier", with_cluster=False), OLD)
    newer = version(state(CLUSTER, FLEET, vpc="vpc-earlier", with_cluster=False), NEW)
    left.sweep(state_file=written(tmp_path / "state.json", newer))
    assert {FLEET, "lt-a"} <= left.ids()
    assert "nat-a" not in left.ids()


@pytest.mark.parametrize(
    "answer", [(255, "error: passphrase must be set"), (255, "error: no stack named 'dev' found"), (0, "{"), (0, "{}")]
)
def test_where_the_backend_does_not_answer_what_lives_is_kept(left: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, answer: tuple[int, str]):  # fmt: skip
    """Today's state may hold it: a file system, instances, and all that was made since the file was written. And a person says yes to it."""
    left.cloud.put("volume", "vol-new", {**volume("vol-new"), "CreateTime": "2026-11-03T00:00:00Z"})
    left.cloud.put("volume", "vol-then", {**volume("vol-then"), "CreateTime": "2026-10-03T00:00:00Z"})
    file = written(tmp_path / "state.json", version(state(CLUSTER, vpc="vpc-earlier", with_cluster=False), OLD))
    monkeypatch.setattr(left.pulumi, "ask", lambda command: answer)
    before = left.ids()
    with pytest.raises(OwnershipError, match="--yes alone is not enough: Pulumi's backend does not say"):
        left.sweep(state_file=file)
    assert left.ids() == before
    swept = left.sweep(NAMED, state_file=file)
    assert {FLEET, "i-a", "vol-new"} <= left.ids()
    assert {why for item, why in swept.kept if item.id in (FLEET, "i-a", "vol-new")} == {UNKNOWN}
    assert not {"vol-then", "nat-a"} & left.ids()


def test_where_the_backend_does_not_answer_a_cluster_is_kept_with_all_that_is_its_own(world: World, tmp_path: Path):
    """Though it could not be made, or the file does not hold it."""
    world.cluster["status"] = "FAILED"
    file = written(tmp_path / "state.json", version(state(CLUSTER, FLEET), OLD))
    world.pulumi.export = None
    world.sweep(NAMED, state_file=file)
    assert world.is_untouched()


# Beside a cluster


def test_a_sweep_beside_a_living_cluster_deletes_nothing_of_it(world: World):
    """Its node group, its instances and its log groups stand in no state here, and only what a killed run left before goes."""
    by_hand = {"clusterName": CLUSTER, "nodegroupName": "by-hand", "status": "ACTIVE", "tags": {}}
    world.cloud.put("node group", "by-hand", by_hand)
    place = {"VpcId": "vpc-b", "InstanceType": "m5.large", "State": {"Name": "running"}}
    world.cloud.put("instance", "i-marked", {"InstanceId": "i-marked", "Tags": tag_list({"trn:cluster": CLUSTER}), **place})
    world.cloud.put("instance", "i-stack", {"InstanceId": "i-stack", "Tags": own_tags(), **place})
    before = world.ids()
    world.cloud.put("vpc", "vpc-old", {"VpcId": "vpc-old", "Tags": own_tags()})
    outcome = world.sweep(data=frozenset({"volumes", "snapshots", "backups", "file-systems"}))
    assert outcome is not None
    assert [item.id for item in outcome.deleted] == ["vpc-old"]
    assert world.ids() == before


@pytest.mark.parametrize("stack", [STACK, "acme/trn/dev"])
@pytest.mark.parametrize("gone", [None, EMPTY])
def test_a_living_cluster_of_a_stack_that_this_backend_lacks_is_not_swept(world: World, stack: str, gone: dict[str, Any] | None):
    """A colleague's backend has it, under the same name of project and stack; in a folder or a bucket the organization is the same too."""
    world.pulumi.export = gone
    mark(world, stack)
    for consent in (NAMED, replace(NAMED, identity=stack)):
        with pytest.raises(CommandError) as raised:
            world.sweep(consent)
        assert "the cluster is up" in str(raised.value) or "another stack made this than organization/trn/dev" in str(raised.value)
    assert world.is_untouched()


def mark(world: World, stack: str) -> None:
    """All objects of the account carry another stack's mark."""
    text = json.dumps(world.cloud.world.state.others).replace(STACK, stack)
    world.cloud.world.state.others.update(json.loads(text))


def test_the_organization_counts_where_stacks_are_compared(left: World):
    """What `acme` left is not the caller's by project and stack alone: it is named in full, and the cluster's name is typed."""
    left.pulumi.export = None
    mark(left, "acme/trn/dev")
    with pytest.raises(OwnershipError, match="another stack made this than organization/trn/dev"):
        left.sweep(NAMED)
    with pytest.raises(OwnershipError, match="--yes alone is not enough"):
        left.sweep(replace(YES, identity="acme/trn/dev"))
    assert left.is_untouched()
    left.sweep(replace(NAMED, identity="acme/trn/dev"))
    assert "nat-a" not in left.ids()


def test_where_the_cluster_is_gone_the_stacks_first_run_tells_what_is_older(left: World):
    """Logs of a cluster that had the name before this stack did."""
    export = left.pulumi.export
    assert export is not None
    export["deployment"]["resources"][0]["created"] = "2026-01-01T00:00:00Z"
    old, own = "/aws/eks/train/cluster", "/aws/containerinsights/train/host"
    left.cloud.of("log group")[old]["creationTime"] = 1_764_547_200_000
    left.cloud.of("log group")[own]["creationTime"] = 1_767_312_000_000
    swept = left.sweep()
    assert [why for item, why in swept.kept if item.id == old] == ["made 2025-12-01T00:00:00Z, before the cluster"]
    assert (old in left.ids(), own in left.ids()) == (True, False)


# Destroy


def test_an_empty_stack_does_not_destroy_a_living_cluster(world: World):
    """A fresh `stack init`, another backend: `pulumi destroy` would succeed, and the sweep would take a colleague's cluster."""
    world.pulumi.export = EMPTY
    with pytest.raises(CommandError, match="is empty, and the cluster `train` is up"):
        world.destroy(NAMED)
    world.pulumi.export = None
    with pytest.raises(CommandError, match="Pulumi knows no stack `dev`"):
        world.destroy(NAMED)
    assert world.is_untouched()


@pytest.mark.parametrize("what", ["the settings", "EKS", "Pulumi's lock"])
def test_what_forbids_a_destroy_is_found_before_anything_is_drained(world: World, what: str):
    """The jobs live on."""
    world.cluster["deletionProtection"] = what == "EKS"
    world.pulumi.locked = what == "Pulumi's lock"
    with pytest.raises(CommandError, match="another run holds the lock" if world.pulumi.locked else "protected from deletion"):
        world.destroy(is_protected=what == "the settings")
    assert world.is_untouched()


@pytest.mark.parametrize("which", ["fs-0123456789abcdef0", "arn:aws:iam::123456789012:role/nodes"])
def test_what_was_given_away_and_is_still_in_the_state_is_not_destroyed(world: World, which: str):
    """The file says that others keep it, and Pulumi, which reads no file on destroy, would delete it with all data."""
    made = world.pulumi.export
    assert made is not None
    made["deployment"]["resources"].append(resource("aws:fsx/lustreFileSystem:LustreFileSystem", which[-20:], {"arn": which}))
    with pytest.raises(CommandError, match=f"state holds {which}, and the stack file says that others keep it") as refused:
        world.destroy(given=frozenset({which, "vpc-of-others"}))
    assert "pulumi state delete URN --stack dev" in (refused.value.hint or "")
    assert world.is_untouched()
    assert world.destroy(given=frozenset({"vpc-of-others"})).destroyed


@pytest.mark.parametrize("answer", [None, False, True])
def test_a_destroy_asks_about_what_it_finds_that_was_not_there(world: World, answer: bool | None):
    """The question covers what it showed, and no option covers more: with `--yes`, and after a no, it is left and reported."""

    def run(command: tuple[str, ...]) -> tuple[int, str]:
        world._destroyed(command)
        world.cloud.put(
            "volume", "vol-new", {"VolumeId": "vol-new", "Size": 1, "VolumeType": "gp3", "State": "available", "Tags": own_tags()}
        )
        return 0, ""

    world.pulumi.on_run = run
    asked = list[str]()
    report = world.destroy(YES if answer is None else Consent(confirm=asked.append, ask=lambda question: asked.append(question) or answer))
    assert [question.split(" stack")[0] for question in asked] == ([] if answer is None else ["Destroy", "Do these 1 too?"])
    assert ("vol-new" in world.ids(), [entry["id"] for entry in report.left]) == ((False, []) if answer else (True, ["vol-new"]))
    assert not {"nat-a", "lt-a"} & world.ids()


def own_tags(**more: str) -> list[dict[str, str]]:
    """The marks of the stack's own objects."""
    return tag_list({"trn:cluster": CLUSTER, "trn:stack": STACK, **more})


# The confirmation binds


@pytest.fixture
def left(given: Given) -> World:
    """What a destroy left: no cluster, and a state that still holds an earlier VPC."""
    return World(given, state(CLUSTER, vpc="vpc-earlier", with_cluster=False), up=False)


def volume(which: str, **more: str) -> dict[str, Any]:
    """A volume of the stack."""
    return {"VolumeId": which, "Size": 1, "VolumeType": "gp3", "State": "available", "Tags": own_tags(**more)}


def appearing(world: World, act: Callable[[], None]) -> Consent:
    """A question during which something happens."""
    return Consent(confirm=lambda question: act() if question.startswith("Delete ") and "resources of" in question else None)


def test_what_appears_after_the_confirmation_is_asked_for_and_with_yes_it_stays(left: World):
    """It is reported, and makes the exit code 1."""
    real, first = left.cloud.wire.handlers["sts.GetCallerIdentity"], list[int]()

    def late(given: dict[str, Any]) -> dict[str, Any]:
        first.append(1)
        if len(first) == 2:
            left.cloud.put("volume", "vol-new", volume("vol-new"))
        return real(given)

    left.cloud.wire.handlers["sts.GetCallerIdentity"] = late
    outcome = left.sweep()
    assert outcome is not None
    assert [(item.id, why) for item, why in outcome.left] == [("vol-new", "appeared after the plan was confirmed: it was not deleted")]
    assert "vol-new" in left.ids()
    asked = list[str]()
    first.clear()
    left.cloud.put("volume", "vol-other", volume("vol-other"))
    del left.cloud.of("volume")["vol-new"]
    outcome = left.sweep(Consent(ask=lambda question: asked.append(question) or True))
    assert outcome is not None
    assert (outcome.left, asked) == ([], ["Do these 1 too?"])


def test_an_object_that_became_anothers_after_the_confirmation_stays(left: World):
    """Its tags are read again before it is deleted."""

    def taken() -> None:
        left.cloud.of("volume")["vol-a"]["Tags"] = own_tags(**{"kops.k8s.io/instancegroup": "nodes"})
        left.cloud.of("template")["lt-a"]["Tags"] = tag_list({"trn:cluster": CLUSTER, "trn:stack": PEER})

    left.sweep(appearing(left, taken))
    assert {"vol-a", "lt-a"} <= left.ids()
    assert "vol-old-a" not in left.ids()


def test_an_object_of_the_same_name_that_was_made_again_was_not_confirmed(left: World):
    """A role that a colleague's run made in the meantime."""
    name = "train-us-west-2-node"

    def make_again() -> None:
        left.cloud.of("role")[name]["CreateDate"] = "2026-03-03T00:00:00Z"

    outcome = left.sweep(appearing(left, make_again))
    assert outcome is not None
    assert [item.id for item, _ in outcome.left] == [f"{name} of 2026-03-03 00:00:00+00:00"]
    assert name in left.ids()


def test_a_cluster_that_appears_under_the_name_stops_the_sweep(left: World):
    """A colleague brings one up while the question is open."""
    with pytest.raises(OwnershipError, match="has become another one"):
        left.sweep(appearing(left, lambda: leave_control_plane(left.cloud, CLUSTER)))
    assert left.ids() - left.before <= {"train", "core", *left.cloud.of("access entry")}


def test_what_a_run_of_pulumi_makes_meanwhile_is_kept(left: World):
    """Its state is read again before anything is deleted, and a run that is under way forbids the sweep."""

    def up() -> None:
        left.pulumi.export = state(CLUSTER, "lt-a", vpc="vpc-a", with_cluster=False)

    left.sweep(appearing(left, up))
    assert {"lt-a", "vpc-a"} <= left.ids()
    left.pulumi.locked = True
    left.cloud.put("volume", "vol-new", volume("vol-new"))
    with pytest.raises(CommandError, match="another run holds the lock"):
        left.sweep()
    assert "vol-new" in left.ids()


# Objects


def test_objects_of_two_stacks_are_swept_for_the_one_that_is_named(left: World):
    """Those of the other are kept, with the reason."""
    left.pulumi.export = None
    left.cloud.put("volume", "vol-peer", {**volume("vol-peer"), "Tags": tag_list({"trn:cluster": CLUSTER, "trn:stack": PEER})})
    before = left.ids()
    with pytest.raises(OwnershipError, match="objects of several stacks"):
        left.sweep(NAMED)
    assert left.ids() == before
    swept = left.sweep(replace(NAMED, identity=STACK))
    assert [why for item, why in swept.kept if item.id == "vol-peer"] == [f"trn:stack={PEER}: another stack made it"]
    assert "vol-peer" in left.ids()
    assert "nat-a" not in left.ids()


def test_where_the_state_is_gone_the_name_is_asked_for_before_a_sweep(left: World):
    """And the identity on the objects is what is shown."""
    left.pulumi.export = None
    with pytest.raises(OwnershipError, match="--yes alone is not enough"):
        left.sweep()
    assert left.ids() == left.before
    swept = left.sweep(NAMED)
    assert (swept.report["identity"]["stack"], swept.report["identity"]["vpcId"]) == (STACK, "vpc-a")
    assert "nat-a" not in left.ids()


NEIGHBOURS: dict[str, dict[str, Any]] = {
    "a self-managed cluster of the name": {"VpcId": "vpc-kops", "tags": {"kubernetes.io/cluster/train": "owned"}},
    "kOps": {"VpcId": "vpc-a", "tags": {"kubernetes.io/cluster/train": "owned", "KubernetesCluster": "train"}},
    "an instance of a peer in our VPC": {"VpcId": "vpc-a", "tags": {"trn:cluster": "peer"}},
    "Karpenter of a peer in our VPC": {"VpcId": "vpc-a", "tags": {"eks:eks-cluster-name": "peer", "karpenter.sh/nodepool": "x"}},
    "the name in a stack of another": {"VpcId": "vpc-b", "tags": {"trn:cluster": CLUSTER, "trn:stack": PEER}},
    "the name without a stack elsewhere": {"VpcId": "vpc-b", "tags": {"trn:cluster": CLUSTER}},
}


@pytest.mark.parametrize("who", NEIGHBOURS)
def test_a_neighbours_instance_and_volume_stay(left: World, who: str):
    """Whatever of the name, the place or the tags is like ours."""
    entry = NEIGHBOURS[who]
    tags = tag_list(entry["tags"])
    instance = {"InstanceId": "i-n", "InstanceType": "m5.large", "State": {"Name": "running"}, "VpcId": entry["VpcId"], "Tags": tags}
    left.cloud.put("instance", "i-n", instance)
    left.cloud.put("volume", "vol-n", {**volume("vol-n"), "Tags": tags})
    left.cloud.put("group", "sg-n", {"GroupId": "sg-n", "GroupName": "n", "VpcId": entry["VpcId"], "Tags": tags, "IpPermissions": []})
    before = copy.deepcopy([left.cloud.of("instance")["i-n"], left.cloud.of("volume")["vol-n"], left.cloud.of("group")["sg-n"]])
    left.sweep()
    assert [left.cloud.of("instance")["i-n"], left.cloud.of("volume")["vol-n"], left.cloud.of("group")["sg-n"]] == before


@pytest.mark.parametrize(
    ("account", "region"), [("999999999999", "us-west-2"), (ACCOUNT, "us-east-1")]
)  # fmt: skip
def test_an_arn_of_another_account_or_region_is_not_ours(left: World, account: str, region: str):
    """A file system that another account shares, a load balancer of another region's list."""
    file_system = next(iter(left.cloud.of("fsx").values()))
    file_system["ResourceARN"] = f"arn:aws:fsx:{region}:{account}:file-system/{file_system['FileSystemId']}"
    left.sweep()
    assert file_system["FileSystemId"] in left.ids()


def test_a_name_that_another_cluster_has_by_now_tells_nothing():
    """Log groups go by their names: they are the living cluster's."""
    owner = owner_of(Cloud(), CLUSTER)
    by_name = Found("log group", "/aws/eks/train/cluster", "named so", is_by_name=True)
    assert owner.objection(by_name) == ""
    assert "another stack has now" in replace(owner, has_name=False).objection(by_name)


# Data


def test_a_final_backup_is_made_where_the_settings_or_the_file_system_want_one(given: Given):
    """A sweep is no way around `finalBackup: true`. The backup carries the file system's tags."""
    for wanted, tags in ((True, {}), (False, {"trn:final-backup": "true"}), (False, {})):
        world = World(given, state(CLUSTER, vpc="vpc-earlier", with_cluster=False), up=False)
        next(iter(world.cloud.of("fsx").values()))["Tags"] = own_tags(**tags)
        world.sweep(final_backup=wanted)
        (asked,) = [parameters for name, parameters in world.cloud.wire.calls if name == "fsx.DeleteFileSystem"]
        lustre = asked["LustreConfiguration"]
        assert lustre["SkipFinalBackup"] is not bool(wanted or tags)
        assert ({"Key": "trn:stack", "Value": STACK} in lustre.get("FinalBackupTags", [])) is bool(wanted or tags)


@pytest.mark.parametrize("tag", ["CSIVolumeName", "kubernetes.io/created-for/pv/name"])
def test_what_a_persistent_volume_stands_for_is_kept_unless_it_is_named(left: World, tag: str):
    """Its reclaim policy was known to the cluster only."""
    left.cloud.put("volume", "vol-pv", volume("vol-pv", **{tag: "pvc-1"}))
    left.cloud.put("volume", "vol-pv-2", volume("vol-pv-2", **{tag: "pvc-2"}))
    left.cloud.put("fsx", "fs-0000000000000pv1", {**next(iter(left.cloud.of("fsx").values())), "FileSystemId": "fs-0000000000000pv1", "Tags": own_tags(**{tag: "pvc-3"})})  # fmt: skip
    swept = left.sweep()
    assert {item.id for item, why in swept.kept if why.startswith("data: ")} >= {"vol-pv", "vol-pv-2", "fs-0000000000000pv1"}
    plan = Sweeping(left.cloud, pulumi=left.pulumi).plan()
    assert all(is_data(item) for item, why in plan.kept if why.startswith("data: "))
    left.sweep(data=frozenset({"vol-pv"}))
    assert {"vol-pv", "vol-pv-2"} & left.ids() == {"vol-pv-2"}
    left.sweep(data=frozenset({"volumes", "file-systems"}))
    assert not {"vol-pv-2", "fs-0000000000000pv1"} & left.ids()


def test_data_is_named_by_kind_or_id():
    """A slip must not read as an id."""
    assert refuse_data(["volumes", "vol-1"]) == {"volumes", "vol-1"}
    with pytest.raises(CommandError, match="`volume` is no kind of data"):
        refuse_data(["volume"])


# The lock: tests/trn/aws/test_lock.py has what holds of it in every command


@pytest.mark.parametrize("command", ["sweep", "destroy", "drain", "scale"])
def test_two_operators_do_not_change_one_cluster(world: World, left: World, command: str):
    """Who holds it and since when is said, and how to take it."""
    world = left if command == "sweep" else world
    which = put_lock(world.cloud, CLUSTER, Holder("arn:aws:iam::123456789012:user/berta", "berta@desk", "drain dev", CREATED_AT, "t"))
    with pytest.raises(OwnershipError, match=rf"user/berta on berta@desk, `trn drain dev`, since {CREATED_AT}") as raised:
        COMMANDS[command](world)
    assert "--break-lock" in raised.value.hint
    assert world.is_untouched()
    assert locks_of(world.cloud) == {which}


@pytest.mark.parametrize("command", ["sweep", "destroy", "drain", "scale"])
def test_the_lock_is_given_up_at_the_end_and_is_no_leftover(world: World, left: World, command: str):
    """Also of a command that fails."""
    world = left if command == "sweep" else world
    COMMANDS[command](world)
    assert locks_of(world.cloud) == set()
    assert "ec2.CreateLaunchTemplate" in world.cloud.wire.count()


def test_a_command_that_is_interrupted_gives_its_lock_up(left: World):
    """Ctrl-C, or the end of a pipeline."""

    def interrupt(seconds: float) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        Sweeping(left.cloud, pulumi=left.pulumi, consent=YES, pause=interrupt).run()
    assert locks_of(left.cloud) == set()


def test_a_change_needs_the_right_to_lock(left: World):
    """A denied lock is no free lock."""
    left.cloud.wire.denied.add("ec2.CreateLaunchTemplate")
    with pytest.raises(Exception, match="AccessDenied"):
        left.sweep()
    assert left.is_untouched()


# Recovery


def test_recovery_takes_a_cluster_that_the_state_was_making_and_no_other(world: World):
    """By VPC and stack; a finished state is compared whole."""
    world.pulumi.export = state(CLUSTER, with_cluster=False, pending="aws:eks/cluster:Cluster")
    ownership = read_ownership(world.cloud.api, world.pulumi, subject(CLUSTER))
    refuse_mismatch(ownership, unfinished=True)
    with pytest.raises(OwnershipError) as raised:
        refuse_mismatch(ownership)
    assert "`trn recover dev`" in raised.value.hint
    with pytest.raises(OwnershipError, match="account: ") as raised:
        refuse_mismatch(replace(ownership, seen=replace(ownership.seen, account="999999999999")), unfinished=True)
    assert raised.value.hint.startswith("check credentials")
    FOREIGN["VPC"](world)
    with pytest.raises(OwnershipError):
        refuse_mismatch(read_ownership(world.cloud.api, world.pulumi, subject(CLUSTER)), unfinished=True)


def test_the_kubernetes_of_a_foreign_cluster_is_never_asked(world: World):
    """Not even for what a drain would do."""
    FOREIGN["made again"](world)
    asked = list[Any]()
    world.kubernetes.list = lambda resource, **more: asked.append(resource)  # pyright: ignore[reportAttributeAccessIssue]
    with pytest.raises(OwnershipError):
        world.drain()
    assert asked == []
    assert isinstance(world.kubernetes, FakeCluster)
