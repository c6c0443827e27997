"""EKS: node groups."""

from facts.catalogue import NEURON_TYPES
from facts.neuron_releases import NEURON_AMI_TYPE
from facts.resources.api_calls import ApiCall, Members, creation, same
from facts.resources.eks_api import ABSENT, IN_USE, PART_STATES, TAGGING, described, only_role, part_grants
from facts.resources.identity import by
from facts.resources.latency import LOGS, Latencies, Latency, Lifetime
from facts.resources.outputs import Answer, Draw, Inputs
from facts.resources.queries import Deletion, Detail, Leftover, Lookup, Query, Stage
from facts.resources.resource_type import ByInstances, Changes, Conflict, NameLimit, ResourceType
from facts.resources.rights import CLUSTER, IN_REGION, Grant, Rights, linked_role, part_of_cluster, passes_role

_CORE = Lifetime(Latency(88, 150, 201, f"{LOGS}, m5 and t3, 1 to 3 nodes"), Latency(252, 360, 501, LOGS))
_NEURON = Lifetime(
    Latency(240, 360, 480, "inferred: larger instance boot, 8 and more interfaces"), Latency(360, 480, 600, "inferred: metal-size shutdown")
)
_EMPTY = Lifetime(
    Latency(30, 60, 90, "inferred: an Auto Scaling group without instances"),
    Latency(60, 90, 120, "inferred: an Auto Scaling group without instances"),
)
NODE_UPDATE = Latency(480, 600, 900, "published: about 10 min a node (aws/containers-roadmap#1560)")
NEURON_NODE_UPDATE = Latency(600, 840, 1080, "inferred: metal-size shutdown, then boot, one node after the other")
"""What rolling one node of a group takes."""


def _nodes_lifetime(inputs: Inputs) -> Lifetime | None:
    scaling = inputs["scalingConfig"]
    if scaling["desiredSize"] == 0:
        return _EMPTY
    # A capacity block's type is in the launch template; such groups are Neuron groups all the same.
    types = inputs.get("instanceTypes")
    neuron = inputs.get("amiType") == NEURON_AMI_TYPE or (isinstance(types, list) and types[0] in NEURON_TYPES)
    return _NEURON if neuron else None


def _make_node_group(draw: Draw, inputs: Inputs) -> Answer:
    cluster, name = inputs["clusterName"], inputs["nodeGroupName"]
    return f"{cluster}:{name}", {
        "arn": draw.arn("eks", f"nodegroup/{cluster}/{name}/{draw.uuid()}"),
        "resources": [{"autoscalingGroups": [{"name": f"eks-{name}-{draw.uuid('asg')}"}], "remoteAccessSecurityGroupId": ""}],
        "status": "ACTIVE",
    }


_NODE_GROUP: Members = {
    **same("clusterName", "amiType", "capacityType", "instanceTypes", "labels", "releaseVersion", "tags", "version"),
    "nodeGroupName": "nodegroupName",
    "nodeRoleArn": "nodeRole",
    "subnetIds": "subnets",
    "launchTemplate": ("launchTemplate", same("id", "version")),
    "nodeRepairConfig": ("nodeRepairConfig", same("enabled")),
    "scalingConfig": ("scalingConfig", same("desiredSize", "minSize", "maxSize")),
    "taints": ("taints", [same("key", "value", "effect")]),
    "updateConfig": ("updateConfig", same("maxUnavailable", "updateStrategy")),
}
_DESCRIBED_GROUP = described(
    "DescribeNodegroup", "nodegroup", "nodegroup", "nodegroupName", "No node group found for name: {nodegroupName}.", states=PART_STATES
)
NODE_GROUP = ResourceType(
    "aws:eks/nodeGroup:NodeGroup",
    make=_make_node_group,
    latencies=Latencies(_CORE, _nodes_lifetime),
    changes=Changes(
        replacing=(
            "clusterName", "nodeGroupName", "nodeRoleArn", "subnetIds", "amiType", "capacityType", "instanceTypes", "launchTemplate.id",
        ),
        calls=("UpdateNodegroupConfig", "UpdateNodegroupVersion", "DescribeUpdate"),
        name="nodeGroupName",
    ),
    identity=by("clusterName", "nodeGroupName"),
    creation=creation(ApiCall("eks", "CreateNodegroup", _NODE_GROUP)),
    lookup=Lookup(
        _DESCRIBED_GROUP,
        "part",
        parameters={"clusterName": "clusterName", "nodegroupName": "nodeGroupName"},
        import_id="{clusterName}:{nodeGroupName}",
    ),
    tagging=TAGGING,
    deletion=Deletion("eks", "DeleteNodegroup", {"clusterName": "clusterName", "nodegroupName": "nodegroupName"}),
    rights=Rights(
        (
            *part_grants(
                "CreateNodegroup", "nodegroup", "DescribeNodegroup UpdateNodegroupConfig UpdateNodegroupVersion DeleteNodegroup DescribeUpdate"
            ),
            # The action takes both ARNs (Service Authorization Reference, Amazon EKS).
            Grant("eks", "DescribeUpdate", CLUSTER),
            # EKS asks for this of a caller that brings a launch template.
            Grant("ec2", "RunInstances", IN_REGION),
            Grant("ec2", "DescribeSubnets DescribeLaunchTemplateVersions"),
            passes_role("ec2.amazonaws.com"),
            linked_role("eks-nodegroup.amazonaws.com"),
            linked_role("autoscaling.amazonaws.com"),
            linked_role("spot.amazonaws.com"),
        ),
        only_role("nodeRoleArn"),
    ),
    costs=ByInstances(),
    # What its instances cost is on the instances' lines.
    leftover=Leftover(
        "node group",
        Stage.NODES,
        Query("eks", "ListNodegroups", "nodegroups", tags="", absent=ABSENT, scopes=CLUSTER),
        "with the cluster",
        detail=Detail(_DESCRIBED_GROUP, {"clusterName": "clusterName", "nodegroupName": "id"}),
        cluster="clusterName",
        label="{nodegroupName}",
        id="{clusterName}:{nodegroupName}",
        scopes=part_of_cluster("nodegroup"),
    ),
    conflict=Conflict(
        ("clusterName", "nodeGroupName"), IN_USE, "NodeGroup already exists with name {nodeGroupName} and cluster name {clusterName}"
    ),
    name_limit=NameLimit("nodeGroupName", 63, "EKS API, CreateNodegroup"),
)  # fmt: skip

TYPES = (NODE_GROUP,)
