"""`trn recover`: what a killed run had made comes into the state, and nothing else does."""

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

from tests.support import copy_project
from tests.trn.aws.cloud import Cloud, tag_list
from tests.trn.aws.leftovers import leave_control_plane
from tests.trn.change.owned import locks_of, state
from tests.trn.ending.test_recover_finds import secret
from tests.trn.given import Given
from tests.trn.kubernetes.kubernetes_cloud import KubernetesCloud
from trn.app import app
from trn.aws.sighting import Sighting
from trn.change.identity import StateId, state_id
from trn.cli.errors import CommandError
from trn.ending.recover.change import actions_of
from trn.ending.recover.look import PAUSE_S, ROUNDS, SECRETS, Recovery
from trn.ending.recover.plan import MADE_TWICE, Import, Plan, import_file, plan_recovery, taken_over
from trn.engine.interrupted import UNKNOWN, Pending, State, read_preview, read_state
from trn.engine.pulumi import PulumiCli
from trn.kubernetes.client import KubernetesClient

OWNER = "organization/trn/dev"
STACK = "urn:pulumi:dev::trn::pulumi:pulumi:Stack::trn-dev"
PROVIDER = "urn:pulumi:dev::trn::pulumi:providers:aws::aws"
VPC, ROLE, RELEASE = "aws:ec2/vpc:Vpc", "aws:iam/role:Role", "kubernetes:helm.sh/v3:Release"


def urn(resource_type: str, name: str = "a") -> str:
    """Where a resource stands in the stack."""
    return f"urn:pulumi:dev::trn::{resource_type}::{name}"


def type_of(urn: str) -> str:
    """The resource type in a URN."""
    return urn.split("::", 3)[2].rpartition("$")[2]


def creating(resource_type: str, name: str = "a", **inputs: Any) -> Pending:
    """A creation without an end."""
    return Pending(urn(resource_type, name), resource_type, "creating", inputs, STACK, PROVIDER)


def planned(pending: Pending, *found: Sighting, ids: dict[str, str] | None = None) -> Plan:
    """The plan for one operation. `ids`: what the state holds, with the same inputs."""
    return plan_recovery(holding(pending, ids=ids or {}), {pending.urn: found})


def holding(*pending: Pending, ids: dict[str, str], **marks: Any) -> State:
    """A state with these operations, and these resources by URN and id, each made from the inputs of the operation on its URN."""
    inputs = {item.urn: dict(item.inputs) for item in pending}
    entries = [{"urn": one, "type": type_of(one), "id": which, "inputs": inputs.get(one, {}), **marks} for one, which in ids.items()]
    operations = [{"type": item.doing, "resource": {"custom": True, "inputs": item.inputs, **entry_of(item)}} for item in pending]
    return read_state(json.dumps({"deployment": {"resources": entries, "pending_operations": operations}}))


def entry_of(pending: Pending) -> dict[str, str]:
    """What names a resource in the state."""
    return {"urn": pending.urn, "type": pending.type, "parent": pending.parent, "provider": f"{pending.provider}::id"}


# The plan


def test_what_was_found_is_imported():
    """Under its own name, with the parent and provider that it would have had: another one is another resource."""
    plan = planned(creating(VPC), Sighting("vpc-1"))
    assert import_file(plan.imports) == {
        "nameTable": {"parent0": STACK, "provider1": PROVIDER},
        "resources": [{"type": VPC, "name": "a", "id": "vpc-1", "parent": "parent0", "provider": "provider1"}],
    }


def test_names_of_parents_are_shared():
    """One entry of the table for each URN; the stack's own children may have neither."""
    plan = Plan(imports=planned(creating(VPC), Sighting("vpc-1")).imports * 2)
    assert len(import_file(plan.imports)["nameTable"]) == 2
    (bare,) = planned(replace(creating(VPC), parent="", provider=""), Sighting("vpc-1")).imports
    assert import_file([bare]) == {"nameTable": {}, "resources": [{"type": VPC, "name": "a", "id": "vpc-1"}]}


def test_a_name_may_hold_colons():
    """Only the first three pairs part a URN."""
    assert creating(VPC, "a::b").name == "a::b"


@pytest.mark.parametrize(
    ("found", "where"),
    [
        ((), "never_made"),
        ((Sighting("vpc-1", "making"),), "making"),
        ((Sighting("vpc-1", "failed"),), "imports"),
        ((Sighting("ns/a", "half"),), "uninstalls"),
        ((Sighting("vpc-1"), Sighting("vpc-2")), "unclear"),
    ],
)
def test_a_creation_is_sorted_by_what_was_found(found: tuple[Sighting, ...], where: str):
    """Into one place only."""
    plan = planned(creating(VPC), *found)
    assert [name for name, items in vars(plan).items() if items] == [where]


def test_two_of_a_kind_are_a_persons_to_tell_apart():
    """A plain `pulumi up` after a kill makes a second VPC."""
    (unclear,) = planned(creating(VPC), Sighting("vpc-1"), Sighting("vpc-2")).unclear
    assert (unclear.why, unclear.do) == ("there are 2: vpc-1, vpc-2", "delete all but one, then run this again")


def test_what_another_resource_of_the_state_holds_is_not_imported():
    """It would be in the state twice, and deleted under the other's feet."""
    assert planned(creating(VPC), Sighting("vpc-1"), ids={urn(VPC, "b"): "vpc-1"}).never_made


def test_an_id_that_another_type_has_too_is_imported():
    """A Service and a StatefulSet of one name have one id."""
    service, stateful = "kubernetes:core/v1:Service", "kubernetes:apps/v1:StatefulSet"
    plan = planned(creating(stateful), Sighting("training/etcd"), ids={urn(service): "training/etcd"})
    assert [item.sighting.id for item in plan.imports] == ["training/etcd"]


def test_what_a_later_run_made_again_leaves_the_first_one_over():
    """Its URN is the second one's; only the sweep finds the first."""
    plan = planned(creating(VPC), Sighting("vpc-1"), Sighting("vpc-2"), ids={urn(VPC): "vpc-2"})
    assert ([item.sighting.id for item in plan.leftovers], len(plan.settled), plan.imports) == (["vpc-1"], 1, ())
    kind = "aws:ec2/routeTableAssociation:RouteTableAssociation"
    assert not planned(creating(kind), Sighting("subnet-1/rtb-1"), ids={urn(kind): "rtbassoc-1"}).leftovers


def test_a_replacement_on_its_way_takes_the_place_of_the_live_one():
    """The old one waits for its deletion, as it would have done; `pulumi import` refuses a URN that the state holds."""
    pending = creating("aws:fsx/lustreFileSystem:LustreFileSystem", subnetIds=["subnet-2"])
    state = holding(pending, ids={pending.urn: "fs-1"})
    state = replace(state, live={pending.urn: {**state.live[pending.urn], "inputs": {"subnetIds": ["subnet-1"]}}})
    plan = plan_recovery(state, {pending.urn: (Sighting("fs-1"), Sighting("fs-2"))})
    assert [(item.sighting.id, item.in_place) for item in plan.imports] == [("fs-2", True)]
    after = taken_over({"resources": [{"urn": STACK, "type": "pulumi:pulumi:Stack"}, state.live[pending.urn]], "version": 3}, plan.imports)
    assert [(entry.get("id"), entry.get("delete", False)) for entry in after["resources"]] == [
        (None, False),
        ("fs-2", False),
        ("fs-1", True),
    ]
    # Both are known from then on: neither is found again.
    assert read_state(json.dumps({"deployment": after})).known == {(pending.type, "fs-1"), (pending.type, "fs-2")}


def test_what_was_deleted_to_make_room_gives_its_place():
    """Nothing of it is in the account, and nothing of it is left in the state."""
    pending = creating(ROLE, name_="node")
    state = holding(pending, ids={pending.urn: "trainium-dev-node"}, pendingReplacement=True)
    (item,) = plan_recovery(state, {pending.urn: (Sighting("trainium-dev-node"),)}).imports
    assert item.in_place
    (entry,) = taken_over({"resources": [dict(state.live[pending.urn])]}, [item])["resources"]
    assert (entry["id"], "pendingReplacement" in entry) == ("trainium-dev-node", False)


def test_what_waits_for_its_deletion_is_not_imported():
    """It would be live again, and its successor unknown."""
    pending = creating(VPC)
    state = holding(pending, ids={pending.urn: "vpc-1"}, delete=True)
    plan = plan_recovery(state, {pending.urn: (Sighting("vpc-1"),)})
    assert ([item.urn for item in plan.never_made], plan.imports) == ([pending.urn], ())


def test_what_cannot_be_looked_up_is_reported_with_the_command_that_imports_it():
    """By hand, with the parents it would have had."""
    pending = creating("random:index/randomId:RandomId")
    (unclear,) = plan_recovery(State((pending,)), {pending.urn: None}).unclear
    assert "pulumi import random:index/randomId:RandomId a ID" in unclear.do
    assert f'--parent "parent={STACK}" --provider "provider={PROVIDER}"' in unclear.do


@pytest.mark.parametrize("doing", ["updating", "deleting", "importing", "reading"])
def test_changes_and_deletions_are_read_again(doing: str):
    """The state holds their ids."""
    assert planned(replace(creating(VPC), doing=doing)).refreshed


def test_two_operations_on_one_resource_are_one():
    """A second killed run adds its own."""
    pending = creating(VPC)
    assert len(plan_recovery(State((pending, pending)), {pending.urn: (Sighting("vpc-1"),)}).imports) == 1


@given(st.lists(st.tuples(st.sampled_from(["creating", "updating"]), st.integers(0, 2), st.booleans()), max_size=6))
def test_every_operation_has_exactly_one_end(drawn: list[tuple[str, int, bool]]):
    """None is dropped: clearing the state would forget it, and the object would bill for ever."""
    state_ids: dict[str, str] = {}
    pendings, found = [], {}
    for number, (doing, count, is_held) in enumerate(drawn):
        pending = replace(creating(VPC, str(number)), doing=doing)
        pendings.append(pending)
        found[pending.urn] = tuple(Sighting(f"vpc-{number}-{index}") for index in range(count))
        if is_held:
            state_ids[pending.urn] = "other"
    plan = plan_recovery(holding(*pendings, ids=state_ids), found)
    ends = [item.pending.urn for name in ("imports", "uninstalls", "making", "unclear") for item in getattr(plan, name)]
    ends += [pending.urn for name in ("never_made", "settled", "refreshed") for pending in getattr(plan, name)]
    assert sorted(ends) == sorted(pending.urn for pending in pendings)


# The state


def exported(*pending: Pending, ids: dict[str, str] | None = None, **more: Any) -> str:
    """What `pulumi stack export` prints. `more`: of the deployment; resources beside those of `ids`."""
    operations = [
        {
            "type": item.doing,
            "resource": {
                "urn": item.urn, "custom": item.is_custom, "type": item.type, "inputs": dict(item.inputs), "parent": item.parent,
                "provider": f"{item.provider}::4f2c",
            },
        }
        for item in pending
    ]  # fmt: skip
    inputs = {item.urn: dict(item.inputs) for item in pending}
    resources = [{"urn": key, "type": type_of(key), "id": value, "inputs": inputs.get(key, {})} for key, value in (ids or {}).items()]
    return json.dumps(
        {"version": 3, "deployment": {"resources": [*resources, *more.pop("resources", ())], "pending_operations": operations, **more}}
    )


def test_the_state_is_read_as_pulumi_writes_it():
    """With providers by their URN alone; what waits to be deleted does not hold its URN."""
    pending = creating(VPC, tags={"Name": "train"})
    state = read_state(exported(pending, ids={STACK: ""}))
    assert ([replace(item, entry={}) for item in state.pending], list(state.live), state.known) == ([pending], [STACK], frozenset())
    replaced = json.dumps({"deployment": {"resources": [{"urn": urn(VPC), "type": VPC, "id": "vpc-1", "delete": True}]}})
    assert read_state(replaced) == State((), {}, frozenset({(VPC, "vpc-1")}))
    assert read_state('{"deployment": {"resources": null}}') == State(())


@pytest.mark.parametrize("token", ["trn:components:Role", "pulumi:providers:kubernetes"])
def test_what_exists_in_the_state_alone_was_never_made(token: str):
    """The engine notes the begin of a component and of a provider too: a kill between begin and end leaves nothing outside of the state."""
    state = read_state(exported(replace(creating(token), is_custom=token != "trn:components:Role")))
    plan = recovery(Cloud(), []).plan(state)
    assert ([item.type for item in plan.never_made], plan.unclear) == ([token], ())


@pytest.mark.parametrize("text", ["", "[]", '{"deployment": null}', '{"deployment": {"pending_operations": [{}]}}'])
def test_what_is_no_state_is_reported(text: str):
    """A CLI that is too old, or prints something else."""
    with pytest.raises(CommandError, match="gave no state"):
        read_state(text)
    if text != '{"deployment": null}' and "pending" not in text:
        with pytest.raises(CommandError, match="gave no plan"):
            read_preview(text)


def preview(*steps: tuple[str, str, dict[str, Any]]) -> str:
    """What `pulumi preview --json` prints."""
    made = [
        {"op": op, "newState": {"urn": urn(kind), "custom": True, "type": kind, "inputs": inputs, "parent": STACK, "provider": ""}}
        for op, kind, inputs in steps
    ]
    return json.dumps({"steps": [*made, {"op": "create", "newState": {"urn": "x", "custom": False, "type": "trn:components:Network"}}]})


def test_a_preview_gives_what_would_be_made():
    """Without components and providers, and without values that are not known yet."""
    steps = (("create", VPC, {"vpcId": UNKNOWN, "tags": {"Name": "a"}}), ("same", ROLE, {}), ("create", "pulumi:providers:aws", {}))
    (pending,) = read_preview(preview(*steps))
    assert (pending.type, pending.inputs, pending.doing) == (VPC, {"tags": {"Name": "a"}}, "creating")


# Looking and waiting


def recovery(cloud: Cloud, messages: list[str], *, guess: bool = False, slept: Any = lambda _: None) -> Recovery:
    """A recovery of `train` that does not wait."""
    return Recovery(cloud.api, "train", lambda: None, slept, messages.append, "/trn/dev", guess)


def test_what_is_being_made_is_waited_for():
    """A control plane takes ten minutes, and has no endpoint before."""
    cloud, messages = Cloud(), list[str]()
    leave_control_plane(cloud, "train")
    cloud.of("cluster")["train"]["status"] = "CREATING"

    def sleep(seconds: float) -> None:
        assert seconds == PAUSE_S
        cloud.of("cluster")["train"]["status"] = "ACTIVE"

    plan = recovery(cloud, messages, slept=sleep).plan(State((named_cluster(),)))
    assert ([item.sighting.id for item in plan.imports], messages) == (["train"], ["waiting for Cluster control-plane (CREATING)"])


def named_cluster() -> Pending:
    """The control plane's creation."""
    return replace(creating("aws:eks/cluster:Cluster", "control-plane"), inputs={"name": "train"})


def test_waiting_has_an_end():
    """Then the command stops with an error, and nothing has changed."""
    cloud, messages = Cloud(), list[str]()
    leave_control_plane(cloud, "train")
    cloud.of("cluster")["train"]["status"] = "CREATING"
    with pytest.raises(CommandError, match="still not ready after 40 minutes: Cluster control-plane train"):
        recovery(cloud, messages).plan(State((named_cluster(),)))
    assert len(messages) == ROUNDS


@pytest.mark.parametrize(
    "pending", [creating("random:index/randomId:RandomId"), creating(VPC), creating("aws:eks/nodeGroup:NodeGroup", clusterName="train")]
)
def test_a_creation_that_cannot_be_looked_for_is_unclear_and_a_guess_is_nothing(pending: Pending):
    """The type is not ours, or the inputs lack what tells it apart."""
    assert recovery(Cloud(), []).plan(State((pending,))).unclear
    assert recovery(Cloud(), [], guess=True).plan(State((pending,))).never_made


def test_without_a_cluster_nothing_in_it_was_made():
    """The run was killed before."""
    assert recovery(Cloud(), []).plan(State((creating(RELEASE, namespace="n"),))).never_made


def test_types_that_can_exist_twice_are_types_that_are_looked_for():
    """A slip in the table would hide a leak."""
    from trn.ending.recover.look import LOOKUPS

    assert LOOKUPS.keys() >= MADE_TWICE


# The command


class Engine:
    """A Pulumi that records its arguments and the import file."""

    def __init__(self, export: str) -> None:
        self.export, self.preview = export, ""
        self.ran: list[str] = []
        self.imported: dict[str, Any] = {}
        self.fails: dict[str, str] = {}

    def ask(self, command: tuple[str, ...]) -> tuple[int, str]:
        """Standard output of a question."""
        assert command[-2:] == ("--stack", "dev")
        if command[1] in self.fails:
            return 255, self.fails[command[1]]
        return 0, self.preview if command[1] == "preview" else self.export

    def run(self, arguments: tuple[str, ...], environment: Mapping[str, str], /) -> tuple[int, str]:
        """Do it."""
        self.ran.append(" ".join(word for word in arguments if not word.startswith("/")))
        if arguments[1] == "import":
            self.imported = json.loads(Path(arguments[3]).read_text())
        return (1, self.fails[arguments[1]]) if arguments[1] in self.fails else (0, "")


IMPORT = "pulumi import --file --yes --skip-preview --generate-code=false --protect=false --stack dev"
REFRESH = "pulumi refresh --yes --clear-pending-creates --stack dev"


@pytest.fixture
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, given: Given) -> tuple[Cloud, KubernetesCloud, Engine]:
    """The shipped stack after a kill: its VPC is made, a subnet is not, Volcano is half installed, a key was being deleted."""
    copy_project(tmp_path)
    monkeypatch.chdir(tmp_path)
    cloud, cluster = Cloud(), KubernetesCloud()
    leave_control_plane(cloud, "trainium-dev")
    cloud.of("cluster")["trainium-dev"]["endpoint"] = "https://example"
    tags = tag_list({"trn:cluster": "trainium-dev", "trn:stack": OWNER, "Name": "trainium-dev"})
    cloud.put("vpc", "vpc-1", {"VpcId": "vpc-1", "State": "available", "Tags": tags})
    secret(cluster, "volcano", "pending-install")
    engine = Engine(
        exported(
            creating(VPC, "network", tags={"Name": "trainium-dev"}),
            creating("aws:ec2/subnet:Subnet", "s", tags={"Name": "trainium-dev-s"}, vpcId="vpc-1", cidrBlock="10.0.0.0/24"),
            replace(creating(RELEASE, "volcano"), inputs={"name": "volcano", "namespace": "volcano-system"}),
            replace(creating("aws:kms/key:Key", "secrets"), doing="deleting"),
        )
    )
    given.api, given.engine, given.cluster = cloud.api, engine, cluster.client
    monkeypatch.setattr("time.sleep", lambda _: None)
    return cloud, cluster, engine


def trn(*arguments: str, answer: str = "") -> tuple[int, str, str]:
    """Exit code, standard output, standard error."""
    result = CliRunner().invoke(app, ["recover", "dev", "--name", "trainium-dev", *arguments], input=answer)
    return result.exit_code, result.stdout, result.stderr


def test_it_imports_uninstalls_and_refreshes(world: Any):
    """In this order: the import needs the operations that the refresh clears."""
    _, cluster, engine = world
    code, out, err = trn("--yes", "--json", "recover.json")
    assert (code, engine.ran) == (0, [IMPORT, REFRESH])
    assert [entry["id"] for entry in engine.imported["resources"]] == ["vpc-1"]
    assert cluster.server.changes == [("DELETE", "/api/v1/namespaces/volcano-system/secrets/sh.helm.release.v1.volcano.v1")]
    for line in ("import     Vpc network vpc-1", "uninstall  Release volcano", "never made Subnet s", "read again Key secrets (deleting)"):
        assert line in err
    assert "the objects of the release stay" in err
    assert out == "recovered: 1 imported, 1 uninstalled, 1 never made\nnext     pulumi up --stack dev\n"
    data = json.loads(Path("recover.json").read_text())
    assert (data["recovered"], data["imports"][0]["id"], len(data["neverMade"])) == (True, "vpc-1", 1)


def test_while_anything_is_unclear_nothing_is_changed(world: Any):
    """A refresh would clear what tells of it."""
    cloud, cluster, engine = world
    cloud.put("vpc", "vpc-2", {**cloud.of("vpc")["vpc-1"], "VpcId": "vpc-2"})
    code, out, err = trn("--yes")
    assert (code, engine.ran, cluster.server.changes, out) == (1, [], [], "")
    assert "unclear    Vpc network: there are 2: vpc-1, vpc-2" in err
    assert "1 unclear: nothing was changed" in err


def test_a_first_vpc_that_was_made_again_is_left_to_the_sweep(world: Any):
    """And named, with the way there."""
    cloud, _, engine = world
    cloud.of("cluster").clear()
    held = state("trainium-dev", vpc="vpc-2", with_cluster=False)["deployment"]["resources"]
    held[1] |= {"urn": urn(VPC), "inputs": {"tags": {"Name": "trainium-dev"}}}
    engine.export = exported(creating(VPC, tags={"Name": "trainium-dev"}), resources=held)
    cloud.put("vpc", "vpc-2", {**cloud.of("vpc")["vpc-1"], "VpcId": "vpc-2"})
    code, out, err = trn("--yes")
    assert (code, engine.ran, "left over  Vpc a vpc-1" in err) == (0, [REFRESH], True)
    assert "trn sweep dev --delete" in out


def test_without_operations_there_is_nothing_to_do(world: Any):
    """It may be run at any time."""
    _, _, engine = world
    engine.export = exported()
    assert trn("--yes")[:2] == (0, "nothing to recover: no operation is without an end\n")
    assert engine.ran == []


@pytest.mark.parametrize(
    ("asked", "printed", "code", "says"),
    [
        ("stack", "error: no stack named 'dev' found", 2, "Pulumi knows no stack `dev` here"),
        ("stack", "error: passphrase must be set", 1, "`pulumi stack export --stack dev` failed"),
        ("import", "error: the stack is currently locked by 1 lock(s)", 1, "`pulumi cancel --stack dev`"),
    ],
)
def test_what_pulumi_refuses_is_reported(world: Any, asked: str, printed: str, code: int, says: str):
    """In one line with its fix."""
    world[2].fails[asked] = printed
    found, _, err = trn("--yes")
    assert (found, says in err) == (code, True)


def test_an_import_that_fails_clears_nothing(world: Any):
    """The operations still tell what to import at the next run."""
    _, _, engine = world
    engine.fails["import"] = "error: preview failed"
    code, out, _ = trn("--yes")
    assert (code, engine.ran) == (1, [IMPORT])
    assert out.splitlines() == [
        "Pulumi failed; what it printed last says why", "next     trn recover dev: it may be run again",
    ]  # fmt: skip


def test_a_refused_look_changes_nothing(world: Any):
    """Could not look is not: not there."""
    cloud, _, engine = world
    cloud.wire.denied.add("ec2.DescribeVpcs")
    code, _, err = trn("--yes")
    assert (code, engine.ran, "trn iam --operator" in err) == (1, [], True)


def test_orphans_are_what_the_next_run_would_make_and_is_there(world: Any):
    """After the provider's own process died the state knows of nothing."""
    cloud, cluster, engine = world
    engine.preview = preview(("create", VPC, {"tags": {"Name": "trainium-dev"}}), ("create", ROLE, {"name": "r"}))
    cloud.put("role", "r", {"tags": {}, "attached": [], "inline": []})
    code, _, err = trn("--orphans", "--yes")
    assert (code, "run `trn recover dev` first" in err) == (1, True)
    engine.export = exported()
    code, out, err = trn("--orphans", "--yes")
    assert (code, engine.ran) == (0, [IMPORT, REFRESH])
    assert [entry["id"] for entry in engine.imported["resources"]] == ["vpc-1"]
    assert ("never made" in err, "run it again until none is found" in out) == (False, True)
    cloud.of("vpc").clear()
    assert trn("--orphans", "--yes")[:2] == (0, "no orphans: nothing that `pulumi up` would make is there already\n")
    assert cluster.names(SECRETS)


def test_questions_go_to_pulumi_itself():
    """Its standard output is the answer, what it complains of is kept for the judgement."""
    assert PulumiCli().ask(("sh", "-c", "echo answer; echo warning >&2")) == (0, "answer\n")
    assert PulumiCli().ask(("sh", "-c", "echo no stack named dev >&2; exit 3")) == (3, "no stack named dev\n")
    with pytest.raises(CommandError, match="cannot run `no-such-pulumi`"):
        PulumiCli().ask(("no-such-pulumi",))


def test_without_imports_only_the_refresh_is_run():
    """An empty import file is an error to Pulumi."""
    ran: list[str] = []

    def run(arguments: tuple[str, ...], _: Any) -> tuple[int, str]:
        ran.append(" ".join(arguments))
        return 0, ""

    pulumi: Any = SimpleNamespace(run=run, ask=lambda _: (0, exported()))
    site: Any = SimpleNamespace(pulumi=pulumi)
    (action,) = actions_of(Plan(), "dev", state_id(pulumi, "dev"))
    assert (action.do(site, action.object).kind, ran) == ("done", [REFRESH])


# Whose it is


def test_a_secret_that_changes_after_the_second_look_stays(world: Any, monkeypatch: pytest.MonkeyPatch):
    """The request names its uid and resourceVersion."""
    _, cluster, engine = world
    real, sent = cluster.client.delete, list[dict[str, str]]()

    def delete(resource: Any, name: str, namespace: str = "", **conditions: str) -> None:
        sent.append(conditions)
        real(resource, name, namespace, uid="uid-of-another")

    monkeypatch.setattr(cluster.client, "delete", delete)
    code, out, _ = trn("--yes", "--json", "recover.json")
    assert (code, engine.ran, cluster.names(SECRETS)) == (1, [], {"sh.helm.release.v1.volcano.v1"})
    assert sent[0]["uid"]
    assert "Helm is at the release" in out
    data = json.loads(Path("recover.json").read_text())
    assert (data["recovered"], data["end"], data["uninstalls"][0]["id"]) == (False, "left", "volcano-system/volcano")


def test_a_request_to_delete_has_uid_and_resource_version():
    """Helm writes into a release's Secret: another version is another release by now."""
    sent = list[Any]()

    class Client:
        configuration = type("C", (), {"host": ""})

        def call_api(self, method: str, url: str, *, body: Any, **_: Any) -> Any:
            sent.append(body)
            return type("Answer", (), {"status": 200, "read": lambda self: b"{}"})()

    item = Import(creating(RELEASE), Sighting("n/a", "half", parts=(("a", "uid-a", "7"),)))
    forget, _ = actions_of(Plan(uninstalls=(item,)), "dev", StateId("dev", "", "", frozenset()))
    site: Any = SimpleNamespace(kubernetes=lambda: KubernetesClient(Client(), None), tell=lambda _: None)
    assert forget.do(site, forget.object).kind == "done"
    assert sent[0]["preconditions"] == {"uid": "uid-a", "resourceVersion": "7"}


def test_what_a_living_run_of_pulumi_is_making_is_not_ours(world: Any):
    """It holds Pulumi's own lock, which `--break-lock` does not take."""
    cloud, cluster, engine = world
    document = json.loads(engine.export)
    document["deployment"]["resources"].append({"urn": STACK, "type": "pulumi:pulumi:Stack"})
    engine.export = json.dumps(document)
    engine.fails["refresh"] = "error: the stack is currently locked by 1 lock(s)"
    code, _, err = trn("--yes", "--break-lock")
    assert (code, engine.ran, cluster.server.changes, "another run holds the lock" in err) == (1, [], [], True)
    engine.fails.clear()
    assert trn("--yes", "--break-lock")[0] == 0
    assert not locks_of(cloud)


@pytest.mark.parametrize(("maker", "is_ours"), [("pulumi-kubernetes-1a2b", True), ("kubectl-client-side-apply", False), ("", False)])
def test_a_namespace_of_the_name_is_ours_where_pulumi_made_it(world: Any, maker: str, is_ours: bool):
    """By the manager of its fields, which the API server keeps."""
    _, cluster, engine = world
    fields = {"managedFields": [{"manager": maker}]} if maker else {}
    seen = {"metadata": {"name": "team", "uid": "u", **fields}}
    served = {"resources": [{"kind": "Namespace", "name": "namespaces", "namespaced": False}]}
    answers = {"/api/v1": served, "/api/v1/namespaces/team": seen}
    real = cluster.client.read
    cluster.client.read = lambda path: answers.get(path) or real(path)
    namespace = creating("kubernetes:core/v1:Namespace", "team", apiVersion="v1", kind="Namespace", metadata={"name": "team"})
    engine.export = exported(namespace)
    code, _, err = trn("--yes")
    assert (code, engine.ran) == ((0, [IMPORT, REFRESH]) if is_ours else (1, []))
    assert ("made it, and not Pulumi" in err) is not is_ours


@pytest.mark.parametrize(
    ("born", "is_in_time"), [("2026-03-01T10:20:00Z", True), ("2026-03-01T09:30:00Z", False), ("2026-03-01T12:00:00Z", False)]
)
def test_a_role_is_ours_where_it_was_made_while_the_run_lived(world: Any, born: str, is_in_time: bool):
    """After what it needs, and not long after the state was last written."""
    cloud, _, engine = world
    tags = tag_list({"trn:cluster": "trainium-dev", "trn:stack": OWNER})
    cloud.put("role", "r", {"RoleName": "r", "CreateDate": born, "tags": {"trn:cluster": "trainium-dev", "trn:stack": OWNER}, "Tags": tags, "attached": [], "inline": []})  # fmt: skip
    component = {"urn": STACK, "type": "trn:x:Component", "created": "2026-03-01T10:00:00Z", "inputs": {"clusterName": "trainium-dev"}}
    engine.export = exported(
        replace(creating(ROLE, "r"), inputs={"name": "r"}), resources=[component], manifest={"time": "2026-03-01T10:30:00.5Z"}
    )
    code, _, err = trn("--yes")
    assert (code, engine.ran) == ((0, [IMPORT, REFRESH]) if is_in_time else (1, [])), err
    assert ("the run that was killed" in err) is not is_in_time


def test_the_stack_is_known_in_full_by_the_provider_of_the_state(world: Any):
    """Another organization may have a project and a stack of these names."""
    cloud, _, engine = world
    provider = {"urn": PROVIDER, "type": "pulumi:providers:aws", "custom": True, "id": "p"}
    for organization, imported in (("acme", []), ("organization", [IMPORT])):
        tags = {"defaultTags": json.dumps({"tags": {"trn:stack": f"{organization}/trn/dev"}})}
        engine.export = exported(creating(VPC, tags={"Name": "trainium-dev"}), resources=[{**provider, "inputs": tags}])
        cloud.of("cluster").clear()
        engine.ran.clear()
        assert trn("--yes")[0] == 0
        assert engine.ran == [*imported, REFRESH]


def test_a_mark_that_is_missing_is_a_persons_to_judge(world: Any):
    """It has the cluster's tag, and nobody's stack."""
    cloud, _, engine = world
    cloud.of("vpc")["vpc-1"]["Tags"] = tag_list({"trn:cluster": "trainium-dev", "Name": "trainium-dev"})
    code, _, err = trn("--yes")
    assert (code, engine.ran) == (1, [])
    assert f"vpc-1: it lacks the tag trn:stack={OWNER}: somebody else may have made it" in err


def test_a_cluster_that_the_state_does_not_hold_is_named(world: Any):
    """Its tags name this stack, and the state says nothing of it: `--yes` alone is not enough."""
    result = CliRunner().invoke(app, ["recover", "dev", "--yes"])
    assert (result.exit_code, world[2].ran, "add --name trainium-dev" in result.stderr) == (1, [], True)
    world[0].of("cluster").clear()
    assert CliRunner().invoke(app, ["recover", "dev", "--yes"]).exit_code == 0
