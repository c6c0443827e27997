"""What a change of a running cluster comes to."""

from dataclasses import replace
from functools import cache
from typing import Any

import pytest

from facts.neuron_releases import AMI_RELEASES, LATER_AMI_RELEASE, ami_date
from facts.permanent import PARTS
from simulator.account.allowances import Allowances
from simulator.engine.change import Changed, rehearse_change
from simulator.engine.permanent import refused_by_program
from simulator.engine.plan import counts
from simulator.recording import Recording
from stacks.config import parse_settings
from tests.stacks import external_networks
from tests.support import dev_configuration, merged, record_stack
from trn.engine.assumed_account import account_for

TRAIN = "trn1-32xl"
KEY_ARN = "arn:aws:kms:us-west-2:123456789012:key/00000000-0000-0000-0000-000000000000"


@cache
def before() -> Recording:
    """The shipped stack."""
    return record_stack(dev_configuration())


def of_earlier_version(sections: Any = None) -> Recording:
    """The shipped stack as a version made it whose component remembers nothing: only EKS can refuse then."""
    found = record_stack(merged(dev_configuration(), **(sections or {})))
    return forgetting(found)


def forgetting(found: Recording) -> Recording:
    """A recording without what the component that holds everything says of itself."""
    registrations = {
        urn: replace(item, inputs={}, outputs={}) if not item.custom and set(PARTS) <= item.inputs.keys() else item
        for urn, item in found.registrations.items()
    }
    return Recording(found.project, found.stack, registrations)


def change(allowances: Allowances | None = None, **sections: Any) -> Changed:
    """The shipped stack, up, with sections of its configuration changed."""
    return rehearse_change(before(), record_stack(merged(dev_configuration(), **sections)), seed=0, allowances=allowances)


def kinds(changed: Changed) -> dict[str, str]:
    """Name and kind of each resource that is touched, to what happens to it."""
    return {f"{item.registration.type.rsplit(':', 1)[-1]} {item.registration.name}": item.kind for item in changed.touched}


def test_no_change_plans_nothing():
    """A difference without a change of the configuration would roll nodes that train."""
    changed = change()
    assert changed.touched == []
    assert (changed.phase.seconds, changed.cautions) == (0, [])


def test_new_limits_of_an_autoscaled_group_name_the_size_that_pulumi_knows():
    """The autoscaler may have made more nodes than that; the provider sends limits and size together."""
    having, more, named = (
        record_stack(merged(dev_configuration(), nodeGroups={TRAIN: {"autoscaled": True, **keys}}))
        for keys in ({"maxSize": 4}, {"maxSize": 6}, {"maxSize": 4, "nodeRepair": False})
    )
    (caution,) = rehearse_change(having, more, seed=0).cautions
    assert (caution.severity, "the size that Pulumi knows, 2 nodes" in caution.text) == ("red", True)
    assert "`pulumi up --refresh` reads the size first" in caution.text
    assert rehearse_change(having, named, seed=0).cautions == []


def test_a_control_plane_that_a_missing_key_would_take_back_names_the_key():
    """The stack file lost `kubernetesVersion`, and the program's default is older than what runs: EKS refuses, and no other key changed."""
    configuration = dev_configuration()
    groups = {name: {"releaseVersion": AMI_RELEASES["1.36"]} for name in configuration["nodeGroups"]}
    having = record_stack(merged(configuration, controlPlane={"kubernetesVersion": "1.36"}, nodeGroups=groups))
    del configuration["controlPlane"]["kubernetesVersion"]
    changed = rehearse_change(having, record_stack(configuration), seed=0)
    said = 'EKS takes no control plane from 1.36 back to 1.35: set `controlPlane.kubernetesVersion: "1.36"`, without which'
    assert [caution.severity for caution in changed.cautions if said in caution.text] == ["red"]
    (step,) = (step for step in changed.phase.steps.values() if step.error is not None and "minor version" in step.error)
    assert "`controlPlane.kubernetesVersion`" in str(step.refusal and step.refusal.fix)


def test_a_larger_group_grows_in_place():
    """Nothing else moves, and nothing stops."""
    changed = change(nodeGroups={TRAIN: {"size": 4}})
    assert kinds(changed) == {f"NodeGroup {TRAIN}": "update"}
    assert [(item.kind, item.nodes) for item in changed.nodes] == [("added", 2)]
    assert changed.cautions == []
    assert changed.cost[1].now.usd_per_hour > 1.9 * changed.cost[0].now.usd_per_hour


def test_another_ami_release_rolls_the_nodes_and_says_so_in_red():
    """Their users must be warned before the change."""
    changed = change(nodeGroups={TRAIN: {"releaseVersion": LATER_AMI_RELEASE}})
    (nodes,) = [item for item in changed.nodes if item.kind != "stays"]
    assert (nodes.kind, nodes.nodes, nodes.extra) == ("rolled", 2, 0)
    assert nodes.seconds == changed.phase.seconds > 20 * 60
    assert [(item.severity, "jobs on them stop" in item.text) for item in changed.cautions] == [("red", True)]


def test_core_nodes_roll_with_a_surge_that_the_quota_must_hold():
    """EKS launches two more in each zone first."""
    changed = change(coreNodes={"rootVolumeGib": 200})
    (nodes,) = [item for item in changed.nodes if item.kind == "rolled"]
    assert (nodes.group, nodes.extra) == ("core", 4)
    refused = change(Allowances({"Standard": 16}), coreNodes={"rootVolumeGib": 200})
    assert [step.refusal.code for step in refused.phase.errors if step.refusal] == ["VcpuLimitExceeded"]


def test_a_new_template_version_reaches_the_group_that_uses_it():
    """The group names the number: without it nothing would ever roll."""
    changed = change(nodeGroups={TRAIN: {"rootVolumeGib": 200}})
    group = next(item for item in changed.touched if item.registration.name == TRAIN and "NodeGroup" in item.registration.type)
    assert group.changed == ("launchTemplate.version",)
    assert group.new is not None
    assert group.new.inputs["launchTemplate"]["version"] == "2"


def test_another_zone_for_the_file_system_loses_its_data_and_takes_its_volume_along():
    """Ids that AWS draws anew are followed through all that uses them."""
    changed = change(storage={"lustre": {"zoneId": "usw2-az1"}})
    assert kinds(changed) == {
        "Deployment lustre-exporter": "replace",
        "LustreFileSystem lustre": "replace",
        "PersistentVolume fsx-claim": "replace",
        "PersistentVolumeClaim fsx-claim": "replace",
        "StorageClass fsx-lustre": "replace",
    }
    volume = next(item for item in changed.touched if item.registration.type.endswith(":PersistentVolume"))
    system = next(item for item in changed.touched if item.registration.type.endswith(":LustreFileSystem"))
    assert volume.new is not None
    assert system.new is not None
    assert system.old is not None
    assert volume.new.inputs["spec"]["csi"]["volumeHandle"] == system.new.id != system.old.id
    assert any("its data is lost" in item.text for item in changed.cautions if item.severity == "red")


def test_claim_goes_before_volume_and_file_system_last():
    """A volume whose claim is bound hangs in its protection, and what is mounted must not go first."""
    changed = change(storage={"lustre": {"zoneId": "usw2-az1"}})
    steps = changed.phase.steps

    def end(kind: str) -> float:
        return next(step.end for key, step in steps.items() if step.operation == "delete" and f"{kind}::" in key)

    assert end("Deployment") < end("PersistentVolumeClaim") < end("PersistentVolume") < end("LustreFileSystem")


def test_a_control_plane_that_is_replaced_takes_all_in_it_along():
    """It is deleted first, since its name is taken; what rests on it goes before, though its own inputs stay the same."""
    changed = change(name="other")
    found = kinds(changed)
    assert found["Cluster control-plane-eksCluster"] == "replace"
    assert found[f"NodeGroup {TRAIN}"] == "replace"
    assert found["Addon coredns"] == "replace"
    assert changed.phase.errors == []
    assert any("all that runs in the cluster is lost" in item.text for item in changed.cautions)


@pytest.mark.parametrize(
    "sections",
    [
        {"name": "other", "network": {"cidr": "10.2.0.0/21"}},
        {"network": {"zones": ["usw2-az4", "usw2-az1", "usw2-az2"]}},
        {"network": {"podCidr": "100.65.0.0/16"}},
        {"training": {"namespace": "jobs"}},
    ],
)
def test_large_changes_go_through(sections: dict[str, Any]):
    """An order in which AWS refuses half of it would leave a cluster between two shapes."""
    assert change(**sections).phase.errors == []


def test_a_cluster_stays_in_its_region():
    """Its successor there would have its name, and the one that runs would go with all its jobs and data."""
    changed = change(region="us-east-2", network={"zones": ["use2-az3", "use2-az1"]})
    (error,) = changed.phase.errors
    assert "a cluster stays in the region that it was made in: that of cluster trainium-dev is us-west-2" in str(error.error)
    assert changed.touched == []


@pytest.mark.parametrize(("old", "new"), [(None, KEY_ARN), (KEY_ARN, None), (KEY_ARN, KEY_ARN.replace("key/0", "key/1"))])
def test_another_encryption_key_is_refused_and_the_old_one_stays(old: str | None, new: str | None):
    """EKS takes a key once: without the old one all secrets of the cluster, and the cluster, are lost."""
    stacks = [of_earlier_version({"controlPlane": {"encryptionKeyArn": arn}} if arn else {}) for arn in (old, new)]
    changed = rehearse_change(*stacks, seed=0)
    (error,) = changed.phase.errors
    assert "its key cannot be changed" in str(error.error)
    assert error.refusal is not None
    assert "controlPlane.encryptionKeyArn" in error.refusal.fix
    assert not [step for step in changed.phase.steps.values() if step.operation == "delete"]


@pytest.mark.parametrize(
    ("sections", "error", "caution"),
    [
        ({"network": {"cidr": "10.2.0.0/21"}}, "must be in the same VPC", "into another VPC"),
        (
            {"network": {"zones": ["usw2-az4", "usw2-az1", "usw2-az2"]}, "controlPlane": {"zones": ["usw2-az4", "usw2-az2"]}},
            "Provided subnets belong to the AZs 'usw2-az2,usw2-az4'",
            "`controlPlane.zones: [usw2-az1, usw2-az4]`",
        ),
    ],
)
def test_a_control_plane_stays_in_its_vpc_and_its_zones(sections: dict[str, Any], error: str, caution: str):
    """EKS refuses it when half of the other network stands: it is said in red before."""
    changed = rehearse_change(of_earlier_version(), of_earlier_version(sections), seed=0)
    assert any(error in str(step.error) for step in changed.phase.errors)
    assert any(caution in item.text for item in changed.cautions if item.severity == "red")
    assert not [
        step for step in changed.phase.steps.values() if step.operation == "delete" and step.urn.endswith("control-plane-eksCluster")
    ]


def test_a_stack_moves_into_no_vpc_of_others_and_out_of_none():
    """The VPC is what the cluster is in, whoever keeps it."""
    own, others = dev_configuration(), external_networks.configuration()
    settings = [parse_settings(configuration, "test", rehearsal=True) for configuration in (own, others)]
    for old, new in ((own, others), (others, own)):
        stacks = [forgetting(record_stack(configuration)) for configuration in (old, new)]
        changed = rehearse_change(*stacks, seed=0, account=account_for(*settings))
        assert any("must be in the same VPC" in str(step.error) for step in changed.phase.errors)
        assert any("into another VPC" in item.text for item in changed.cautions if item.severity == "red")


@pytest.mark.parametrize(
    ("sections", "fix"),
    [
        ({"controlPlane": {"encryptionKeyArn": KEY_ARN}}, "Remove `controlPlane.encryptionKeyArn`"),
        ({"network": {"cidr": "10.2.0.0/21"}}, "Set `network.cidr: 10.1.0.0/21`"),
        ({"controlPlane": {"zones": ["usw2-az4", "usw2-az2"]}, "network": {"zones": ["usw2-az4", "usw2-az1", "usw2-az2"]}}, "controlPlane.zones"),
        ({"iam": {"path": "/teams/"}}, "without `iam.path`"),
        ({"controlPlane": {"roleName": "other"}}, "Set `controlPlane.roleName: trainium-dev-us-west-2-control-plane`"),
    ],
)  # fmt: skip
def test_what_the_program_refuses_changes_nothing(sections: dict[str, Any], fix: str):
    """The engine calls the program's hook before anything else: a rehearsal that tears down the control plane would be believed."""
    changed = change(**sections)
    assert changed.touched == []
    assert [(item.severity, fix in item.text) for item in changed.cautions] == [("red", True)]
    (refused,) = changed.phase.errors
    assert refused.refusal is not None
    assert fix in refused.refusal.fix
    assert changed.cost[0] == changed.cost[1]


def test_a_stack_without_a_cluster_may_still_choose():
    """An `up` that ended before the control plane was there keeps nothing: what stopped it may be that very setting."""
    found = before()
    cluster = next(item for item in found if item.type == "aws:eks/cluster:Cluster")
    begun = Recording(found.project, found.stack, {urn: item for urn, item in found.registrations.items() if urn != cluster.urn})
    after = record_stack(merged(dev_configuration(), network={"cidr": "10.2.0.0/21"}))
    assert refused_by_program(begun, after) == {}
    assert refused_by_program(found, after) != {}


def test_default_tags_reach_everything_that_takes_tags():
    """A provider's tags are on all that it made."""
    changed = change(tags={"team": "research"})
    assert counts(changed.changes)["update"] > 40
    assert not any(item.kind == "replace" for item in changed.touched)


def test_removing_volcano_deletes_what_its_kinds_hold():
    """Its custom resource definitions are in the chart's templates."""
    changed = change(addons={"volcano": {"enabled": False}})
    assert set(kinds(changed).values()) == {"delete"}
    assert any("with it every" in item.text for item in changed.cautions)


def pools(**mode: Any) -> dict[str, Any]:
    """Karpenter with one pool of its own."""
    pool = {"instanceType": "trn1.2xlarge", "maxNodes": 1, **mode}
    return {"clusterAutoscaler": {"enabled": False}, "karpenter": {"enabled": True, "neuronPools": {"pool": pool}}}


def changed_pool(old: dict[str, Any], new: dict[str, Any]) -> Changed:
    """A cluster with that pool, up, changed to the other."""
    recordings = [record_stack(merged(dev_configuration(), addons=pools(**mode))) for mode in (old, new)]
    return rehearse_change(*recordings, seed=0)


@pytest.mark.parametrize("now", [True, False])
def test_a_pool_of_another_mode_is_another_pool(now: bool):
    """Karpenter refuses it in place; its nodes go first, since the new one has its name."""
    changed = changed_pool({"static": not now}, {"static": now})
    (pool,) = [item for item in changed.touched if item.registration.name == "node-pool-pool"]
    assert (pool.kind, pool.delete_first) == ("replace", True)
    assert changed.phase.errors == []
    (caution,) = changed.cautions
    modes = "dynamic before, static now" if now else "static before, dynamic now"
    assert (caution.severity, caution.text) == (
        "red",
        f"Karpenter pool pool is replaced ({modes}): its nodes are drained, jobs on them stop",
    )


@pytest.mark.parametrize("static", [False, True])
def test_nodes_of_a_neuron_pool_keep_their_image_and_the_way_to_roll_them_is_said(static: bool):
    """The budgets keep drift from nodes that train: a new AMI reaches a node only when somebody deletes the old one."""
    having, later = pools(static=static), pools(static=static)
    later["karpenter"]["amiVersion"] = f"v{ami_date(LATER_AMI_RELEASE)}"
    changed = rehearse_change(*(record_stack(merged(dev_configuration(), addons=addons)) for addons in (having, later)), seed=0)
    (caution,) = changed.cautions
    assert "nodes of Karpenter pool pool that run stay as they are" in caution.text
    assert "kubectl get nodeclaims -l karpenter.sh/nodepool=pool" in caution.text


def test_a_group_on_a_capacity_block_is_updated_while_it_is_empty():
    """The block has no instance left to launch a successor from: EKS refuses the update."""
    block = {"instanceType": "trn1.32xlarge", "capacityType": "CAPACITY_BLOCK", "capacityReservationId": "cr-0123456789abcdef0"}

    def updated(size: int) -> Changed:
        releases = ({**block, "releaseVersion": release} for release in (AMI_RELEASES["1.35"], LATER_AMI_RELEASE))
        groups = ({"block": {**release, "size": size, "maxSize": 2}} for release in releases)
        return rehearse_change(*(record_stack(merged(dev_configuration(), nodeGroups=group)) for group in groups), seed=0)

    refused = updated(2)
    assert [step.error for step in refused.phase.errors] == [
        "InvalidRequestException: Nodegroup block uses a Capacity Block and must be scaled to 0 before it is updated"
    ]
    assert "on a capacity block, whose update must find it empty: set `nodeGroups.block.size: 0`" in refused.cautions[0].text
    assert updated(0).phase.ended_well


def test_a_static_pool_grows_in_place():
    """Only the mode is for life."""
    changed = changed_pool({"static": True}, {"static": True, "maxNodes": 2})
    assert kinds(changed) == {"NodePool node-pool-pool": "update"}
    assert (changed.phase.errors, changed.cautions) == ([], [])


def test_the_general_pools_pods_move_when_it_goes():
    """Nothing trains on untainted nodes."""
    general = {"clusterAutoscaler": {"enabled": False}, "karpenter": {"enabled": True, "generalPool": {"enabled": True}}}
    having = record_stack(merged(dev_configuration(), coreNodes={"autoscaled": False}, addons=general))
    lacking = record_stack(merged(dev_configuration(), coreNodes={"autoscaled": False}, addons={**general, "karpenter": {"enabled": True}}))
    changed = rehearse_change(having, lacking, seed=0)
    assert [(item.severity, item.text) for item in changed.cautions] == [
        ("amber", "Karpenter pool general is deleted: its nodes are drained, their pods move")
    ]


def switched(off: str, **settings: Any) -> Changed:
    """A cluster with an add-on, up, from which it is taken away."""
    having, lacking = ({"addons": {off: {**settings, "enabled": on}}} for on in (True, False))
    return rehearse_change(
        record_stack(merged(dev_configuration(), **having)), record_stack(merged(dev_configuration(), **lacking)), seed=0
    )


def test_kinds_that_stay_are_listed_with_the_command_that_removes_them():
    """Helm never deletes them: their objects stay without a controller, and block the next operator."""
    changed = switched("kubeRay")
    assert changed.phase.errors == []
    (left,) = [item for item in changed.cautions if "left behind" in item.text]
    assert left.severity == "amber"
    assert left.text == (
        "left behind: custom resource definition of ray.io/RayCluster, which Helm never deletes and 3 more of its kind;"
        r" `kubectl get crd -o name | grep '\.ray\.io$' | xargs kubectl delete` deletes it, with all its objects"
    )


def test_what_nothing_takes_away_is_reported_too():
    """Batch keeps its way into the cluster."""
    texts = [item.text for item in switched("batch", nodeGroups=[TRAIN]).cautions]
    assert texts == ["left behind: access entry of AWSServiceRoleForBatch, which Batch made and keeps; it is deleted with the cluster"]


def test_an_add_ons_own_namespace_is_no_namespace_of_jobs():
    """Who reads that all jobs are deleted does not switch an add-on off."""
    for addon, name in (("kubeRay", "kuberay-system"), ("trainingOperator", "kubeflow")):
        cautions = {item.severity: item.text for item in switched(addon).cautions if item.text.startswith("namespace")}
        assert cautions == {"amber": f"namespace {name} is deleted with its add-on, and everything else in it"}


def test_a_namespace_of_jobs_takes_them_along():
    """The training namespace by another name, and the one that Kueue was given."""
    renamed = [item.text for item in change(training={"namespace": "jobs"}).cautions if item.severity == "red"]
    assert "namespace training is deleted: all jobs in it are deleted" in renamed
    slurm = {"certManager": {"enabled": True}, "slurm": {"enabled": True, "nodeGroups": [TRAIN]}, "etcd": {"enabled": False}}
    recordings = [record_stack(merged(dev_configuration(), training={"namespace": name}, addons=slurm)) for name in ("training", "jobs")]
    texts = [item.text for item in rehearse_change(*recordings, seed=0).cautions]
    assert "namespace training is deleted: all jobs in it are deleted" in texts
    kueue = [item.text for item in switched("kueue", namespace="kueue-jobs").cautions if item.severity == "red"]
    assert "namespace kueue-jobs is deleted: all jobs in it are deleted" in kueue
