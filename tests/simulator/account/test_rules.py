"""Every rule of the account is broken once, and its message read; and none speaks against the shipped cluster."""

import json
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime

import pytest

from facts.capacity_blocks import window
from facts.charts import Contract, contracts
from facts.endpoints import NODE_ENDPOINTS
from facts.neuron_releases import LATER_AMI_RELEASE, NEWEST_AMI_DATE
from simulator.account import addresses, kinds
from simulator.account.allowances import Allowances, Job
from simulator.account.charts import chart_of
from simulator.account.consequences import of_deletion
from simulator.account.judge import ALL_RULES
from simulator.account.rule import Refusal, Rule
from simulator.account.world import World
from simulator.errors import UnknownType
from simulator.recording import Registration
from tests.simulator.account.standing import (
    TRAIN,
    changed,
    extra,
    fill_a_control_plane_subnet,
    group,
    interfaces,
    no_untainted_nodes,
    only,
    recording,
    standing,
    stray,
    with_template,
    without,
)
from tests.support import merged

_USUAL = {"create": (15, 30, 60, "inferred"), "delete": (5, 10, 20, "inferred")}
_MPI_JOB = ({"name": "mpijobs.kubeflow.org", "kind": "kubeflow.org/MPIJob", "stays": False},)
_RENDERED = "rendered with Helm 4.3.1 for Kubernetes 1.35, 2026-11"
FOREIGN = {
    "jobset": Contract(
        chart="jobset",
        version="0.12.0",
        source=_RENDERED,
        pods=({"object": "Deployment/jobset-system/jobset-controller-manager", "nodes": "core"},),
        crds=({"name": "jobsets.jobset.x-k8s.io", "kind": "jobset.x-k8s.io/JobSet", "stays": True},),
        cluster_objects=("ClusterRole/jobset-controller",),
        guards={"jobset.x-k8s.io/JobSet": ("CREATE", "UPDATE")},
        latency_s=_USUAL,
    ),
    "mpi-operator": Contract(chart="mpi-operator", version="v0.8.2", source=_RENDERED, crds=_MPI_JOB, latency_s=_USUAL),
    "training-operator": Contract(chart="training-operator", version="v1.9", source=_RENDERED, crds=_MPI_JOB, latency_s=_USUAL),
}
"""Charts that the program does not install, so that no add-on has their contracts."""


@pytest.fixture(autouse=True)
def _foreign_charts_are_known(monkeypatch: pytest.MonkeyPatch):
    """A cluster may have them by other means."""
    monkeypatch.setattr("simulator.account.charts.contracts", lambda: {**contracts(), **FOREIGN})


RULES = {rule.name: rule for rule in ALL_RULES}
NOT_SHIPPED = (kinds.PLACEMENT_GROUP, kinds.ACCESS_ENTRY, kinds.ACCESS_POLICY, kinds.COMPUTE_ENVIRONMENT, kinds.NODE_POOL, kinds.SCHEDULE)
"""Types that the shipped stack has none of."""
Break = Callable[[World], Registration]
"""Breaks something in an account, and gives the request that meets it."""


def _made_before(registration: Registration) -> Break:
    def broken(world: World) -> Registration:
        return replace(registration, urn=f"{registration.urn}-other", name="other")

    return broken


def _request(registration: Registration) -> Break:
    return lambda world: registration


def _with(prepare: Callable[[World], object], registration: Registration) -> Break:
    def broken(world: World) -> Registration:
        prepare(world)
        return registration

    return broken


def _limited(allowances: Allowances, registration: Registration) -> Break:
    def broken(world: World) -> Registration:
        world.state.allowances = allowances
        return registration

    return broken


def _train_template(**inputs: object) -> Break:
    return _with(lambda world: with_template(world, **inputs), group())


BLOCK_ID = "cr-0123456789abcdef0"


def _at(now: datetime) -> Break:
    """The training group on a capacity block of two days, at a time."""

    def broken(world: World) -> Registration:
        world.state.allowances = Allowances(blocks={BLOCK_ID: window("2026-12-01T11:30:00Z", "2026-12-03T11:30:00Z")})
        world.state.now = now
        with_template(
            world, placement=None, capacityReservationSpecification={"capacityReservationTarget": {"capacityReservationId": BLOCK_ID}}
        )
        return group()

    return broken


def _schedule(given: dict[str, str], role: str = "arn:aws:iam::123456789012:role/nobody") -> Registration:
    """A schedule that sizes a node group."""
    target = {"arn": "arn:aws:scheduler:::aws-sdk:eks:updateNodegroupConfig", "roleArn": role, "input": json.dumps(given)}
    return extra(kinds.SCHEDULE, "train-up", {"name": "train-up", "groupName": "c", "target": target})


def _queue() -> Registration:
    return only("kubernetes:scheduling.volcano.sh/v1beta1:Queue", "queue-training")


def _below(name: str, parent: str | None, **spec: object) -> Registration:
    """A queue of a hierarchy."""
    inputs = {"metadata": {"name": name}, "spec": {**({"parent": parent} if parent else {}), **spec}}
    return extra(kinds.QUEUE, f"queue-{name}", inputs)


def _hierarchy(asked: Registration, *there: Registration) -> Break:
    def put(world: World) -> None:
        for item in there:
            world.state.put(item)

    return _with(put, asked)


def _node_pool(world: World) -> Registration:
    pool = extra("kubernetes:karpenter.sh/v1:NodePool", "neuron", {"metadata": {"name": "neuron"}})
    world.state.put(pool)
    return pool


def _pool_of_another_mode(world: World) -> Registration:
    world.state.put(replace(_node_pool(world), inputs={"metadata": {"name": "neuron"}, "spec": {"limits": {"nodes": "1"}}}))
    return replace(_node_pool(World()), inputs={"metadata": {"name": "neuron"}, "spec": {"replicas": 1, "limits": {"nodes": "1"}}})


def _karpenter_crds(world: World) -> Registration:
    _node_pool(world)
    release = extra(kinds.RELEASE, "karpenter-crd", {"name": "karpenter-crd", "chart": "karpenter-crd", "namespace": "kube-system"})
    world.state.put(release)
    return release


def _in_use(world: World, what: str) -> None:
    stray(world, f"pod on {what}", "a pod that mounts it")


def _clusterless(world: World) -> None:
    without(world, only(kinds.CLUSTER))


def _without_policy(world: World) -> Registration:
    role = only(kinds.CLUSTER).inputs["roleArn"]
    names = [item.id for item in recording().of_type(kinds.ROLE) if item.outputs["arn"] == role]
    without(world, *(item for item in recording().of_type(kinds.ROLE_ATTACHMENT) if item.inputs["role"] in names))
    return only(kinds.CLUSTER)


def _in_template_of_cluster_only(world: World) -> Registration:
    own = [item.id for item in recording().of_type(kinds.SECURITY_GROUP) if item.name == "nodes"]
    with_template(world, networkInterfaces=interfaces((0, 0, "efa"), securityGroups=own))
    return group()


def _failed_group(world: World) -> Registration:
    world.state.put(group(), "failed")
    return group(labels={"team": "a"})


def _two_zones() -> list[str]:
    return [item.id for item in recording().of_type(kinds.SUBNET) if "-node-" in item.name]


def _nodes_subnet() -> Registration:
    return only(kinds.SUBNET, "network-node-usw2-az4")


def _another_vpc(world: World) -> None:
    for which, zone_id in (("subnet-1", "usw2-az4"), ("subnet-2", "usw2-az1")):
        world.state.others.setdefault("subnet", {})[which] = {"VpcId": "vpc-2", "CidrBlock": "10.9.0.0/24", "AvailabilityZoneId": zone_id}


def _unknown_volume() -> Registration:
    claim = only(kinds.CLAIM)
    return changed(claim, spec={**claim.inputs["spec"], "volumeName": "other"})


def _job_set() -> Registration:
    return extra(kinds.RELEASE, "jobset", {"chart": "oci://registry.k8s.io/jobset/charts/jobset", "name": "jobset", "namespace": "default"})


def _trainer(**values: object) -> Registration:
    inputs = {"chart": "kubeflow-trainer", "name": "kubeflow-trainer", "namespace": "kubeflow-system", "values": values}
    return extra(kinds.RELEASE, "kubeflow-trainer", inputs)


BATCH_ROLE = "arn:aws:iam::123456789012:role/aws-service-role/batch.amazonaws.com/AWSServiceRoleForBatch"


def _environment() -> Registration:
    over = {"eksClusterArn": "arn", "kubernetesNamespace": "training"}
    made = extra(kinds.COMPUTE_ENVIRONMENT, "batch", {"name": "batch", "serviceRole": BATCH_ROLE, "eksConfiguration": over})
    return replace(made, outputs={"arn": "arn:batch"})


def _policy() -> Registration:
    return extra(kinds.ACCESS_POLICY, "batch", {"clusterName": "trainium-dev", "principalArn": BATCH_ROLE, "policyArn": "arn"})


def _queued(world: World) -> Registration:
    world.state.put(_environment())
    world.state.put(extra(kinds.JOB_QUEUE, "jobs", {"name": "jobs", "computeEnvironmentOrders": [{"computeEnvironment": "arn:batch"}]}))
    return _environment()


def _self_rule(name: str) -> Registration:
    kind = kinds.EGRESS if "to" in name else kinds.INGRESS
    return only(kind, name)


def _closed(world: World) -> None:
    """The NAT gateway's routes are gone."""
    without(world, *recording().of_type(kinds.ROUTE))


BROKEN: dict[str, tuple[Break, str]] = {
    "queue-fits-its-hierarchy": (
        _hierarchy(_below("nlp", "team", deserved={"cpu": 4}), _below("team", "root")),
        "parent queue team validation failed: sum of children's deserved (cpu 4) exceeds parent's deserved limit",
    ),
    "queue-still-fits-its-hierarchy": (
        _hierarchy(
            _below("team", "root", deserved={"cpu": 3}),
            _below("team", "root", deserved={"cpu": 4}),
            _below("nlp", "team", deserved={"cpu": 4}),
        ),
        "sum of children's deserved (cpu 4)",
    ),
    "queue-has-no-children": (
        _hierarchy(_below("team", "root"), _below("team", "root"), _below("nlp", "team")),
        "queue team can not be deleted because it has 1 child queues: nlp",
    ),
    "protected": (_request(replace(only(kinds.VPC), options={"protect": True})), "pulumi state unprotect"),
    "name-is-free": (_made_before(only(kinds.CLUSTER)), "ResourceInUseException: Cluster already exists with name: trainium-dev"),
    "name-fits": (_request(changed(only(kinds.CLUSTER), name="x" * 101)), "has 101 characters"),
    "tags-are-free": (_request(changed(only(kinds.VPC), tags={"aws:mine": "x"})), "reserved for internal use: aws:mine"),
    "subnet-in-vpc": (_request(changed(_nodes_subnet(), cidrBlock="10.9.0.0/24")), "The CIDR '10.9.0.0/24' is invalid"),
    "zone-is-there": (_request(changed(_nodes_subnet(), availabilityZoneId="use2-az4")), "parameter availabilityZoneId is invalid"),
    "subnets-apart": (_request(_nodes_subnet()), "conflicts with another subnet"),
    "vpc-is-there": (_request(changed(only(kinds.SECURITY_GROUP, "nodes"), vpcId="vpc-0")), "The vpc ID 'vpc-0' does not exist"),
    "address-is-free": (_request(only(kinds.NAT_GATEWAY)), "already associated with NAT gateway"),
    "one-private-name": (
        _with(
            lambda world: world.state.put(changed(only(kinds.ENDPOINT), privateDnsEnabled=True)),
            changed(only(kinds.ENDPOINT), privateDnsEnabled=True),
        ),
        "conflicting DNS domain",
    ),
    "no-subnet-in-template": (_train_template(networkInterfaces=interfaces((0, 0, "efa"), subnetId="subnet-1")), "can't contain a subnet"),
    "no-image-with-ami-type": (_train_template(imageId="ami-1"), "remove imageId from the template"),
    "instance-type-in-one-place": (_train_template(instanceType="trn1.32xlarge"), "but not both"),
    "disk-and-access-in-template": (_request(group(diskSize=100)), "diskSize cannot be specified with a launch template"),
    "interfaces-fit-the-cards": (
        _train_template(networkInterfaces=interfaces((0, 0, "efa"), (0, 1, "efa"))),
        "more than one EFA interface",
    ),
    "vcpu-quota": (_limited(Allowances({"Trn": 128}), group()), "need 256 vCPU beside 0 in use, quota L-2C3B7624 allows 128"),
    "block-is-empty-for-an-update": (
        _with(
            lambda world: world.state.put(group(capacityType="CAPACITY_BLOCK")),
            group(capacityType="CAPACITY_BLOCK", releaseVersion=LATER_AMI_RELEASE),
        ),
        "uses a Capacity Block and must be scaled to 0",
    ),
    "block-is-active": (_at(datetime(2026, 12, 1, 11, 29, tzinfo=UTC)), "which begins at 2026-12-01 11:30 UTC"),
    "schedule-input": (
        _request(_schedule({"clusterName": "c", "nodegroupName": "g"})),
        "missing the following field(s): ClusterName, NodegroupName.; train-up has clusterName, nodegroupName",
    ),
    "schedule-role": (
        _request(_schedule({"ClusterName": "c", "NodegroupName": "g"})),
        "must allow AWS EventBridge Scheduler to assume the role",
    ),
    "surge-quota": (
        _limited(Allowances({"Trn": 256}), group(releaseVersion=LATER_AMI_RELEASE, updateConfig={"updateStrategy": "DEFAULT"})),
        "4 nodes of trn1-32xl need 512 vCPU",
    ),
    "offered-in-zone": (lambda world: _moved(world, "use2-az4", "trn2.48xlarge"), "not in use2-az4"),
    "capacity-in-zone": (_limited(Allowances(capacity={("trn1.32xlarge", "usw2-az4"): 1}), group()), "try usw2-az1, buy a capacity block"),
    "no-placement-group-in-reservation": (
        _train_template(placement={"groupName": "g"}, capacityReservationSpecification={"x": 1}),
        "placementGroup: false",
    ),
    "placement-group-in-one-zone": (
        _with(lambda world: with_template(world, placement={"groupName": "g"}), group(subnetIds=_two_zones())),
        "must be launched in the usw2-az1 Availability Zone",
    ),
    "free-addresses": (
        _with(lambda world: world.state.put(changed(_nodes_subnet(), cidrBlock="100.64.0.0/27")), group()),
        "take up to",
    ),
    "cluster-security-group": (_in_template_of_cluster_only, "Instances failed to join the kubernetes cluster"),
    "way-out": (
        _with(lambda world: without(world, *recording().of_type(kinds.ROUTE)), group()),
        f"no endpoint for {', '.join(NODE_ENDPOINTS)};",
    ),
    "identity-reaches-its-services": (
        _with(_closed, only(kinds.ADDON, "aws-fsx-csi-driver")),
        "call fsx, and there is neither a NAT gateway nor an endpoint",
    ),
    "release-reaches-its-services": (
        _with(_closed, only(kinds.RELEASE, "cluster-autoscaler")),
        "end at their start: they call autoscaling",
    ),
    "cni-is-there": (
        _with(lambda world: without(world, only(kinds.ADDON, "control-plane-vpc-cni")), group()),
        "container runtime network not ready",
    ),
    "version-skew": (_request(group(version="1.36")), "is of 1.36, the control plane of 1.35"),
    "version-skew-on-update": (_request(group(version="1.31")), "is of 1.31, the control plane of 1.35"),
    "nodes-stay-within-skew": (
        _with(lambda world: world.state.put(group(version="1.32")), changed(only(kinds.CLUSTER), version="1.36")),
        "more than 3 minors older than 1.36",
    ),
    "addon-of-the-minor": (
        _request(changed(only(kinds.ADDON, "control-plane-kube-proxy"), addonVersion="v1.36.0-eksbuild.25")),
        "is not for a control plane of 1.35",
    ),
    "addon-of-the-minor-on-update": (
        _request(changed(only(kinds.ADDON, "control-plane-kube-proxy"), addonVersion="v1.34.6-eksbuild.29")),
        "is not for a control plane of 1.35",
    ),
    "one-minor-at-a-time": (_request(changed(only(kinds.CLUSTER), version="1.37")), "version update from 1.35 to 1.37"),
    "efa-self-rules": (_with(lambda world: without(world, _self_rule("nodes-to-self")), group()), "no self-referencing egress rule"),
    "efa-in-one-zone": (_request(group(subnetIds=_two_zones())), "spreads over usw2-az1, usw2-az4"),
    "driver-fits-runtime": (lambda world: _for_toolchain(world, "xla-2.30"), "brings driver 2.29.0.0, xla-2.30 has runtime 2.32.31"),
    "control-plane-zones": (lambda world: _cluster_in(world, "use1-az3"), "lies in use1-az3"),
    "control-plane-in-two-zones": (
        _request(changed(only(kinds.CLUSTER), vpcConfig={"subnetIds": [_nodes_subnet().id]})),
        "at least two different AZs",
    ),
    "service-role-may-act": (_without_policy, "let the cluster depend on the attachment"),
    "one-vpc": (
        _with(_another_vpc, changed(only(kinds.CLUSTER), vpcConfig={"subnetIds": ["subnet-1", "subnet-2"]})),
        "must be in the same VPC",
    ),
    "one-set-of-zones": (
        _request(changed(only(kinds.CLUSTER), vpcConfig={"subnetIds": [_nodes_subnet().id]})),
        "should belong to the exact set of AZs 'usw2-az1,usw2-az4'",
    ),
    "upgrade-addresses": (
        _with(lambda world: fill_a_control_plane_subnet(world, left=4), changed(only(kinds.CLUSTER), version="1.36")),
        "Free IPs: 4 , need at least 5 IPs in each subnet to be free for this operation",
    ),
    "one-encryption-key": (
        _request(changed(only(kinds.CLUSTER), encryptionConfig={"provider": {"keyArn": "arn:aws:kms:us-west-2:123456789012:key/other"}})),
        "its key cannot be changed",
    ),
    "addon-needs-node": (_with(no_untainted_nodes, only(kinds.ADDON, "coredns")), "doesn't have the desired number of replicas"),
    "identity-needs-agent": (
        _with(lambda world: without(world, only(kinds.ADDON, "eks-pod-identity-agent")), only(kinds.ADDON, "aws-ebs-csi-driver")),
        "restart without credentials",
    ),
    "one-owner-of-addon": (
        _with(
            lambda world: world.state.put(extra(kinds.RELEASE, "ebs", {"chart": "aws-ebs-csi-driver", "name": "ebs"})),
            changed(only(kinds.ADDON, "aws-ebs-csi-driver"), resolveConflictsOnCreate="NONE"),
        ),
        "Conflicts found when trying to apply aws-ebs-csi-driver",
    ),
    "lustre-size": (_request(changed(only(kinds.FILE_SYSTEM), storageCapacity=1500)), "set `storage.lustre.capacityGib` to 2400"),
    "lustre-grows": (_request(changed(only(kinds.FILE_SYSTEM), storageCapacity=3000)), "Invalid storage capacity provided: 3000"),
    "lustre-ports": (
        _with(lambda world: without(world, only(kinds.INGRESS, "lustre-from-self-988")), only(kinds.FILE_SYSTEM)),
        "does not allow port 988 from itself",
    ),
    "api-server-answers": (_with(_clusterless, _queue()), "configured Kubernetes cluster is unreachable"),
    "namespace-is-there": (
        _with(lambda world: without(world, only(kinds.NAMESPACE, "volcano-system-namespace")), only(kinds.RELEASE, "volcano")),
        'namespaces "volcano-system" not found',
    ),
    "kind-is-known": (_with(lambda world: without(world, only(kinds.RELEASE, "volcano")), _queue()), 'no matches for kind "Queue"'),
    "webhook-answers": (_with(no_untainted_nodes, _queue()), "no endpoints available for service"),
    "webhook-answers-on-update": (_with(no_untainted_nodes, _queue()), "failed calling webhook"),
    "one-owner-of-kind": (
        _with(
            lambda world: world.state.put(extra(kinds.RELEASE, "one", {"chart": "training-operator", "name": "one"})),
            extra(kinds.RELEASE, "two", {"chart": "mpi-operator", "name": "two"}),
        ),
        "kubeflow.org/MPIJob belongs to one already",
    ),
    "one-owner-of-object": (
        _with(lambda world: world.state.put(_job_set()), _trainer()),
        "ClusterRole/jobset-controller belongs to jobset already: both bring JobSet",
    ),
    "release-needs-node": (
        _with(no_untainted_nodes, only(kinds.RELEASE, "volcano")),
        "has been uninstalled due to atomic being set: failed pre-install",
    ),
    "workload-needs-node": (_with(no_untainted_nodes, only(kinds.STATEFUL_SET)), "0 out of 1 replicas succeeded"),
    "volume-for-claim": (_request(_unknown_volume()), "volume other is not there"),
    "fixed-inputs": (_pool_of_another_mode, "Cannot transition NodePool between static"),
    "environment-finds-its-namespace": (
        _with(lambda world: without(world, only(kinds.NAMESPACE, "training-namespace")), _environment()),
        "CLIENT_ERROR - Unable to validate Kubernetes Namespace; namespace training is not there",
    ),
    "no-entry-for-a-linked-role": (
        _request(extra(kinds.ACCESS_ENTRY, "batch", {"clusterName": "trainium-dev", "principalArn": BATCH_ROLE})),
        "The caller is not allowed to modify access entries",
    ),
    "policy-needs-an-entry": (_request(_policy()), "The specified principalArn could not be found"),
    "queue-names-the-environment": (_queued, "found existing JobQueue relationship; job queue jobs names batch"),
    "group-is-active": (_failed_group, "the state takes it for made"),
    "group-can-change": (_failed_group, "not in Active State"),
    "subnet-has-interfaces": (_request(_nodes_subnet()), "held by nodes of core; nodes of trn1-32xl"),
    "security-group-in-use": (_request(only(kinds.SECURITY_GROUP, "nodes")), "has a dependent object"),
    "vpc-is-empty": (_request(only(kinds.VPC)), "has dependencies and cannot be deleted"),
    "gateway-in-use": (_request(only(kinds.INTERNET_GATEWAY)), "has some mapped public address(es)"),
    "address-in-use": (_request(only(kinds.ADDRESS)), "is in use by NAT gateway"),
    "block-in-use": (_request(only(kinds.POD_BLOCK)), "may not be disassociated"),
    "placement-group-in-use": (
        _with(
            lambda world: with_template(world, placement={"groupName": "g"}),
            extra(kinds.PLACEMENT_GROUP, "g", {"name": "g"}),
        ),
        "The placement group 'g' is in use",
    ),
    "cluster-has-node-groups": (_request(only(kinds.CLUSTER)), "Cluster has nodegroups attached"),
    "deletion-protection": (_request(changed(only(kinds.CLUSTER), deletionProtection=True)), "controlPlane.deletionProtection: false"),
    "template-is-there": (
        _with(lambda world: without(world, only(kinds.LAUNCH_TEMPLATE, TRAIN)), group()),
        "couldn't find the Amazon EC2 launch template",
    ),
    "api-server-is-gone": (_with(_clusterless, _queue()), "PULUMI_K8S_DELETE_UNREACHABLE=true pulumi refresh"),
    "webhook-outlives-pods": (_with(no_untainted_nodes, _queue()), "guards scheduling.volcano.sh/Queue, and its pods do not answer"),
    "finalizer-needs-controller": (_node_pool, "finalizers might be preventing deletion (karpenter.sh/NodePool)"),
    "kinds-are-unused": (_karpenter_crds, "neuron and 0 more objects of its kinds are there"),
    "delete-jobs-need-node": (
        _with(
            no_untainted_nodes,
            extra(
                kinds.RELEASE, "trainer", {"chart": "kubeflow-trainer", "name": "trainer", "values": {"runtimes": {"defaultEnabled": True}}}
            ),
        ),
        "failed pre-delete",
    ),
    "storage-in-use": (_with(lambda world: _in_use(world, "fsx-claim"), only(kinds.CLAIM)), "kubernetes.io/pvc-protection"),
    "namespace-with-finalizers": (
        _with(lambda world: _in_use(world, "fsx-claim training/"), only(kinds.NAMESPACE, "training-namespace")),
        "namespace training holds a pod that mounts it",
    ),
    "role-has-policies": (_request(only(kinds.ROLE, "control-plane-role")), "Cannot delete entity, must detach all policies first"),
    "held-by-others": (lambda world: _with_a_neighbour(world), "held by eni-of-a-colleague"),
}


def _with_a_neighbour(world: World) -> Registration:
    subnet = _nodes_subnet()
    world.state.others["interface"] = {"eni-of-a-colleague": {"SubnetId": subnet.id}, "eni-elsewhere": {"SubnetId": f"{subnet.id}0"}}
    return subnet


def _moved(world: World, zone_id: str, instance_type: str) -> Registration:
    world.state.put(changed(_nodes_subnet(), availabilityZoneId=zone_id))
    return group(instanceTypes=[instance_type])


def _cluster_in(world: World, zone_id: str) -> Registration:
    subnets = [item for item in recording().of_type(kinds.SUBNET) if "private" in item.name]
    world.state.put(changed(subnets[0], availabilityZoneId=zone_id))
    return only(kinds.CLUSTER)


def _for_toolchain(world: World, toolchain: str) -> Registration:
    world.state.job = Job(toolchain)
    return group(releaseVersion=f"1.35.4-{NEWEST_AMI_DATE}")


FIXED = {
    "StorageClass": ("default-storage-class", {"reclaimPolicy": "Retain"}, "updates to reclaimPolicy are forbidden"),
    "PersistentVolume": ("fsx-claim", {"spec": {"volumeMode": "Block"}}, "spec.volumeMode: Invalid value: field is immutable"),
    "PersistentVolumeClaim": ("fsx-claim", {"spec": {"resources": {"requests": {"storage": "600Gi"}}}}, "can not be less than"),
}
"""Objects of the shipped stack: logical name, a change, and words of the refusal."""


@pytest.mark.parametrize("kind", FIXED)
def test_an_input_that_is_kept_for_life_cannot_be_changed(kind: str):
    """The provider does not replace the object for it: `pulumi up` would end with the API server's error."""
    name, change, words = FIXED[kind]
    (asked,) = [item for item in recording() if item.name == name and item.type.endswith(f":{kind}")]
    refusal = RULES["fixed-inputs"].check(standing().state, replace(asked, inputs=merged(dict(asked.inputs), **change)))
    assert refusal is not None
    assert words in refusal.text
    assert f"`pulumi destroy --target-dependents --target '{asked.urn}'`" in refusal.fix


@pytest.mark.parametrize(
    "change", [{"spec": {"resources": {"requests": {"storage": "2400Gi"}}}}, {"metadata": {"labels": {"team": "nlp"}}}]
)
def test_a_claim_may_grow_and_take_labels(change: dict[str, object]):
    """What is not kept for life changes in place."""
    (claim,) = [item for item in recording() if item.type == kinds.CLAIM]
    assert RULES["fixed-inputs"].check(standing().state, replace(claim, inputs=merged(dict(claim.inputs), **change))) is None


def test_a_claim_stays_while_the_programs_own_pods_mount_it():
    """Not jobs alone: the pod that watches the file system is no job, and nothing drains it."""
    refused = RULES["storage-in-use"].check(standing().state, only(kinds.CLAIM))
    assert refused is not None
    assert refused.cause == "fsx-claim is used by pods of lustre-exporter"
    assert refused.remedy == "configure"


def _refusal_at(now: datetime, size: int = 2) -> Refusal | None:
    world = standing()
    request = _at(now)(world)
    return RULES["block-is-active"].check(
        world.state, changed(request, scalingConfig={**request.inputs["scalingConfig"], "desiredSize": size})
    )


def test_a_block_gives_instances_from_its_start_until_half_an_hour_before_its_end():
    """EC2's own codes before and after; a group without nodes asks for nothing."""
    moments = [(1, 11, 29), (1, 11, 30), (3, 10, 59), (3, 11, 0), (4, 0, 0)]
    found = [_refusal_at(datetime(2026, 12, day, hour, minute, tzinfo=UTC)) for day, hour, minute in moments]
    early, late = "InvalidCapacityReservationState.PendingActivation", "ReservationCapacityExceeded"
    assert [refusal and refusal.code for refusal in found] == [early, None, None, late, late]
    assert _refusal_at(datetime(2026, 11, 1, tzinfo=UTC), size=0) is None


def test_a_schedule_takes_a_role_that_trusts_the_scheduler_and_no_other():
    """The node role trusts EC2."""
    world = standing()
    node_role = only(kinds.ROLE, "node-role")
    request = _schedule({"ClusterName": "c", "NodegroupName": "g"}, node_role.outputs["arn"])
    refused = RULES["schedule-role"].check(world.state, request)
    trusting = changed(
        node_role, assumeRolePolicy=node_role.inputs["assumeRolePolicy"].replace("ec2.amazonaws.com", "scheduler.amazonaws.com")
    )
    world.state.put(trusting)
    assert refused is not None
    assert RULES["schedule-role"].check(world.state, request) is None


def test_a_schedule_that_calls_another_service_is_not_read():
    """Its members are that service's own."""
    request = _schedule({})
    other = changed(request, target={**request.inputs["target"], "arn": "arn:aws:scheduler:::aws-sdk:sqs:sendMessage"})
    assert RULES["schedule-input"].check(standing().state, other) is None


def test_a_control_plane_changes_with_five_addresses_in_each_subnet():
    """An update of something else needs none; other subnets need as many as an upgrade does."""
    rule, world = RULES["upgrade-addresses"], standing()
    upgraded, cluster = changed(only(kinds.CLUSTER), version="1.36"), only(kinds.CLUSTER)
    assert rule.check(world.state, upgraded) is None
    fill_a_control_plane_subnet(world, left=5)
    assert rule.check(world.state, upgraded) is None
    fill_a_control_plane_subnet(world, left=4)
    assert rule.check(world.state, upgraded) is not None
    assert rule.check(world.state, changed(cluster, enabledClusterLogTypes=["api"])) is None
    moved = changed(cluster, vpcConfig={**cluster.inputs["vpcConfig"], "subnetIds": cluster.inputs["vpcConfig"]["subnetIds"][:1]})
    assert rule.check(world.state, moved) is not None


THREE_FREE = Allowances(capacity={("trn1.32xlarge", "usw2-az4"): 3})
"""The training group asks for two."""
TARGET = {"capacityReservationTarget": {"capacityReservationId": "cr-0123456789abcdef0"}}


def _beside(world: World, *, reserved: bool = False, **inputs: object) -> None:
    """Another group of two nodes of the same type in the same zone, with some inputs changed."""
    world.state.allowances = THREE_FREE
    template = only(kinds.LAUNCH_TEMPLATE, TRAIN)
    placed = {"capacityReservationSpecification": TARGET} if reserved else {}
    world.state.put(replace(changed(template, **placed), urn="other", id="lt-other"))
    named = {"nodeGroupName": "other", "launchTemplate": {"id": "lt-other", "version": "1"}}
    world.state.put(replace(group(**named, **inputs), urn="other", id="trainium-dev:other"))


def test_capacity_of_a_zone_is_taken_by_nodes_that_run_in_it():
    """Three are free, two are taken: not by a group of another zone."""
    rule, here, elsewhere = RULES["capacity-in-zone"], standing(), standing()
    _beside(here)
    refusal = rule.check(here.state, group())
    assert refusal is not None
    assert "asks for 2 trn1.32xlarge in usw2-az4, 1 are free" in refusal.cause
    _beside(elsewhere, subnetIds=[only(kinds.SUBNET, "network-node-usw2-az1").id])
    assert rule.check(elsewhere.state, group()) is None


@pytest.mark.parametrize(
    ("reserved", "inputs"), [(True, {}), (False, {"capacityType": "CAPACITY_BLOCK"}), (False, {"capacityType": "SPOT"})]
)
def test_nodes_of_a_reservation_a_block_or_spot_leave_the_free_capacity_of_their_zone(reserved: bool, inputs: dict[str, object]):
    """The first two have instances of their own, and EC2 takes spot instances back for those who pay for on-demand."""
    world = standing()
    _beside(world, reserved=reserved, **inputs)
    assert RULES["capacity-in-zone"].check(world.state, group()) is None


def test_a_group_of_a_reservation_needs_no_free_capacity():
    """Its instances are held for it."""
    world = standing()
    world.state.allowances = Allowances(capacity={("trn1.32xlarge", "usw2-az4"): 0})
    assert RULES["capacity-in-zone"].check(world.state, group()) is not None
    with_template(world, capacityReservationSpecification=TARGET)
    assert RULES["capacity-in-zone"].check(world.state, group()) is None


def test_spot_nodes_find_what_neither_on_demand_nor_other_spot_nodes_have():
    """They run on what is spare."""
    world = standing()
    _beside(world, capacityType="SPOT")
    assert RULES["capacity-in-zone"].check(world.state, group(capacityType="SPOT")) is not None


def test_a_group_of_two_zones_takes_what_either_has():
    """Its Auto Scaling group launches in the other zone where one has none left."""
    rule, world, spread = RULES["capacity-in-zone"], standing(), group(subnetIds=_two_zones())
    for free, is_enough in (({"usw2-az4": 0}, True), ({"usw2-az4": 0, "usw2-az1": 1}, False), ({"usw2-az4": 1, "usw2-az1": 1}, True)):
        world.state.allowances = Allowances(capacity={("trn1.32xlarge", zone_id): count for zone_id, count in free.items()})
        assert (rule.check(world.state, spread) is None) is is_enough, free


def test_sums_over_groups_follow_each_change_of_them():
    """They are kept from one request to the next: of a group that is changed, that fails, or that goes, and of its template."""
    world, subnet = standing(), _nodes_subnet()
    first = addresses.free(world.state, subnet)
    _beside(world)
    taken = first - addresses.free(world.state, subnet)
    assert taken > 0
    other = world.state.find(kinds.NODE_GROUP, "trainium-dev:other")
    assert other is not None
    other.registration = changed(other.registration, scalingConfig={"desiredSize": 1})
    assert first - addresses.free(world.state, subnet) == taken // 2
    world.state.put(
        replace(
            changed(only(kinds.LAUNCH_TEMPLATE, TRAIN), networkInterfaces=interfaces((0, 0, "efa"), (1, 1, "efa"))),
            urn="other",
            id="lt-other",
        )
    )
    assert first - addresses.free(world.state, subnet) == addresses.of_group(world.state, other.registration) != taken // 2
    copied = world.copy()
    other.status = "failed"
    assert addresses.free(world.state, subnet) == first != addresses.free(copied.state, subnet)
    other.status = "ready"
    world.state.remove(other.registration)
    assert addresses.free(world.state, subnet) == first


def test_every_rule_is_broken_below():
    """A rule that nothing breaks may say anything."""
    assert set(BROKEN) == set(RULES)


@pytest.mark.parametrize("name", BROKEN)
def test_what_breaks_a_rule_is_reported(name: str):
    """In the service's words, with its cause and its fix."""
    broken, phrase = BROKEN[name]
    world = standing()
    request = broken(world)
    refusal = RULES[name].check(world.state, request)
    assert refusal is not None
    assert phrase in f"{refusal}; {refusal.cause}; {refusal.fix}"
    assert all((refusal.code, refusal.text, refusal.cause, refusal.fix))


@pytest.mark.parametrize("name", [name for name, rule in RULES.items() if rule.stage in ("settle", "verify", "update")])
def test_the_shipped_cluster_breaks_none(name: str):
    """Rules about what is to be made are shown by a rehearsal that ends well; these can be asked of what stands."""
    world, rule = standing(), RULES[name]
    refused = [item.urn for item in recording().resources() if rule.covers(item.type) and rule.check(world.state, item)]
    assert refused == []


@pytest.mark.parametrize("rule", ALL_RULES, ids=lambda rule: rule.name)
def test_a_rule_has_its_sentence_and_its_source(rule: Rule):
    """Who reads a refusal wants to know who says so."""
    assert rule.sentence.endswith(".")
    assert len(rule.source) > 10
    assert any(rule.covers(item.type) for item in recording().resources()) or rule.types[0] in NOT_SHIPPED


def test_batchs_own_access_entry_lets_the_policy_in_and_outlives_the_environment():
    """Switched off and on again, the program meets the entry that Batch kept."""
    world, rule = standing(), RULES["policy-needs-an-entry"]
    world.state.put(_environment())
    assert rule.check(world.state, _policy()) is None
    world.state.remove(_environment())
    assert rule.check(world.state, _policy()) is not None
    of_deletion(world.state, _environment())
    assert rule.check(world.state, _policy()) is None
    assert [what for _, what in world.state.leftovers() if "access entry" in what] != []
    of_deletion(world.state, only(kinds.CLUSTER))
    assert [what for _, what in world.state.leftovers() if "access entry" in what] == []


def test_trainer_and_another_jobset_pass_one_by_one():
    """The clash is of the bundled one: left out, or alone, neither is refused."""
    rule, world = RULES["one-owner-of-object"], standing()
    assert rule.check(world.state, _trainer()) is None
    world.state.put(_job_set())
    assert rule.check(world.state, _job_set()) is None
    assert rule.check(world.state, _trainer(jobset={"install": False})) is None
    world.state.remove(_job_set())
    world.state.put(_trainer())
    assert rule.check(world.state, _job_set()) is not None


def _training_operator(*parts: str) -> World:
    """A cluster in which of the training-operator only the named parts are there."""
    world = standing()
    labels = {"app": "training-operator"}
    of = {"name": "training-operator", "namespace": "kubeflow"}
    names = {"kind": "PyTorchJob", "plural": "pytorchjobs"}
    webhook = {
        "clientConfig": {"service": of},
        "rules": [{"apiGroups": ["kubeflow.org"], "operations": ["CREATE", "UPDATE"], "resources": ["pytorchjobs"]}],
    }
    made = {
        "kind": extra(kinds.CUSTOM_RESOURCE_DEFINITION, "pytorchjobs", {"spec": {"group": "kubeflow.org", "names": names}}),
        "webhooks": extra(kinds.VALIDATING_WEBHOOKS, "validator", {"webhooks": [webhook]}),
        "service": extra(kinds.SERVICE, "training-operator", {"metadata": of, "spec": {"selector": labels}}),
        "pods": extra(kinds.DEPLOYMENT, "training-operator", {"metadata": of, "spec": {"template": {"metadata": {"labels": labels}}}}),
        "other pods": extra(kinds.DEPLOYMENT, "other", {"metadata": of, "spec": {"template": {"metadata": {"labels": {"app": "other"}}}}}),
        "open webhooks": extra(kinds.MUTATING_WEBHOOKS, "validator", {"webhooks": [{**webhook, "failurePolicy": "Ignore"}]}),
    }
    for part in parts:
        world.state.put(made[part])
    return world


JOB = extra("kubernetes:kubeflow.org/v1:PyTorchJob", "bert", {"metadata": {"name": "bert", "namespace": "training"}})


@pytest.mark.parametrize(
    "parts",
    [("kind", "webhooks"), ("kind", "webhooks", "service"), ("kind", "webhooks", "pods"), ("kind", "webhooks", "service", "other pods")],
)
def test_a_webhook_of_our_own_manifests_refuses_while_its_pods_are_not_there(parts: tuple[str, ...]):
    """As a chart's does: training-operator's fail closed on its own kinds."""
    world = _training_operator(*parts)
    for stage in ("webhook-answers", "webhook-answers-on-update"):
        refusal = RULES[stage].check(world.state, JOB)
        assert refusal is not None
        assert 'https://training-operator.kubeflow.svc:443": no endpoints available' in refusal.text
        assert refusal.cause == "the webhook of validator guards kubeflow.org/PyTorchJob, and its pods do not answer"
    assert RULES["webhook-outlives-pods"].check(world.state, JOB) is None


@pytest.mark.parametrize("parts", [("kind", "webhooks", "service", "pods"), ("kind", "open webhooks"), ("webhooks",), ("kind",)])
def test_a_webhook_that_answers_or_is_not_asked_lets_jobs_in(parts: tuple[str, ...]):
    """With its pods, without a say, about another kind, or not there at all."""
    assert RULES["webhook-answers"].check(_training_operator(*parts).state, JOB) is None


def test_a_webhook_without_a_node_for_its_pods_does_not_answer():
    """They are Pending like everybody's."""
    world = _training_operator("kind", "webhooks", "service", "pods")
    no_untainted_nodes(world)
    assert RULES["webhook-answers"].check(world.state, JOB) is not None


def test_a_chart_without_a_contract_is_refused_with_the_place_for_one():
    """What it brings would be missing from the cluster in silence."""
    unknown = extra(kinds.RELEASE, "podinfo", {"chart": "podinfo", "name": "podinfo", "namespace": "default"})
    with pytest.raises(UnknownType, match=r"addons/NAME/contracts/podinfo\.yaml"):
        chart_of(unknown)


def test_one_group_that_allows_itself_is_enough_for_efa():
    """Beside it may be a group of others, for clients of their file system, which has no such rules."""
    world = standing()
    carried = only(kinds.LAUNCH_TEMPLATE, TRAIN).inputs["networkInterfaces"][0]["securityGroups"]
    with_template(world, networkInterfaces=interfaces((0, 0, "efa"), securityGroups=[*carried, "sg-of-others"]))
    assert RULES["efa-self-rules"].check(world.state, group()) is None
    without(world, _self_rule("nodes-to-self"))
    assert RULES["efa-self-rules"].check(world.state, group()) is not None


def test_the_cni_takes_one_interface_of_addresses_in_advance():
    """Two nodes, each with the interface of its pods and a warm one, of 50 addresses each; the EFA interfaces have none of the CNI's."""
    world = standing()
    with_template(world, networkInterfaces=interfaces((0, 0, "interface"), (0, 1, "efa-only"), (1, 1, "efa-only")))
    assert addresses.of_group(world.state, group()) == 2 * (1 + 1) * 50
    with_template(world, networkInterfaces=interfaces((0, 0, "efa"), (1, 1, "efa")))
    assert addresses.of_group(world.state, group()) == 2 * (2 + 1) * 50


@pytest.mark.parametrize(
    ("atomic", "leaves", "said"),
    [(True, "nothing", "failed, and has been uninstalled due to atomic being set: context"), (False, "unready", "failed: context")],
)
def test_a_release_that_reaches_no_service_fails_after_its_own_time(atomic: bool, leaves: str, said: str):
    """Helm takes an atomic one away; another stays as it is."""
    world, release = standing(), only(kinds.RELEASE, "cluster-autoscaler")
    _closed(world)
    asked = replace(release, inputs={**release.inputs, "atomic": atomic, "timeout": 77})
    refusal = RULES["release-reaches-its-services"].check(world.state, asked)
    assert refusal is not None
    assert (refusal.leaves, refusal.retry_s, said in refusal.text) == (leaves, 77, True)


def test_an_identity_names_its_account_and_all_that_it_cannot_reach():
    """Of the node's own policies nothing counts, and with an endpoint the service is reached."""
    world, addon = standing(), only(kinds.ADDON, "aws-fsx-csi-driver")
    assert RULES["identity-reaches-its-services"].check(world.state, addon) is None
    _closed(world)
    refusal = RULES["identity-reaches-its-services"].check(world.state, addon)
    assert refusal is not None
    assert refusal.cause.startswith(f"pods of {addon.inputs['addonName']}/fsx-csi-controller-sa call fsx, and there is")
