"""How long each kind of resource takes to be made and deleted, in seconds, with its spread.

A latency is drawn once per resource, operation and seed, so that the same resource takes equally long in every plan that
is compared. *published*: public logs or documentation; *measured*: run for this project without an account;
*inferred*: our own conclusion, never promoted.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from facts.catalogue import NEURON_TYPES
from simulator import chance
from simulator.account.charts import chart_of
from simulator.errors import UnknownLatency
from simulator.kubernetes_objects import OBJECTS
from simulator.recording import Registration


@dataclass(frozen=True)
class Latency:
    """A duration in seconds: shortest, typical, longest."""

    low: float
    typical: float
    high: float
    source: str

    def draw(self, seed: int, urn: str, operation: str) -> float:
        """Seconds that this operation on this resource takes, to a tenth."""
        return round(chance.triangular(self.low, self.typical, self.high, chance.fraction(seed, urn, operation)), 1)


@dataclass(frozen=True)
class Lifetime:
    """Both ends of a resource."""

    create: Latency
    delete: Latency


def _both(low: float, typical: float, high: float, source: str) -> Lifetime:
    return Lifetime(Latency(low, typical, high, source), Latency(low, typical, high, source))


_LOGS = "published: public Terraform and Pulumi logs, 2022-2026"
_INSTANT = _both(0.5, 1, 2, "inferred: one EC2 or EKS call")
_IAM = Lifetime(Latency(1, 2, 3, _LOGS), Latency(0.5, 1, 2, "inferred: one IAM call"))
_OBJECT = _both(0.1, 0.3, 0.6, "measured: Kubernetes provider against an API server of 1.35, 2026-11-21")
_CORE_GROUP = Lifetime(Latency(88, 150, 201, f"{_LOGS}, m5 and t3, 1 to 3 nodes"), Latency(252, 360, 501, _LOGS))
_NEURON_GROUP = Lifetime(
    Latency(240, 360, 480, "inferred: larger instance boot, 8 and more interfaces"), Latency(360, 480, 600, "inferred: metal-size shutdown")
)
_EMPTY_GROUP = Lifetime(
    Latency(30, 60, 90, "inferred: an Auto Scaling group without instances"),
    Latency(60, 90, 120, "inferred: an Auto Scaling group without instances"),
)
_CONTROLLER_ADDON = Lifetime(Latency(14, 45, 65, f"{_LOGS}: coredns 14-56 s, EBS CSI 45-65 s"), Latency(10, 20, 40, _LOGS))
_SMALL_CHART = Lifetime(
    Latency(8, 12, 20, f"{_LOGS}: Neuron 15 s, EFA 10 s"), Latency(5, 10, 20, "measured and inferred: 0.2-4 s without image pulls")
)

LIFETIMES: Mapping[str, Lifetime] = {
    "aws:ec2/vpc:Vpc": _both(10, 12, 20, _LOGS),
    "aws:ec2/vpcIpv4CidrBlockAssociation:VpcIpv4CidrBlockAssociation": _both(2, 4, 8, "inferred: waits for state associated"),
    "aws:ec2/subnet:Subnet": _both(1, 2, 11, _LOGS),
    "aws:ec2/internetGateway:InternetGateway": _both(1, 2, 10, _LOGS),
    "aws:ec2/eip:Eip": _both(1, 2, 3, _LOGS),
    "aws:ec2/natGateway:NatGateway": Lifetime(Latency(85, 105, 125, _LOGS), Latency(37, 55, 79, _LOGS)),
    "aws:ec2/routeTable:RouteTable": _INSTANT,
    "aws:ec2/route:Route": _INSTANT,
    "aws:ec2/routeTableAssociation:RouteTableAssociation": _INSTANT,
    "aws:ec2/vpcEndpoint:VpcEndpoint": Lifetime(Latency(5, 8, 60, "inferred: gateway 5-10 s, interface up to a minute"), Latency(5, 10, 60, "inferred")),
    "aws:ec2/securityGroup:SecurityGroup": _both(1, 2, 4, _LOGS),
    "aws:vpc/securityGroupIngressRule:SecurityGroupIngressRule": _INSTANT,
    "aws:vpc/securityGroupEgressRule:SecurityGroupEgressRule": _INSTANT,
    "aws:ec2/launchTemplate:LaunchTemplate": _INSTANT,
    "aws:ec2/placementGroup:PlacementGroup": _INSTANT,
    "aws:iam/role:Role": _IAM,
    "aws:iam/rolePolicy:RolePolicy": _IAM,
    "aws:iam/rolePolicyAttachment:RolePolicyAttachment": _IAM,
    "aws:eks/cluster:Cluster": Lifetime(Latency(492, 612, 683, f"{_LOGS}, n=11, median 10:12"), Latency(69, 180, 522, _LOGS)),
    "aws:eks/addon:Addon": _CONTROLLER_ADDON,
    "aws:eks/accessEntry:AccessEntry": _INSTANT,
    "aws:eks/accessPolicyAssociation:AccessPolicyAssociation": _INSTANT,
    "aws:eks/podIdentityAssociation:PodIdentityAssociation": _INSTANT,
    "aws:eks/nodeGroup:NodeGroup": _CORE_GROUP,
    "aws:fsx/lustreFileSystem:LustreFileSystem": Lifetime(
        Latency(300, 480, 720, "published: 5-10 min (README), 6:24 observed, about 10 (awsome-distributed-training)"),
        Latency(120, 240, 360, "inferred"),
    ),
    "aws:fsx/dataRepositoryAssociation:DataRepositoryAssociation": Lifetime(
        Latency(120, 300, 600, "inferred: file system with an S3 link takes up to 20 min"), Latency(60, 120, 300, "inferred")
    ),
    "aws:kms/key:Key": _both(2, 4, 12, "inferred: waits for the key's policy to propagate"),
    "aws:kms/alias:Alias": _INSTANT,
    "aws:cloudwatch/logGroup:LogGroup": _INSTANT,
    "aws:autoscaling/tag:Tag": _INSTANT,
    "aws:amp/workspace:Workspace": _both(3, 5, 15, _LOGS),
    "aws:sqs/queue:Queue": Lifetime(
        Latency(2, 26, 60, "inferred: attributes must read back, which takes up to a minute (provider, internal/service/sqs)"),
        Latency(1, 3, 60, "inferred: waits until the queue is gone"),
    ),
    "aws:sqs/queuePolicy:QueuePolicy": _both(2, 26, 60, "inferred: as the queue's own attributes"),
    "aws:cloudwatch/eventRule:EventRule": _INSTANT,
    "aws:cloudwatch/eventTarget:EventTarget": _INSTANT,
    "aws:batch/computeEnvironment:ComputeEnvironment": Lifetime(
        Latency(10, 30, 90, "inferred: until VALID"),
        Latency(120, 180, 240, "published: one to two minutes to be disabled, as much to be deleted (Batch user guide, getting-started-eks)"),
    ),
    "aws:batch/jobQueue:JobQueue": Lifetime(
        Latency(30, 35, 60, "inferred: the provider first looks after 30 s (internal/service/batch/job_queue.go)"),
        Latency(60, 90, 180, "inferred: disabled, then deleted, 30 s before each first look"),
    ),
    "aws:batch/jobDefinition:JobDefinition": _INSTANT,
    **dict.fromkeys(OBJECTS, _OBJECT),
    "kubernetes:core/v1:Namespace": Lifetime(_OBJECT.create, Latency(5, 6, 10, "measured: a clean namespace takes 5 s")),
    "kubernetes:core/v1:PersistentVolume": Lifetime(Latency(0.5, 0.6, 1, "measured: 0.6 s"), _OBJECT.delete),
    "kubernetes:core/v1:PersistentVolumeClaim": Lifetime(Latency(0.5, 0.6, 2, "measured: static volume, 0.6 s"), Latency(0.5, 1, 3, "measured")),
    "kubernetes:apps/v1:StatefulSet": Lifetime(
        Latency(8, 15, 40, "inferred: one image pull of 60 MB, readiness at 10 s"), Latency(2, 10, 35, "inferred: grace period 30 s")
    ),
    "kubernetes:apps/v1:DaemonSet": Lifetime(
        Latency(0.3, 0.3, 2, "measured: 0.3 s with no node that wants it; those that boot meanwhile are not waited for"),
        Latency(1, 5, 35, "inferred: grace period 30 s"),
    ),
    "kubernetes:apps/v1:Deployment": Lifetime(
        Latency(8, 20, 45, "inferred: one image pull of 50-150 MB and readiness"), Latency(1, 5, 35, "inferred: grace period 30 s")
    ),
    "kubernetes:karpenter.k8s.aws/v1:EC2NodeClass": Lifetime(_OBJECT.create, Latency(2, 5, 20, "inferred: its finalizer removes launch templates")),
    "kubernetes:karpenter.sh/v1:NodePool": Lifetime(_OBJECT.create, Latency(1, 5, 20, "inferred: a pool without instances")),
    "kubernetes:helm.sh/v3:Release": _SMALL_CHART,
}  # fmt: skip

_SERVICE_WITH_SELECTOR = Lifetime(Latency(10, 10, 10, "measured: 10 s always, endpoints must settle"), _OBJECT.delete)


def lifetime(registration: Registration) -> Lifetime:
    """The latencies of one resource; a node group's depend on its instances, a release's on its chart.

    Raises UnknownLatency for a type that the table does not have.
    """
    inputs = registration.inputs
    if registration.type == "aws:eks/nodeGroup:NodeGroup":
        return _node_group(inputs)
    chart = chart_of(registration)
    if chart is not None:
        return Lifetime(Latency(*chart.latency_s["create"]), Latency(*chart.latency_s["delete"]))
    if registration.type == "kubernetes:core/v1:Service" and inputs["spec"].get("selector") and inputs["spec"].get("clusterIP") != "None":
        return _SERVICE_WITH_SELECTOR
    if registration.type not in LIFETIMES:
        raise UnknownLatency(f"no latency for {registration.type} ({registration.name}); add it to simulator/latencies.py with its source")
    return LIFETIMES[registration.type]


def _node_group(inputs: Mapping[str, object]) -> Lifetime:
    scaling = inputs["scalingConfig"]
    if isinstance(scaling, Mapping) and scaling["desiredSize"] == 0:
        return _EMPTY_GROUP
    # A capacity block's type stands in the launch template; such groups are Neuron groups all the same.
    types = inputs.get("instanceTypes")
    neuron = inputs.get("amiType") == "AL2023_x86_64_NEURON" or (isinstance(types, list) and types[0] in NEURON_TYPES)
    return _NEURON_GROUP if neuron else _CORE_GROUP


def seconds(registration: Registration, operation: str, seed: int) -> float:
    """Seconds that `create` or `delete` of a resource takes. Components and providers take none: they exist in the engine only."""
    if not registration.custom or registration.type.startswith("pulumi:providers:"):
        return 0.0
    chosen = lifetime(registration)
    return (chosen.create if operation == "create" else chosen.delete).draw(seed, registration.urn, operation)


_NODE_UPDATE = Latency(480, 600, 900, "published: about 10 min a node (aws/containers-roadmap#1560)")
_NEURON_NODE_UPDATE = Latency(600, 840, 1080, "inferred: metal-size shutdown, then boot, one node after the other")
_UPDATES: Mapping[str, Mapping[str, Latency]] = {
    "aws:eks/cluster:Cluster": {
        "version": Latency(480, 600, 1200, "inferred: as long as making one, up to 20 min"),
        "": Latency(60, 180, 480, "inferred: one update of the control plane at a time"),
    },
    "aws:fsx/lustreFileSystem:LustreFileSystem": {
        "storageCapacity": Latency(600, 1200, 1800, "inferred: until the new disks serve; data is spread over them for hours after"),
        "perUnitStorageThroughput": Latency(600, 1200, 1800, "inferred: file servers are exchanged one by one"),
        "": Latency(30, 60, 300, "inferred"),
    },
    "aws:eks/addon:Addon": {"": Latency(20, 45, 90, "inferred: DaemonSets roll node by node")},
    "kubernetes:helm.sh/v3:Release": {"": Latency(6, 30, 90, "inferred: measured 2-6 s without containers")},
    "kubernetes:apps/v1:StatefulSet": {"": Latency(10, 20, 60, "inferred: one pod after the other")},
}
"""Type to changed input to latency; the empty input stands for all others. Types without an entry take as long as one request."""
_REQUEST = Latency(0.5, 1, 2, "inferred: one call")


def rolled_nodes(old: Registration, new: Registration) -> int:
    """Nodes of a group that an update replaces, one after the other; 0 where it leaves them alone."""
    if all(old.inputs.get(key) == new.inputs.get(key) for key in ("version", "releaseVersion", "launchTemplate")):
        return 0
    return int(new.inputs["scalingConfig"]["desiredSize"])


def update_seconds(old: Registration, new: Registration, seed: int) -> float:
    """Seconds that a change in place takes. Rolling a node group takes its time for each node."""
    if not new.custom or new.type.startswith("pulumi:providers:"):
        return 0.0
    if new.type == "aws:eks/nodeGroup:NodeGroup":
        return _node_group_update(old, new, seed)
    changed = [key for key in sorted({*old.inputs, *new.inputs}) if old.inputs.get(key) != new.inputs.get(key)]
    table = _UPDATES.get(new.type, {})
    found = [table[key] for key in changed if key in table] or [table.get("", _REQUEST)]
    return max(latency.draw(seed, new.urn, "update") for latency in found)


def _node_group_update(old: Registration, new: Registration, seed: int) -> float:
    nodes = rolled_nodes(old, new)
    neuron = new.inputs.get("amiType") == "AL2023_x86_64_NEURON"
    if nodes:
        return round(nodes * (_NEURON_NODE_UPDATE if neuron else _NODE_UPDATE).draw(seed, new.urn, "update"), 1)
    sizes = [int(item.inputs["scalingConfig"]["desiredSize"]) for item in (old, new)]
    if sizes[1] > sizes[0]:
        return lifetime(new).create.draw(seed, new.urn, "create")
    if sizes[1] < sizes[0]:
        return lifetime(old).delete.draw(seed, new.urn, "delete")
    return _INSTANT.create.draw(seed, new.urn, "update")
