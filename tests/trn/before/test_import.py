"""`trn import` on the simulated account as the Terraform blueprint made it, and as eksctl did: mapping, plan, files, refusals."""

import json
from collections.abc import Callable, Iterator
from fcntl import LOCK_EX, flock
from pathlib import Path
from typing import Any

import pytest
import yaml
from botocore.exceptions import ClientError

from facts.names import role_name
from facts.resources import eks
from simulator.account.state import AccountState
from simulator.account.world import World
from simulator.aws_endpoint import endpoint
from simulator.aws_endpoint.wire import Wire
from simulator.recording import Recording
from tests.documents import checked
from tests.support import copy_project, record_stack
from tests.trn.before import other_makers
from tests.trn.before.other_makers import (
    BLUEPRINT,
    CONTROL_PLANE_GROUP,
    EKSCTL,
    FILE_SYSTEM,
    KEY,
    NODE_GROUP,
    NODES,
    PUBLIC,
    REGION,
    ROUTABLE,
    VPC,
    Account,
    blueprint_account,
    eksctl_account,
)
from tests.trn.given import Given, NoStack
from trn.app import app
from trn.aws.api import Api, BotoApi, Call
from trn.before.import_cluster import locate
from trn.cli.errors import CommandError
from trn.engine.program import rehearsing
from trn.engine.stack_file import StackFile
from trn.run_command import run_command

Trn = Callable[..., tuple[int, str, str]]
READING = ("Describe", "Get", "List")


@pytest.fixture
def wires(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, given: Given) -> dict[str, Wire]:
    """The user's project is the working folder; each region has the account that is put here, and an empty one otherwise."""
    found: dict[str, Wire] = {}

    def aws(region: str) -> BotoApi:
        if region not in found:
            found[region] = endpoint.wire(World(), endpoint.Options(region))
        return BotoApi(region, found[region].session())

    def recorded(stack_file: StackFile) -> Recording:
        with rehearsing():
            return record_stack(stack_file.configuration, stack=stack_file.stack)

    given.api, given.engine = aws, NoStack()
    # Most tests have the same draft: it is recorded once.
    monkeypatch.setattr("trn.before.import_cluster.change.record_stack", recorded)
    monkeypatch.chdir(copy_project(tmp_path))
    return found


@pytest.fixture
def trn(wires: dict[str, Wire], capsys: pytest.CaptureFixture[str]) -> Trn:
    """`trn import prod` with further words: exit code, standard output and standard error."""

    def run(*words: str) -> tuple[int, str, str]:
        code = run_command(lambda: app(["import", "prod", *words], standalone_mode=False))
        said = capsys.readouterr()
        return code, said.out, said.err

    return run


def account(state: AccountState, region: str = REGION) -> Wire:
    """boto3's way to it."""
    return endpoint.wire(World(state), endpoint.Options(region))


def result(trn: Trn, cluster: str, code: int = 0) -> dict[str, Any]:
    """What it writes with `--json`."""
    ended, said, _ = trn("--cluster", cluster, "--region", REGION, "--json", "-")
    assert ended == code
    document = checked(said)
    assert document["schema"] == "trn-import"
    return document


def configuration() -> dict[str, Any]:
    """The stack file that was written."""
    return yaml.safe_load(Path("Pulumi.prod.yaml").read_text())["config"]


def test_the_blueprints_cluster_changes_in_place(trn: Trn, wires: dict[str, Wire]):
    """Control plane, role, log group, add-ons and access entries are taken over: nothing that runs is replaced."""
    wires[REGION] = account(blueprint_account())
    found = result(trn, BLUEPRINT)
    kinds = sorted(each["type"].rsplit(":", 1)[-1] for each in found["maps"])
    assert kinds == ["AccessEntry", "AccessPolicyAssociation", *["Addon"] * 5, "Cluster", "LogGroup", "Role", "RolePolicyAttachment"]
    assert found["plan"]["replace"] == found["red"] == []
    changed = {each["urn"].rsplit("::", 1)[-1]: each["inputs"] for each in found["plan"]["update"]}
    assert "accessConfig.authenticationMode" in changed["control-plane-eksCluster"]
    assert found["maker"] == "the Terraform blueprint"


def test_the_stack_file_describes_the_cluster_as_it_is(trn: Trn, wires: dict[str, Wire]):
    wires[REGION] = account(blueprint_account())
    result(trn, BLUEPRINT)
    made = configuration()
    assert made["trn:name"] == BLUEPRINT
    assert made["trn:network"]["zones"] == ["usw2-az4", "usw2-az1"]
    assert made["trn:network"]["existing"] | {"internalLoadBalancers": {}} == {
        "vpcId": VPC,
        "nodes": NODES,
        "controlPlane": NODES,
        "loadBalancers": PUBLIC,
        "internalLoadBalancers": {},
    }
    assert made["trn:controlPlane"]["encryptionKeyArn"] == KEY
    assert made["trn:controlPlane"]["logRetentionDays"] == 90
    assert list(made["trn:controlPlane"]["accessEntries"]) == ["platform-team"]
    assert made["trn:coreNodes"] == {"instanceType": "m5.xlarge", "minSize": 3, "desiredSize": 3, "maxSize": 8}
    assert made["trn:nodeGroups"]["trn1-32xl-ng1"]["size"] == 2
    assert made["trn:storage"] == {"lustre": {"enabled": False}}


def test_a_file_system_that_no_claim_made_is_mounted_as_it_is(trn: Trn, wires: dict[str, Wire]):
    """The stack makes none beside it, and never deletes it."""
    wires[REGION] = account(blueprint_account(by_claim=False))
    found = result(trn, BLUEPRINT)
    assert configuration()["trn:storage"] == {"lustre": {"existing": {"fileSystemId": FILE_SYSTEM, "mountName": "fsxb10e"}}}
    assert f"file system {FILE_SYSTEM}: storage.lustre.existing" in found["used"]
    assert FILE_SYSTEM not in " ".join(found["outside"])
    assert [each for each in found["plan"]["create"] if "LustreFileSystem" in each["urn"]] == []


def test_eksctls_cluster_moves_to_private_subnets_of_the_same_zones(trn: Trn, wires: dict[str, Wire]):
    """The group gets a name that EKS does not have yet; the stacks of CloudFormation are protected before anything else."""
    wires[REGION] = account(eksctl_account())
    found = result(trn, EKSCTL)
    made = configuration()
    assert made["trn:network"]["existing"]["nodes"] == ROUTABLE
    assert list(made["trn:nodeGroups"]) == ["trn1-trn"]
    assert found["plan"]["replace"] == found["red"] == []
    protect = next(step for step in found["steps"] if "update-termination-protection" in step)
    assert protect.endswith(f"--stack-name eksctl-{EKSCTL}-cluster")
    assert found["steps"].index(protect) < next(at for at, step in enumerate(found["steps"]) if "pulumi import" in step)
    said = " ".join(found["outside"])
    assert "1 self-managed node (i-0b10e0b10e0b10e01)" in said
    assert "EKS add-on metrics-server" in said


def test_what_cannot_be_taken_over_is_said(trn: Trn, wires: dict[str, Wire]):
    wires[REGION] = account(blueprint_account())
    said = " ".join(result(trn, BLUEPRINT)["outside"])
    for part in (
        f"file system {FILE_SYSTEM}: a claim made it",
        "2 IAM roles of service accounts",
        "aws-auth",
        "AmazonEKSVPCResourceController",
        "Helm",
    ):
        assert part in said


def test_an_old_cluster_is_red(trn: Trn, wires: dict[str, Wire]):
    """EKS upgrades one minor at a time, changes the mode in two steps, and lets in no node without an access entry."""
    wires[REGION] = account(blueprint_account(version="1.31", mode="CONFIG_MAP"))
    red = result(trn, BLUEPRINT, code=1)["red"]
    assert len(red) == 3
    for part in ("bring it to 1.34 first, 3 steps", "authenticationMode=API_AND_CONFIG_MAP", "create-access-entry"):
        assert any(part in each for each in red)


def test_nodes_that_the_control_plane_would_lose_are_red(trn: Trn, wires: dict[str, Wire]):
    """The program gives the control plane no group beside EKS's own, and Terraform's nodes have neither: they would not be ready any more."""
    wires[REGION] = account(blueprint_account(let_in=False))
    (red,) = result(trn, BLUEPRINT, code=1)["red"]
    assert f"nodes with {NODE_GROUP} reach the control plane through {CONTROL_PLANE_GROUP}" in red


def test_a_role_below_a_path_puts_all_roles_there(trn: Trn, wires: dict[str, Wire]):
    """IAM moves no role: at another path the role would be another, and with it the cluster."""
    wires[REGION] = account(blueprint_account(role_path="/eks/"))
    assert result(trn, BLUEPRINT)["red"] == []
    written = yaml.safe_load(Path("Pulumi.prod.yaml").read_text())
    assert written["config"].pop("trn:iam") == {"path": "/eks/"}
    Path("Pulumi.prod.yaml").write_text(yaml.safe_dump(written))
    red = result(trn, BLUEPRINT, code=1)["red"]
    assert [each.partition(" (")[2].partition(")")[0] for each in red if "is replaced" in each].count("path") == 1
    assert any("all that runs in the cluster is lost" in each for each in red)


@pytest.mark.parametrize(
    ("section", "key", "value", "part"),
    [
        ("trn:controlPlane", "roleName", "another", "Cluster trainium-inferentia is replaced (roleArn): all that runs in the cluster is lost"),
        ("trn:controlPlane", "encryptionKeyArn", KEY.replace("1b1e1b1e", "2b1e1b1e"), f"are encrypted by {KEY}"),
        ("trn:network", "zones", None, "EKS takes subnets of the same zones only"),
    ],
)  # fmt: skip
def test_a_change_of_the_draft_that_eks_cannot_make_is_red(trn: Trn, wires: dict[str, Wire], section: str, key: str, value: Any, part: str):
    """The plan is that of the file as it is now, not of the draft."""
    wires[REGION] = account(blueprint_account())
    result(trn, BLUEPRINT)
    Path("import-prod.json").unlink()
    written = yaml.safe_load(Path("Pulumi.prod.yaml").read_text())
    if value is None:
        written["config"][section]["zones"] = ["usw2-az4", "usw2-az2"]
        existing = written["config"][section]["existing"]
        existing["nodes"] = {"usw2-az4": NODES["usw2-az4"], "usw2-az2": "subnet-0b10e00000000a002"}
        existing["controlPlane"] = existing["nodes"]
        (wires[REGION],) = [account(with_subnet(blueprint_account()))]
    else:
        written["config"][section][key] = value
    Path("Pulumi.prod.yaml").write_text(yaml.safe_dump(written))
    assert any(part in each for each in result(trn, BLUEPRINT, code=1)["red"])


def with_subnet(state: AccountState) -> AccountState:
    """The account with a subnet in a zone where the control plane is not."""
    entry = dict(state.others["subnet"][NODES["usw2-az1"]])
    which = "subnet-0b10e00000000a002"
    state.others["subnet"][which] = {**entry, "SubnetId": which, "AvailabilityZoneId": "usw2-az2", "CidrBlock": "10.1.224.0/19"}
    return state


def test_the_import_file_has_components_above_its_objects(trn: Trn, wires: dict[str, Wire]):
    """Names are unique in the file, and each parent comes before what is below it."""
    wires[REGION] = account(blueprint_account())
    result(trn, BLUEPRINT)
    entries = json.loads(Path("import-prod.json").read_text())["resources"]
    names = [entry["name"] for entry in entries]
    assert len(names) == len(set(names))
    assert all(names.index(entry["parent"]) < names.index(entry["name"]) for entry in entries if "parent" in entry)
    assert [entry["name"] for entry in entries if "parent" not in entry] == ["cluster"]
    assert all(("id" in entry) is not bool(entry.get("component")) for entry in entries)
    plane = next(entry for entry in entries if entry["type"] == "aws:eks/cluster:Cluster")
    assert (plane["id"], plane["name"]) == (BLUEPRINT, "control-plane-eksCluster")


@pytest.mark.parametrize(("made", "cluster"), [(blueprint_account, BLUEPRINT), (eksctl_account, EKSCTL)])
def test_nothing_in_the_account_is_changed(trn: Trn, wires: dict[str, Wire], made: Callable[[], AccountState], cluster: str):
    wires[REGION] = account(made())
    result(trn, cluster)
    assert [name for name, _ in wires[REGION].calls if not name.partition(".")[2].startswith(READING)] == []


def test_files_that_are_there_are_kept(trn: Trn, wires: dict[str, Wire]):
    """The stack file is the user's after the first run; an import file that differs takes --force."""
    wires[REGION] = account(blueprint_account())
    words = ("--cluster", BLUEPRINT, "--region", REGION)
    trn(*words)
    written = Path("Pulumi.prod.yaml").read_text() + "# mine\n"
    Path("Pulumi.prod.yaml").write_text(written)
    assert trn(*words)[0] == 0
    assert Path("Pulumi.prod.yaml").read_text() == written
    Path("import-prod.json").write_text("{}")
    code, _, said = trn(*words)
    assert (code, Path("import-prod.json").read_text()) == (2, "{}")
    assert "import-prod.json is there already" in said
    assert trn(*words, "--force")[0] == 0
    assert Path("import-prod.json").read_text() != "{}"


def test_a_network_of_the_stacks_own_is_red(trn: Trn, wires: dict[str, Wire]):
    """EKS keeps a control plane in its VPC; what the file no longer says is not said of it either."""
    wires[REGION] = account(blueprint_account())
    result(trn, BLUEPRINT)
    Path("import-prod.json").unlink()
    written = yaml.safe_load(Path("Pulumi.prod.yaml").read_text())
    del written["config"]["trn:network"]["existing"]
    del written["config"]["trn:nodeGroups"]
    Path("Pulumi.prod.yaml").write_text(yaml.safe_dump(written))
    found = result(trn, BLUEPRINT, code=1)
    assert any(f"is not in {VPC}" in each for each in found["red"])
    assert found["notes"] == []
    assert [each for each in found["used"] if "VPC" in each] == []
    assert any("trn1-32xl-ng1" in each and "the stack makes none in its place" in each for each in found["outside"])


def test_a_stack_file_of_another_cluster_is_refused(trn: Trn, wires: dict[str, Wire]):
    wires[REGION] = account(blueprint_account())
    Path("Pulumi.prod.yaml").write_text(Path("Pulumi.dev.yaml").read_text())
    code, _, said = trn("--cluster", BLUEPRINT, "--region", REGION)
    assert code == 2
    assert f"its name is trainium-dev, not {BLUEPRINT}" in said


def test_no_cluster_of_the_name(trn: Trn, wires: dict[str, Wire]):
    wires[REGION] = account(blueprint_account())
    code, _, said = trn("--cluster", "other", "--region", REGION)
    assert code == 2
    assert f"there is no cluster other in {REGION}" in said
    assert f"clusters there: {BLUEPRINT}" in said
    assert not Path("Pulumi.prod.yaml").exists()


def test_a_cluster_in_another_region_is_found_without_the_option(trn: Trn, wires: dict[str, Wire]):
    wires[REGION] = account(blueprint_account())
    assert "clusters there: " not in trn("--cluster", BLUEPRINT, "--region", "us-east-2")[2]
    assert trn("--cluster", BLUEPRINT)[0] == 0
    assert configuration()["trn:region"] == REGION


def test_two_clusters_of_the_name(trn: Trn, wires: dict[str, Wire]):
    wires[REGION] = account(blueprint_account())
    wires["us-east-2"] = account(blueprint_account(), "us-east-2")
    code, _, said = trn("--cluster", BLUEPRINT)
    assert code == 2
    assert f"there are 2 clusters named {BLUEPRINT}, in us-east-2, {REGION}" in said


def test_a_cluster_that_is_ours_already(trn: Trn, wires: dict[str, Wire]):
    state = blueprint_account()
    (plane,) = [item for item in state if item.registration.type == "aws:eks/cluster:Cluster"]
    plane.registration.outputs["tagsAll"] |= {"trn:cluster": BLUEPRINT, "trn:stack": "organization/trn/blue"}  # pyright: ignore[reportIndexIssue]
    wires[REGION] = account(state)
    code, _, said = trn("--cluster", BLUEPRINT, "--region", REGION)
    assert code == 1
    assert "was made by organization/trn/blue" in said
    assert "trn recover blue" in said


@pytest.mark.parametrize(
    ("entry", "said", "hint"),
    [
        ({"status": "CREATING"}, "is CREATING", "once it is ACTIVE"),
        ({"status": "UPDATING"}, "is UPDATING", "once it is ACTIVE"),
        ({"status": "FAILED"}, "is FAILED", "delete it with the tool that made it"),
        ({"status": "DELETING"}, "is DELETING", "nothing left"),
        ({"status": "ACTIVE", "connectorConfig": {"provider": "ANTHOS"}}, "only registered there", "beside it"),
        ({"outpostConfig": {"outpostArns": ["arn"]}}, "is on an Outpost", "beside it"),
        ({"computeConfig": {"enabled": True}}, "is in Auto Mode", "beside it"),
        ({"kubernetesNetworkConfig": {"ipFamily": "ipv6"}}, "IPv6 addresses", "beside it"),
        ({"remoteNetworkConfig": {"remoteNodeNetworks": [{"cidrs": ["10.9.0.0/16"]}]}}, "hybrid nodes", "beside it"),
    ],
)
def test_a_cluster_of_another_kind_or_not_finished_is_refused_before_it_is_read(
    monkeypatch: pytest.MonkeyPatch, entry: dict[str, Any], said: str, hint: str
):
    """Its description lacks what the rest is found by: a security group, a certificate, even a VPC."""
    monkeypatch.setattr(locate, "described", lambda _api, name: {"name": name, **entry})
    monkeypatch.setattr(locate, "read_cluster", lambda *_: pytest.fail("it was read"))
    with pytest.raises(CommandError, match=f"cluster train {said}|cluster train .*{said}") as refused:
        locate.found_in("train", REGION, lambda _: BotoApi(REGION, account(AccountState()).session()))
    assert hint in (refused.value.hint or "")


def test_a_cluster_of_the_programs_own_kind_is_not_refused():
    """EKS shows members of other kinds empty, too."""
    locate.refuse(
        "train", {"computeConfig": {"enabled": False}, "kubernetesNetworkConfig": {"ipFamily": "ipv4"}, "remoteNetworkConfig": None}
    )


def test_profiles_of_fargate_are_named(trn: Trn, wires: dict[str, Wire]):
    """`pulumi destroy` would stop at them, after all else is gone."""
    state = blueprint_account()
    profile = {"fargateProfileName": "batch", "clusterName": BLUEPRINT}
    state.others["fargate profile"] = {"batch": profile, "other": {**profile, "fargateProfileName": "x", "clusterName": "another"}}
    wires[REGION] = account(state)
    told = [each for each in result(trn, BLUEPRINT)["outside"] if "Fargate" in each]
    assert len(told) == 1
    assert f"`aws eks delete-fargate-profile --cluster-name {BLUEPRINT} --fargate-profile-name batch` before `pulumi destroy`" in told[0]


def test_groups_that_differ_in_case_alone_get_names_of_their_own(trn: Trn, wires: dict[str, Wire]):
    """EKS tells them apart; names of the stack's groups have no capitals, and none is one that EKS has."""
    state = blueprint_account()
    size = {"desiredSize": 0, "minSize": 0, "maxSize": 1}
    for name in ("Trn1_b", "trn1_B", "_", "9.x"):
        Account(state, BLUEPRINT).group(name, "nodes", "trn1.32xlarge", "AL2_x86_64_GPU", [NODES["usw2-az4"]], size)
    wires[REGION] = account(state)
    assert trn("--cluster", BLUEPRINT, "--region", REGION)[0] == 1
    assert set(configuration()["trn:nodeGroups"]) == {"trn1-b", "trn1-b-trn", "neuron", "9-x", "trn1-32xl-ng1"}


def test_regions_with_neuron_instances_are_looked_at():
    assert {"us-east-1", "us-east-2", "us-west-2", "ap-south-2"} <= set(locate.neuron_regions())


@pytest.mark.parametrize("place", [".", "Pulumi.dev.yaml", "Pulumi.yaml", "/dev/full"])
def test_a_place_that_is_not_for_an_import_file_is_refused_first(trn: Trn, wires: dict[str, Wire], place: str):
    """With --force too: a stack file would be lost; and a device has no end, so it must not be read."""
    wires[REGION] = account(blueprint_account())
    before = Path("Pulumi.dev.yaml").read_text(), Path("Pulumi.yaml").read_text()
    code, _, said = trn("--cluster", BLUEPRINT, "--region", REGION, "--file", place, "--force")
    assert (code, "name a" in said, Path("Pulumi.prod.yaml").exists()) == (2, True, False)
    assert (Path("Pulumi.dev.yaml").read_text(), Path("Pulumi.yaml").read_text()) == before


def test_an_import_file_in_another_folder_is_named_with_it(trn: Trn, wires: dict[str, Wire], tmp_path: Path):
    """The command is run in the project's folder. What was there may be no text."""
    wires[REGION] = account(blueprint_account())
    words = ("--cluster", BLUEPRINT, "--region", REGION, "--file", "made here/import.json")
    assert "--file 'made here/import.json' --yes" in trn(*words)[1]
    Path("made here/import.json").write_bytes(b"\xff\xfe")
    assert trn(*words)[0] == 2


def test_a_role_of_the_programs_name_that_the_cluster_does_not_use_is_not_taken(trn: Trn, wires: dict[str, Wire]):
    """It may serve another cluster, and `pulumi destroy` deletes what was imported."""
    state = blueprint_account()
    name = role_name(BLUEPRINT, REGION, "ebs-csi")
    other_makers.Account(state, BLUEPRINT).role(name, ("AmazonEKSWorkerNodePolicy",))
    wires[REGION] = account(state)
    found = result(trn, BLUEPRINT, code=1)
    roles = [each["id"] for each in found["maps"] if each["type"] == "aws:iam/role:Role"]
    assert (name in roles, len(roles)) == (False, 1)
    assert [each for each in found["red"] if name in each and "is not the stack's" in each]
    assert not [each for each in found["maps"] if name in each["id"]]


@pytest.mark.parametrize("region", [REGION, "us-east-2"])
def test_a_role_that_another_cluster_uses_as_well_is_given_and_never_taken_over(trn: Trn, wires: dict[str, Wire], region: str):
    """Companies make one role for all control planes of an account: `pulumi destroy` would delete it below the other one."""
    state = blueprint_account(role_path="/company/")
    (plane,) = [item.registration for item in state if item.registration.type == "aws:eks/cluster:Cluster"]
    arn = str(plane.inputs["roleArn"])
    there = state if region == REGION else AccountState()
    role = arn.rsplit("/", 1)[-1]
    neighbour = other_makers.Account(there, "neighbour")
    neighbour.cluster(role, "1.35", "API", list(NODES.values()), {}, public=["198.18.0.0/24"], path="/company/")
    wires[REGION] = account(state)
    if region != REGION:
        wires[region] = account(there, region)
    found = result(trn, BLUEPRINT)
    assert found["plan"]["replace"] == found["red"] == []
    assert not [each for each in found["maps"] if each["type"].startswith("aws:iam/")]
    made = configuration()
    assert made["trn:iam"] == {"roles": {"control-plane": arn}}
    assert "roleName" not in made["trn:controlPlane"]
    text = Path("Pulumi.prod.yaml").read_text()
    assert f"is that of neighbour{'' if region == REGION else ' in us-east-2'} as well" in text
    document = yaml.safe_load(text)
    document["config"] |= {"trn:iam": {"path": "/company/"}, "trn:controlPlane": {**made["trn:controlPlane"], "roleName": role}}
    Path("Pulumi.prod.yaml").write_text(yaml.safe_dump(document))
    Path("import-prod.json").unlink()
    (red,) = result(trn, BLUEPRINT, code=1)["red"]
    assert f"set `iam.roles.control-plane: {arn}`, and remove `controlPlane.roleName`" in red


@pytest.mark.parametrize(("kind", "said"), [("vpc", "EC2 has no such VPC"), ("subnet", "has no such subnet")])
def test_a_cluster_whose_network_is_half_deleted_is_refused(trn: Trn, wires: dict[str, Wire], kind: str, said: str):
    """Terraform was stopped in the middle of its destroy."""
    state = blueprint_account()
    state.others[kind].pop(VPC if kind == "vpc" else NODES["usw2-az1"])
    wires[REGION] = account(state)
    code, _, err = trn("--cluster", BLUEPRINT, "--region", REGION)
    assert (code, said in err, Path("Pulumi.prod.yaml").exists()) == (1, True, False)


def test_a_label_that_the_program_sets_itself_is_not_copied(trn: Trn, wires: dict[str, Wire]):
    """The usual module of Terraform has one beside EFA (terraform-aws-modules/terraform-aws-eks, enable_efa_support): a draft with it
    would be refused."""
    state = blueprint_account()
    for item in state.ready("aws:eks/nodeGroup:NodeGroup"):
        item.inputs["labels"] = {"vpc.amazonaws.com/efa.present": "true", "example.k8s.io/a": "b", "team": "llm"}  # pyright: ignore[reportIndexIssue]
    wires[REGION] = account(state)
    result(trn, BLUEPRINT)
    assert [group["labels"] for group in configuration()["trn:nodeGroups"].values()] == [{"team": "llm"}]


def test_a_version_that_the_program_does_not_know_yet_is_red(trn: Trn, wires: dict[str, Wire]):
    wires[REGION] = account(blueprint_account(version="1.40"))
    assert any("EKS lowers no version" in each for each in result(trn, BLUEPRINT, code=1)["red"])


def test_a_group_of_the_core_groups_name_is_red(trn: Trn, wires: dict[str, Wire]):
    """The stack gives Neuron groups names of their own, and its core group has one name only."""
    state = eksctl_account()
    size = {"desiredSize": 2, "minSize": 2, "maxSize": 3}
    role = "eksctl-team-trn-nodegroup-trn1-NodeInstanceRole-0B10E"
    other_makers.Account(state, EKSCTL).group("core", role, "m5.large", "AL2023_x86_64_STANDARD", list(ROUTABLE.values()), size)
    wires[REGION] = account(state)
    (red,) = result(trn, EKSCTL, code=1)["red"]
    assert red == f"NodeGroup {EKSCTL}:core is there already, and is not the stack's: core cannot be made"


def test_a_draft_that_the_program_refuses_is_written_and_named(trn: Trn, wires: dict[str, Wire]):
    """Subnets in one zone only: the user adds another to the file, and runs the command again."""
    state = blueprint_account()
    for kind in ("aws:eks/nodeGroup:NodeGroup", "aws:eks/cluster:Cluster"):
        for item in state.ready(kind):
            place = item.inputs.get("vpcConfig", item.inputs)
            place["subnetIds"] = [NODES["usw2-az4"]]
    wires[REGION] = account(state)
    code, _, said = trn("--cluster", BLUEPRINT, "--region", REGION)
    assert (code, "network.zones" in said) == (2, True)
    assert "add a second one to network.zones" in Path("Pulumi.prod.yaml").read_text()


def test_what_is_refused_leaves_no_stack_file_behind(trn: Trn, wires: dict[str, Wire]):
    """Of two files either both are right to write, or none is written."""
    wires[REGION] = account(blueprint_account())
    Path("import-prod.json").write_text("{}")
    assert trn("--cluster", BLUEPRINT, "--region", REGION)[0] == 2
    assert not Path("Pulumi.prod.yaml").exists()


def test_a_region_that_a_policy_closes_is_not_one_without_clusters(
    trn: Trn, wires: dict[str, Wire], given: Given, monkeypatch: pytest.MonkeyPatch
):
    """Whether a cluster there has the role nobody knows: a person names the cluster to go on, and else nothing is written."""
    wires[REGION] = account(blueprint_account())
    reached = given.api
    assert callable(reached)

    def denied(call: Call) -> ClientError:
        return ClientError({"Error": {"Code": "AccessDeniedException", "Message": "by a policy"}}, call.operation)

    class Closed(BotoApi):
        def call(self, call: Call, **parameters: Any) -> dict[str, Any]:
            """An organization's policy."""
            raise denied(call)

        def pages(self, call: Call, key: str, **parameters: Any) -> Iterator[Any]:
            """The same."""
            raise denied(call)

    def api(region: str) -> Api:
        return Closed(region) if region == "us-east-2" else reached(region)

    given.api = api
    typed = ["", BLUEPRINT]
    monkeypatch.setattr("typer.prompt", lambda *_, **__: typed.pop(0))
    words = ("--cluster", BLUEPRINT, "--region", REGION)
    code, _, said = trn(*words)
    assert (code, "those of us-east-2" in said, Path("Pulumi.prod.yaml").exists()) == (2, True, False)
    assert trn(*words)[0] == 0
    assert not typed
    assert "us-east-2 cannot be looked at" in trn("--cluster", "none")[2]


def test_a_stack_that_holds_another_cluster_is_refused(trn: Trn, wires: dict[str, Wire], given: Given):
    """Its next `pulumi up` would replace that one."""
    wires[REGION] = account(blueprint_account())
    urn = "urn:pulumi:prod::trn::aws:eks/cluster:Cluster::a"
    arn = "arn:aws:eks:us-west-2:123456789012:cluster/night"
    root = {"urn": "urn:pulumi:prod::trn::pulumi:pulumi:Stack::trn-prod", "type": "pulumi:pulumi:Stack"}
    held = {"urn": urn, "type": "aws:eks/cluster:Cluster", "custom": True, "id": "night", "outputs": {"arn": arn}}
    given.engine = NoStack(json.dumps({"version": 3, "deployment": {"manifest": {}, "resources": [root, held]}}))
    code, _, said = trn("--cluster", BLUEPRINT, "--region", REGION)
    assert (code, "does not hold the cluster" in said, Path("Pulumi.prod.yaml").exists()) == (1, True, False)


def test_another_run_at_the_projects_files_is_waited_for(trn: Trn, wires: dict[str, Wire]):
    """The lock ends with its process."""
    wires[REGION] = account(blueprint_account())
    with Path("Pulumi.yaml").open("rb+") as other:
        flock(other, LOCK_EX)
        code, _, said = trn("--cluster", BLUEPRINT, "--region", REGION)
    assert (code, "another run writes files of this project" in said, Path("Pulumi.prod.yaml").exists()) == (1, True, False)
    assert trn("--cluster", BLUEPRINT, "--region", REGION)[0] == 0


def test_files_that_hold_it_already_are_not_written_again(trn: Trn, wires: dict[str, Wire]):
    """A second run says the same, and touches nothing."""
    wires[REGION] = account(blueprint_account())
    words = ("--cluster", BLUEPRINT, "--region", REGION)
    assert "wrote    Pulumi.prod.yaml, import-prod.json (11 objects)" in trn(*words)[1]
    before = Path("import-prod.json").stat()
    code, said, _ = trn(*words)
    after = Path("import-prod.json").stat()
    assert (code, "wrote" in said, after.st_ino, after.st_mtime_ns) == (0, False, before.st_ino, before.st_mtime_ns)


def test_a_group_keeps_its_release_its_block_and_a_type_that_its_launch_template_holds(trn: Trn, wires: dict[str, Wire]):
    """New nodes with another driver would not start the images that run; what EKS does not say, its instances do."""
    state = blueprint_account()
    made = Account(state, BLUEPRINT)
    block = {"capacityReservationSpecification": {"capacityReservationTarget": {"capacityReservationId": "cr-0b10e0b10e0b10e0b"}}}
    for name, desired in (("trn2-block", 1), ("trn2-idle", 0)):
        template = made.template(name, instanceType="trn2.48xlarge", **block)
        size = {"desiredSize": desired, "minSize": 0, "maxSize": 1}
        more = {"capacityType": "CAPACITY_BLOCK", "instanceTypes": None, "releaseVersion": "1.35.4-20260505", "launchTemplate": template}
        made.group(name, "core-node-group-eks-node-group-20240829", "", "AL2023_x86_64_NEURON", [NODES["usw2-az4"]], size, **more)
    wires[REGION] = account(state)
    notes = " ".join(result(trn, BLUEPRINT)["notes"])
    groups = configuration()["trn:nodeGroups"]
    (name,) = [key for key, group in groups.items() if group["instanceType"] == "trn2.48xlarge"]
    assert groups[name]["capacityReservationId"] == "cr-0b10e0b10e0b10e0b"
    assert (groups[name]["capacityType"], groups[name]["releaseVersion"]) == ("CAPACITY_BLOCK", "1.35.4-20260505")
    assert "node group trn2-idle (types in its launch template) has no place in the stack" in notes
    # The blueprint's own group has an AMI of Amazon Linux 2: its release is none of the Neuron AMI's.
    assert "AL2_x86_64_GPU" in notes
    assert "releaseVersion" not in next(group for group in groups.values() if group["instanceType"] == "trn1.32xlarge")


def test_a_cluster_of_another_blueprint_is_not_data_on_eks(trn: Trn, wires: dict[str, Wire]):
    """The tag `Blueprint` is on clusters of every blueprint; the repository's tag says which."""
    state = blueprint_account()
    (cluster,) = [item for item in state.ready(eks.CLUSTER_TYPE.token) if item.id == BLUEPRINT]
    for tags in (cluster.inputs["tags"], cluster.outputs.get("tagsAll", {})):
        tags.pop("GithubRepo", None)
    wires[REGION] = account(state)
    assert result(trn, BLUEPRINT)["maker"] == "another tool"
