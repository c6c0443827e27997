"""The objects that the real engine meets: kept, half-made, in conflict, held by one process."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from facts.resources.table import TYPES
from simulator.account import kinds
from simulator.account.conflicts import wording
from simulator.account.disk import AccountInUse, DamagedAccount, held
from simulator.account.faults import Faults
from simulator.account.rules.names import name_is_free
from simulator.account.world import World
from simulator.faults_syntax import parse_fault
from simulator.providers.cloud import Cloud
from simulator.recording import Registration
from tests.simulator.account.standing import TRAIN, only, standing

GROUP = kinds.LOG_GROUP
"""A type that needs nothing else."""
URN = f"urn:pulumi:dev::trn::{GROUP}::train"
INPUTS = {"name": "train", "retentionInDays": 30}
STATE = {**INPUTS, "arn": "arn:aws:logs"}


@pytest.fixture
def cloud(tmp_path: Path) -> Cloud:
    """An empty one."""
    return Cloud(tmp_path)


def make(cloud: Cloud) -> None:
    """A log group, whole."""
    assert cloud.begin_create(URN, GROUP, "dev:train", INPUTS, STATE) is None
    assert cloud.settle(GROUP, "dev:train") is None


def test_an_object_is_there_before_it_is_ready(cloud: Cloud, tmp_path: Path):
    """A provider that dies meanwhile leaves it behind."""
    cloud.begin_create(URN, GROUP, "dev:train", INPUTS, STATE)
    assert Cloud.load(tmp_path).objects[GROUP, "dev:train"].status == "creating"
    cloud.settle(GROUP, "dev:train")
    assert Cloud.load(tmp_path).objects[GROUP, "dev:train"].status == "ready"


def test_the_cloud_outlives_its_process(cloud: Cloud, tmp_path: Path):
    """Objects with inputs and state, and how often each was made."""
    make(cloud)
    again = Cloud.load(tmp_path)
    assert again.objects == cloud.objects
    assert (again.generation(URN), again.generation("other")) == (1, 0)


def test_an_object_whose_file_is_deleted_is_lost(cloud: Cloud, tmp_path: Path):
    """Drift by hand: the file is named after kind and id."""
    make(cloud)
    (tmp_path / "aws.cloudwatch.LogGroup" / "dev:train.json").unlink()
    assert Cloud.load(tmp_path).get(GROUP, "dev:train") is None


def delete(cloud: Cloud) -> None:
    """Away with the log group."""
    assert cloud.begin_delete(GROUP, "dev:train") is None
    cloud.finish_delete(GROUP, "dev:train")


def test_a_removed_object_is_gone_and_stays_gone(cloud: Cloud, tmp_path: Path):
    """Removing what is not there is no error: AWS's delete calls behave so behind the provider."""
    make(cloud)
    delete(cloud)
    delete(cloud)
    assert Cloud.load(tmp_path).objects == {}
    make(cloud)
    assert cloud.generation(URN) == 2


def test_what_a_deletion_leaves_is_kept(tmp_path: Path):
    """And holds what it lies in, also for the next run of the engine."""
    cloud = Cloud(tmp_path, standing())
    without_cni = only(kinds.ADDON, "control-plane-vpc-cni")
    cloud.world.state.remove(without_cni)
    group = only(kinds.NODE_GROUP, TRAIN)
    cloud.finish_delete(group.type, group.id)
    assert [stray.urn for stray in Cloud.load(tmp_path).world.state.strays.values()] == [group.urn]


def test_the_rules_of_the_world_hold_here_too(tmp_path: Path):
    """Both ways lead into one account."""
    cloud = Cloud(tmp_path, standing())
    refusal = cloud.begin_delete(kinds.CLUSTER, only(kinds.CLUSTER).id)
    assert str(refusal) == "ResourceInUseException: Cluster has nodegroups attached"


@pytest.mark.parametrize(
    ("resource_type", "resource_id", "name"),
    [
        ("aws:iam/rolePolicyAttachment:RolePolicyAttachment", "a/arn:b", "aws.iam.RolePolicyAttachment/a%2Farn:b.json"),
        ("aws:ec2/vpc:Vpc", "vpc-1", "aws.ec2.Vpc/vpc-1.json"),
    ],
)
def test_any_id_is_a_file_name(cloud: Cloud, tmp_path: Path, resource_type: str, resource_id: str, name: str):
    """Ids hold slashes."""
    cloud.begin_create("urn:pulumi:a::b::c::d", resource_type, resource_id, {}, {})
    assert (tmp_path / name).is_file()
    assert Cloud.load(tmp_path).get(resource_type, resource_id) is not None


def test_long_ids_stay_apart(cloud: Cloud, tmp_path: Path):
    """A role's name and a policy's ARN can be longer than a file's name."""
    ids = [f"role/{'p' * 300}-{end}" for end in "ab"]
    for resource_id in ids:
        cloud.begin_create("urn:pulumi:a::b::c::d", "aws:iam/rolePolicyAttachment:RolePolicyAttachment", resource_id, {}, {})
    assert sorted(key[1] for key in Cloud.load(tmp_path).objects) == ids


def test_a_file_is_replaced_whole(cloud: Cloud, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """A process that dies while it writes leaves the old text, and the half-written file is not read."""
    make(cloud)
    monkeypatch.setattr(Path, "replace", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))
    with pytest.raises(KeyboardInterrupt):
        cloud.update(GROUP, "dev:train", {**INPUTS, "retentionInDays": 9}, {"retentionInDays": 9})
    assert Cloud.load(tmp_path).objects[GROUP, "dev:train"].inputs == INPUTS


def test_a_file_that_is_none_of_ours_is_named(cloud: Cloud, tmp_path: Path):
    """A slip while editing one must not end in a traceback."""
    make(cloud)
    (tmp_path / "aws.cloudwatch.LogGroup" / "dev:train.json").write_text("{")
    with pytest.raises(DamagedAccount, match=r"dev:train\.json is no object"):
        Cloud.load(tmp_path)


def test_only_one_process_has_the_folder(tmp_path: Path):
    """Two engines would write over each other; the second is refused, with the process id of the first."""
    script = "import sys; from pathlib import Path; from simulator.account.disk import held\nwith held(Path(sys.argv[1])):\n print('held', flush=True); input()"
    with subprocess.Popen([sys.executable, "-c", script, str(tmp_path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == "held\n"
        with pytest.raises(AccountInUse, match=f"process {other.pid}"), held(tmp_path):
            pass
        other.communicate("\n")
    with held(tmp_path):
        pass


def test_an_update_is_kept(cloud: Cloud, tmp_path: Path):
    """And only an update that changes something."""
    make(cloud)
    shorter = {**INPUTS, "retentionInDays": 7}
    assert cloud.update(GROUP, "dev:train", shorter, {**STATE, **shorter}) is None
    assert Cloud.load(tmp_path).objects[GROUP, "dev:train"].state["retentionInDays"] == 7


def test_an_input_that_takes_anothers_place_is_a_difference(cloud: Cloud, tmp_path: Path):
    """Also where the state, which is all that a provider compares with, has never heard of the new one."""
    make(cloud)
    other = {"name": "train", "kmsKeyId": "arn:aws:kms"}
    assert cloud.update(GROUP, "dev:train", other, {"name": "train", "arn": "arn:aws:logs", "kmsKeyId": "arn:aws:kms"}) is None
    assert Cloud.load(tmp_path).objects[GROUP, "dev:train"].inputs == other


def test_what_is_not_there_cannot_be_updated(cloud: Cloud):
    """The engine's state was behind: a refresh comes first."""
    refusal = cloud.update(GROUP, "dev:train", INPUTS, STATE)
    assert refusal is not None
    assert refusal.code == "NotFound"


def test_a_group_without_capacity_stays_and_no_update_fixes_it(tmp_path: Path):
    """EKS keeps the name taken; a provider that sees no difference asks nothing; any real change is refused."""
    world, group = standing(), only(kinds.NODE_GROUP, TRAIN)
    world.state.remove(group)
    world.faults = Faults.of([parse_fault(f"no-capacity@NodeGroup/{TRAIN}")])
    cloud = Cloud(tmp_path, world)
    assert cloud.begin_create(group.urn, group.type, group.id, group.inputs, group.outputs) is None
    refusal = cloud.settle(group.type, group.id)
    assert refusal is not None
    assert "InsufficientInstanceCapacity" in refusal.text
    cloud.abandon(group.type, group.id, refusal)
    kept = Cloud.load(tmp_path).objects[group.type, group.id]
    assert (kept.status, kept.state["status"]) == ("failed", "CREATE_FAILED")
    assert cloud.update(group.type, group.id, dict(group.inputs), dict(group.outputs)) is None
    assert cloud.objects[group.type, group.id].status == "failed"
    smaller = {**group.inputs, "scalingConfig": {**group.inputs["scalingConfig"], "desiredSize": 1}}
    refused = cloud.update(group.type, group.id, smaller, {**group.outputs, **smaller})
    assert str(refused) == "ResourceInUseException: Nodegroup cannot be updated as it is currently not in Active State"


def test_faults_at_the_start_leave_nothing_behind(cloud: Cloud):
    """A refused request made nothing; the next one succeeds."""
    cloud.world.faults = Faults.of([parse_fault("create-fails@train:2")])
    for _ in range(2):
        refusal = cloud.begin_create(URN, GROUP, "dev:train", INPUTS, STATE)
        assert refusal is not None
        assert refusal.code == "InternalFailure"
        cloud.ended(URN, GROUP, "dev:train")
    assert cloud.objects == {}
    make(cloud)


REFUSED = {
    "aws:eks/cluster:Cluster": ({"name": "dev"}, "ResourceInUseException: Cluster already exists with name: dev"),
    kinds.NODE_GROUP: (
        {"clusterName": "dev", "nodeGroupName": "train"},
        "ResourceInUseException: NodeGroup already exists with name train and cluster name dev",
    ),
    "aws:eks/accessEntry:AccessEntry": (
        {"clusterName": "dev", "principalArn": "arn"},
        "ResourceInUseException: The specified access entry resource is already in use on this cluster.",
    ),
    "aws:eks/addon:Addon": ({"clusterName": "dev", "addonName": "coredns"}, "ResourceInUseException: Addon already exists."),
    "aws:eks/podIdentityAssociation:PodIdentityAssociation": (
        {"clusterName": "dev", "namespace": "kube-system", "serviceAccount": "aws-node"},
        "ResourceInUseException: Association already exists for kube-system/aws-node",
    ),
    "aws:iam/role:Role": ({"name": "node"}, "EntityAlreadyExists: Role with name node already exists."),
    "aws:ec2/securityGroup:SecurityGroup": (
        {"vpcId": "vpc-1", "name": "nodes"},
        "InvalidGroup.Duplicate: The security group 'nodes' already exists for VPC 'vpc-1'",
    ),
    "aws:ec2/launchTemplate:LaunchTemplate": (
        {"name": "train"},
        "InvalidLaunchTemplateName.AlreadyExistsException: Launch template name already in use.",
    ),
    "aws:ec2/placementGroup:PlacementGroup": (
        {"name": "train"},
        "InvalidPlacementGroup.Duplicate: The Placement Group 'train' already exists.",
    ),
    "aws:ec2/route:Route": (
        {"routeTableId": "rtb-1", "destinationCidrBlock": "0.0.0.0/0"},
        "RouteAlreadyExists: The route identified by 0.0.0.0/0 already exists.",
    ),
    "aws:kms/alias:Alias": ({"name": "alias/dev"}, "AlreadyExistsException: An alias with the name alias/dev already exists"),
    "aws:cloudwatch/logGroup:LogGroup": ({"name": "/aws"}, "ResourceAlreadyExistsException: The specified log group already exists"),
    "aws:scheduler/scheduleGroup:ScheduleGroup": ({"name": "a"}, "ConflictException: Schedule group a already exists."),
    "aws:scheduler/schedule:Schedule": ({"name": "a", "groupName": "n"}, "ConflictException: Schedule a already exists."),
    "kubernetes:core/v1:Namespace": ({"metadata": {"name": "a"}}, 'AlreadyExists: namespaces "a" already exists'),
    "kubernetes:core/v1:Service": ({"metadata": {"name": "a", "namespace": "n"}}, 'AlreadyExists: services "a" already exists'),
    "kubernetes:core/v1:PersistentVolume": ({"metadata": {"name": "a"}}, 'AlreadyExists: persistentvolumes "a" already exists'),
    "kubernetes:core/v1:PersistentVolumeClaim": (
        {"metadata": {"name": "a", "namespace": "n"}},
        'AlreadyExists: persistentvolumeclaims "a" already exists',
    ),
    "kubernetes:apps/v1:StatefulSet": (
        {"metadata": {"name": "a", "namespace": "n"}},
        'AlreadyExists: statefulsets.apps "a" already exists',
    ),
    "kubernetes:storage.k8s.io/v1:StorageClass": (
        {"metadata": {"name": "a"}},
        'AlreadyExists: storageclasses.storage.k8s.io "a" already exists',
    ),
    "kubernetes:scheduling.volcano.sh/v1beta1:Queue": (
        {"metadata": {"name": "a"}},
        'AlreadyExists: queues.scheduling.volcano.sh "a" already exists',
    ),
    "kubernetes:helm.sh/v3:Release": (
        {"namespace": "n", "name": "volcano"},
        "AlreadyExists: release volcano failed: cannot re-use a name that is still in use",
    ),
}


CONFLICTS = sorted(item.token for item in TYPES.values() if item.conflict is not None and item.conflict.text)


@pytest.mark.parametrize("resource_type", CONFLICTS)
def test_a_name_that_is_taken_is_refused_in_the_services_own_words(resource_type: str):
    """A crash that lost the state shows up as this; another name, or another place for it, is free."""
    inputs, text = REFUSED[resource_type]
    assert ": ".join(wording(resource_type, inputs) or ()) == text
    world = World()
    world.state.put(Registration("urn:pulumi:a::b::c::first", resource_type, "first", True, False, "", inputs, id="one"))
    second = Registration("urn:pulumi:a::b::c::second", resource_type, "second", True, False, "", inputs, id="two")
    assert str(name_is_free.check(world.state, second)) == text
    elsewhere = json.loads(json.dumps(inputs).replace('"a"', '"b"').replace('"n"', '"m"')) | (
        {key: f"{value}-2" for key, value in inputs.items() if isinstance(value, str)}
    )
    third = Registration("urn:pulumi:a::b::c::third", resource_type, "third", True, False, "", elsewhere, id="three")
    assert name_is_free.check(world.state, third) is None


def test_an_object_that_is_lost_is_gone_without_a_request(tmp_path: Path):
    """Even one that no rule would let go; a second time nothing happens."""
    cloud = Cloud(tmp_path, standing())
    cluster = only(kinds.CLUSTER)
    for _ in range(2):
        cloud.lose(kinds.CLUSTER, cluster.id)
        assert cloud.get(kinds.CLUSTER, cluster.id) is None
    assert Cloud.load(tmp_path).get(kinds.CLUSTER, cluster.id) is None


def test_a_role_of_others_is_read_and_nothing_else_of_theirs(cloud: Cloud):
    """The program looks up roles by name, and no other resource."""
    cloud.world.state.others["role"] = {"team": {"Arn": "arn:aws:iam::123456789012:role/x/team", "Path": "/x/"}}
    assert cloud.of_others(kinds.ROLE, "team") == {"arn": "arn:aws:iam::123456789012:role/x/team", "name": "team", "path": "/x/"}
    assert (cloud.of_others(kinds.ROLE, "other"), cloud.of_others(GROUP, "team")) == ({}, {})
