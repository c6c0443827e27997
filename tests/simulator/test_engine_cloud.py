"""The objects that the real engine meets: kept, half-made, in conflict, held by one process."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from simulator.providers.cloud import BrokenWorld, Cloud, WorldInUse, held
from simulator.providers.conflicts import CONFLICTS, conflict
from simulator.providers.faults import Faults
from simulator.replacements import FORCES_REPLACEMENT

GROUP = "aws:eks/nodeGroup:NodeGroup"
URN = f"urn:pulumi:dev::trn::trn:components:NodeGroup${GROUP}::train"
INPUTS = {"clusterName": "dev", "nodeGroupName": "train", "instanceTypes": ["trn1.32xlarge"], "scalingConfig": {"desiredSize": 2}}
STATE = {**INPUTS, "status": "ACTIVE"}


@pytest.fixture
def cloud(tmp_path: Path) -> Cloud:
    """An empty one."""
    return Cloud(tmp_path)


def make(cloud: Cloud) -> None:
    """The node group, whole."""
    assert cloud.begin_create(URN, GROUP, "dev:train", INPUTS, STATE) is None
    assert cloud.finish_create(URN, GROUP, "dev:train") is None


def test_an_object_is_there_before_it_is_ready(cloud: Cloud, tmp_path: Path):
    """Whoever dies meanwhile leaves it behind."""
    cloud.begin_create(URN, GROUP, "dev:train", INPUTS, STATE)
    assert Cloud.load(tmp_path).objects[GROUP, "dev:train"].status == "creating"
    cloud.finish_create(URN, GROUP, "dev:train")
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
    (tmp_path / "aws.eks.NodeGroup" / "dev:train.json").unlink()
    assert Cloud.load(tmp_path).get(GROUP, "dev:train") is None


def test_a_removed_object_is_gone_and_stays_gone(cloud: Cloud, tmp_path: Path):
    """Removing what is not there is no error: AWS's delete calls behave so behind the provider."""
    make(cloud)
    assert cloud.remove(GROUP, "dev:train") is None
    assert cloud.remove(GROUP, "dev:train") is None
    assert Cloud.load(tmp_path).objects == {}
    assert cloud.begin_create(URN, GROUP, "dev:train", INPUTS, STATE) is None
    assert cloud.generation(URN) == 2


@pytest.mark.parametrize(
    ("resource_type", "resource_id", "name"),
    [
        ("kubernetes:helm.sh/v3:Release", "volcano-system/volcano", "kubernetes.helm.sh.v3.Release/volcano-system%2Fvolcano.json"),
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
        cloud.update(GROUP, "dev:train", {**INPUTS, "scalingConfig": {"desiredSize": 9}}, {"scalingConfig": {"desiredSize": 9}})
    assert Cloud.load(tmp_path).objects[GROUP, "dev:train"].inputs == INPUTS


def test_a_file_that_is_none_of_ours_is_named(cloud: Cloud, tmp_path: Path):
    """A slip while editing one must not end in a traceback."""
    make(cloud)
    (tmp_path / "aws.eks.NodeGroup" / "dev:train.json").write_text("{")
    with pytest.raises(BrokenWorld, match=r"dev:train\.json is no object"):
        Cloud.load(tmp_path)


def test_only_one_process_has_the_folder(tmp_path: Path):
    """Two engines would write over each other; the one that comes second is told who was first."""
    script = "import sys; from pathlib import Path; from simulator.providers.cloud import held\nwith held(Path(sys.argv[1])):\n print('held', flush=True); input()"
    with subprocess.Popen([sys.executable, "-c", script, str(tmp_path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == "held\n"
        with pytest.raises(WorldInUse, match=f"process {other.pid}"), held(tmp_path):
            pass
        other.communicate("\n")
    with held(tmp_path):
        pass


def test_an_update_is_kept(cloud: Cloud, tmp_path: Path):
    """And only an update that changes something."""
    make(cloud)
    smaller = {**INPUTS, "scalingConfig": {"desiredSize": 1}}
    assert cloud.update(GROUP, "dev:train", smaller, {**STATE, **smaller}) is None
    assert Cloud.load(tmp_path).objects[GROUP, "dev:train"].state["scalingConfig"] == {"desiredSize": 1}


def test_an_object_that_drifted_is_set_back(cloud: Cloud):
    """The engine sends the program's inputs, which the object was made with."""
    make(cloud)
    cloud.objects[GROUP, "dev:train"].state["scalingConfig"] = {"desiredSize": 7}
    cloud.update(GROUP, "dev:train", INPUTS, STATE)
    assert cloud.objects[GROUP, "dev:train"].state["scalingConfig"] == {"desiredSize": 2}


def test_what_is_not_there_cannot_be_updated(cloud: Cloud):
    """The engine's state was behind: a refresh comes first."""
    refusal = cloud.update(GROUP, "dev:train", INPUTS, STATE)
    assert refusal is not None
    assert refusal.code == "NotFound"


def test_a_group_without_capacity_stays_and_no_update_mends_it(cloud: Cloud, tmp_path: Path):
    """EKS keeps the name taken; a provider that sees no difference asks nothing; any real change is refused."""
    cloud.faults = Faults({("no-capacity", "train"): 1})
    cloud.begin_create(URN, GROUP, "dev:train", INPUTS, STATE)
    refusal = cloud.finish_create(URN, GROUP, "dev:train")
    assert refusal is not None
    assert "InsufficientInstanceCapacity" in refusal.text
    assert "trn1.32xlarge" in refusal.text
    kept = Cloud.load(tmp_path).objects[GROUP, "dev:train"]
    assert (kept.status, kept.state["status"]) == ("failed", "CREATE_FAILED")
    assert cloud.update(GROUP, "dev:train", INPUTS, STATE) is None
    assert cloud.objects[GROUP, "dev:train"].status == "failed"
    refused = cloud.update(GROUP, "dev:train", {**INPUTS, "scalingConfig": {"desiredSize": 1}}, STATE)
    assert str(refused) == "ResourceInUseException: Nodegroup cannot be updated as it is currently not in Active State"


def test_faults_at_the_start_leave_nothing_behind(cloud: Cloud):
    """A refused request made nothing; the next one succeeds."""
    cloud.faults = Faults({("create-fails", "train"): 1, ("webhook-not-ready", "train"): 1})
    codes = [cloud.begin_create(URN, GROUP, "dev:train", INPUTS, STATE) for _ in range(2)]
    assert [refusal.code for refusal in codes if refusal] == ["InternalFailure", "InternalError"]
    assert "failed calling webhook" in str(codes[1])
    assert cloud.objects == {}
    make(cloud)


REFUSED = {
    "aws:eks/cluster:Cluster": ({"name": "dev"}, "ResourceInUseException: Cluster already exists with name: dev"),
    GROUP: (INPUTS, "ResourceInUseException: NodeGroup already exists with name train and cluster name dev"),
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
    "aws:ec2/subnet:Subnet": (
        {"vpcId": "vpc-1", "cidrBlock": "10.1.0.0/24"},
        "InvalidSubnet.Conflict: The CIDR '10.1.0.0/24' conflicts with another subnet",
    ),
    "aws:ec2/route:Route": (
        {"routeTableId": "rtb-1", "destinationCidrBlock": "0.0.0.0/0"},
        "RouteAlreadyExists: The route identified by 0.0.0.0/0 already exists.",
    ),
    "aws:kms/alias:Alias": ({"name": "alias/dev"}, "AlreadyExistsException: An alias with the name alias/dev already exists"),
    "aws:cloudwatch/logGroup:LogGroup": ({"name": "/aws"}, "ResourceAlreadyExistsException: The specified log group already exists"),
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


@pytest.mark.parametrize("resource_type", sorted(CONFLICTS))
def test_a_name_that_is_taken_is_refused_in_the_services_own_words(cloud: Cloud, resource_type: str):
    """A crash that lost the state shows up as this; another name, or another place for it, is free."""
    inputs, text = REFUSED[resource_type]
    assert cloud.begin_create("urn:pulumi:a::b::c::first", resource_type, "one", inputs, inputs) is None
    assert str(cloud.begin_create("urn:pulumi:a::b::c::second", resource_type, "two", inputs, inputs)) == text
    elsewhere = json.loads(json.dumps(inputs).replace('"a"', '"b"').replace('"n"', '"m"')) | (
        {key: f"{value}-2" for key, value in inputs.items() if isinstance(value, str)}
    )
    assert cloud.begin_create("urn:pulumi:a::b::c::second", resource_type, "three", elsewhere, elsewhere) is None


def test_conflicts_are_known_types():
    """A slip in a type's name would switch its rule off."""
    assert set(CONFLICTS) < set(FORCES_REPLACEMENT)
    assert conflict("aws:ec2/vpc:Vpc", {"cidrBlock": "10.0.0.0/16"}, [{"cidrBlock": "10.0.0.0/16"}]) is None
