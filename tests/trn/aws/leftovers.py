"""Fills an account with all that one cluster can leave, as each maker of it tags its things."""

from typing import Any

from facts.names import budget_name, cluster_tags, interruption_queue_name, log_group_names, schedule_group_name
from tests.trn.aws.cloud import ACCOUNT, CREATED_AT, STACK, Cloud, tag_list

REGION = "us-west-2"


def leave_everything(cloud: Cloud, cluster: str, mark: str = "a") -> None:
    """One of each kind. `mark` keeps the ids of several clusters apart."""
    leave_network(cloud, cluster, mark)
    leave_compute(cloud, cluster, mark)
    leave_balancers(cloud, cluster, mark)
    leave_outside(cloud, cluster, mark)


def leave_network(cloud: Cloud, cluster: str, mark: str) -> None:
    """A VPC with all that lives in it; some things carry no tag and belong by the VPC alone."""
    ours = tag_list({**cluster_tags(cluster, STACK), "Name": f"{cluster}-network"})
    vpc, subnet, nat, address = f"vpc-{mark}", f"subnet-{mark}", f"nat-{mark}", f"eipalloc-{mark}"
    cloud.put("vpc", vpc, {"VpcId": vpc, "Tags": ours})
    cloud.put("subnet", subnet, {"SubnetId": subnet, "VpcId": vpc, "AvailabilityZoneId": "usw2-az4", "Tags": ours})
    for which, main in ((f"rtb-{mark}", False), (f"rtb-main-{mark}", True)):
        associations = [{"RouteTableAssociationId": f"rtbassoc-{which}", "Main": main, "RouteTableId": which}]
        cloud.put("route table", which, {"RouteTableId": which, "VpcId": vpc, "Tags": [] if main else ours, "Associations": associations})
    gateway = f"igw-{mark}"
    cloud.put("internet gateway", gateway, {"InternetGatewayId": gateway, "Attachments": [{"VpcId": vpc}], "Tags": ours})
    cloud.put("address", address, {"AllocationId": address, "Tags": ours})
    nat_entry = {"NatGatewayId": nat, "VpcId": vpc, "SubnetId": subnet, "State": "available", "Tags": ours}
    cloud.put("nat", nat, {**nat_entry, "NatGatewayAddresses": [{"AllocationId": address}]})
    endpoint = {"VpcEndpointId": f"vpce-{mark}", "VpcId": vpc, "VpcEndpointType": "Interface", "SubnetIds": [subnet], "Tags": ours}
    cloud.put("endpoint", f"vpce-{mark}", {**endpoint, "State": "available"})
    _groups(cloud, cluster, mark, vpc, subnet)


def _groups(cloud: Cloud, cluster: str, mark: str, vpc: str, subnet: str) -> None:
    """The cluster's own group, one of a load balancer that the first one names, and VPC's default."""
    groups: dict[str, dict[str, str]] = {
        f"sg-nodes-{mark}": cluster_tags(cluster, STACK),
        f"sg-elb-{mark}": {"elbv2.k8s.aws/cluster": cluster},
        f"sg-default-{mark}": {},
    }
    for which, tags in groups.items():
        name = "default" if "default" in which else which
        entry: dict[str, Any] = {"GroupId": which, "GroupName": name, "VpcId": vpc, "Tags": tag_list(tags)}
        cloud.put("group", which, {**entry, "IpPermissions": [], "IpPermissionsEgress": []})
    rule = {"IpProtocol": "-1", "UserIdGroupPairs": [{"GroupId": f"sg-elb-{mark}"}]}
    cloud.of("group")[f"sg-nodes-{mark}"]["IpPermissions"] = [rule]
    cloud.of("group")[f"sg-elb-{mark}"]["IpPermissionsEgress"] = [{"IpProtocol": "-1", "IpRanges": [{"CidrIp": "0.0.0.0/0"}]}]
    base = {"VpcId": vpc, "SubnetId": subnet, "Groups": [{"GroupId": f"sg-nodes-{mark}"}]}
    for which, tags in (
        (f"eni-cni-{mark}", {"cluster.k8s.amazonaws.com/name": cluster, "node.k8s.amazonaws.com/instance_id": "i-1"}),
        (f"eni-bare-{mark}", {}),
    ):
        cloud.put("interface", which, {**base, "NetworkInterfaceId": which, "Status": "available", "TagSet": tag_list(tags)})


def leave_compute(cloud: Cloud, cluster: str, mark: str) -> None:
    """An instance of Karpenter, a volume of a claim, a launch template, a placement group."""
    karpenter = {f"kubernetes.io/cluster/{cluster}": "owned", "eks:eks-cluster-name": cluster, "karpenter.sh/nodepool": "trn"}
    instance = {"InstanceId": f"i-{mark}", "InstanceType": "trn1.32xlarge", "State": {"Name": "running"}, "Tags": tag_list(karpenter)}
    place = {"VpcId": f"vpc-{mark}", "SubnetId": f"subnet-{mark}", "Placement": {"GroupName": f"{cluster}-trn-{mark}"}}
    cloud.put("instance", f"i-{mark}", {**instance, **place})
    csi = {**cluster_tags(cluster, STACK), "ebs.csi.aws.com/cluster": "true"}
    for which, state, kind in (
        (f"vol-{mark}", "available", "gp3"),
        (f"vol-old-{mark}", "available", "st1"),
        (f"vol-used-{mark}", "in-use", "gp3"),
    ):
        tags = csi if state == "available" else {}
        cloud.put("volume", which, {"VolumeId": which, "Size": 100, "VolumeType": kind, "State": state, "Tags": tag_list(tags)})
    _snapshots(cloud, mark, csi)
    template = {"LaunchTemplateId": f"lt-{mark}", "LaunchTemplateName": f"{cluster}-core", "Tags": tag_list(cluster_tags(cluster, STACK))}
    cloud.put("template", f"lt-{mark}", template)
    group = {"GroupName": f"{cluster}-trn-{mark}", "State": "available", "Tags": tag_list(cluster_tags(cluster, STACK))}
    cloud.put("placement group", f"{cluster}-trn-{mark}", group)


def _snapshots(cloud: Cloud, mark: str, csi: dict[str, str]) -> None:
    """One of the snapshotter's, whose volume is gone, and one that somebody made by hand, without a tag."""
    base = {"VolumeSize": 100, "State": "completed", "OwnerId": ACCOUNT, "StartTime": "2026-11-01T00:00:00Z"}
    for which, volume, tags in (
        (f"snap-csi-{mark}", f"vol-gone-{mark}", {**csi, "CSIVolumeSnapshotName": "snapcontent-1"}),
        (f"snap-hand-{mark}", f"vol-{mark}", {}),
    ):
        cloud.put("snapshot", which, {**base, "SnapshotId": which, "VolumeId": volume, "Tags": tag_list(tags)})


def leave_balancers(cloud: Cloud, cluster: str, mark: str) -> None:
    """A network load balancer with its target group and interface, and one of the old kind."""
    arn = f"arn:aws:elasticloadbalancing:{REGION}:{ACCOUNT}:loadbalancer/net/{mark}/50dc6c495c0c9188"
    target = f"arn:aws:elasticloadbalancing:{REGION}:{ACCOUNT}:targetgroup/{mark}/73e2d6bc24d8a067"
    ours = tag_list({"elbv2.k8s.aws/cluster": cluster})
    cloud.put("lb", arn, {"LoadBalancerArn": arn, "LoadBalancerName": f"k8s-{mark}", "VpcId": f"vpc-{mark}", "Tags": ours})
    cloud.put("target group", target, {"TargetGroupArn": target, "TargetGroupName": f"k8s-{mark}", "VpcId": f"vpc-{mark}", "Tags": ours})
    owned = tag_list({f"kubernetes.io/cluster/{cluster}": "owned"})
    cloud.put("classic", f"classic-{mark}", {"LoadBalancerName": f"classic-{mark}", "VPCId": f"vpc-{mark}", "Tags": owned})
    eni = {"NetworkInterfaceId": f"eni-of-{arn}", "Status": "in-use", "VpcId": f"vpc-{mark}", "SubnetId": f"subnet-{mark}"}
    cloud.put("interface", f"eni-of-{arn}", {**eni, "Groups": [{"GroupId": f"sg-elb-{mark}"}], "TagSet": []})


def leave_outside(cloud: Cloud, cluster: str, mark: str) -> None:
    """A file system with a backup, a log group that EKS made anew, a role, a budget, a topic, a key."""
    tags = cluster_tags(cluster, STACK)
    lustre = {"DeploymentType": "PERSISTENT_2", "PerUnitStorageThroughput": 125}
    file_system = {"FileSystemId": _fs(mark), "FileSystemType": "LUSTRE", "Lifecycle": "AVAILABLE", "StorageCapacity": 1200}
    cloud.put("fsx", _fs(mark), {**file_system, "StorageType": "SSD", "LustreConfiguration": lustre, "Tags": tag_list(tags)})
    backup = {"BackupId": _backup(mark), "Lifecycle": "AVAILABLE", "Type": "USER_INITIATED", "CreationTime": "2026-11-01T00:00:00Z"}
    cloud.put("backup", _backup(mark), {**backup, "Tags": tag_list(tags), "FileSystem": file_system})
    for log_group in log_group_names(cluster):
        cloud.put("log group", log_group, {"logGroupName": log_group, "storedBytes": 5_000_000_000})
    cloud.put("role", f"{cluster}-{REGION}-node", {"tags": tags, "attached": ["arn:aws:iam::aws:policy/X-policy-name"], "inline": ["boot"]})
    # With the tags of its node class (Karpenter 1.14, pkg/apis/v1, InstanceProfileTags).
    made_by_karpenter = {
        **tags,
        f"kubernetes.io/cluster/{cluster}": "owned",
        "eks:eks-cluster-name": cluster,
        "topology.kubernetes.io/region": REGION,
    }
    profile, held = f"{cluster}_{mark}", [{"RoleName": f"{cluster}-{REGION}-node"}]
    cloud.put("instance profile", profile, {"InstanceProfileName": profile, "Roles": held, "Tags": tag_list(made_by_karpenter)})
    budget = {"BudgetName": budget_name(cluster, REGION), "AccountId": ACCOUNT, "BudgetType": "COST", "TimeUnit": "MONTHLY", "tags": tags}
    topic = f"arn:aws:sns:{REGION}:{ACCOUNT}:{cluster}-idle-guard"
    cloud.put("topic", topic, {"TopicArn": topic, "ResourceARN": topic, "attributes": {}, "tags": tags})
    cloud.put("budget", f"{ACCOUNT}:{budget_name(cluster, REGION)}", budget)
    cloud.put("key", f"0000-{mark}", {"tags": tags, "KeyState": "Enabled"})
    leave_warnings(cloud, cluster)
    workspace = {"workspaceId": f"ws-{mark}", "alias": cluster, "arn": f"arn:aws:aps:{REGION}:{ACCOUNT}:workspace/ws-{mark}", "tags": tags}
    cloud.put("workspace", f"ws-{mark}", {**workspace, "status": {"statusCode": "ACTIVE"}, "createdAt": "2026-11-01T00:00:00Z"})
    leave_batch(cloud, cluster, mark)


def leave_warnings(cloud: Cloud, cluster: str) -> None:
    """Karpenter's queue, and a rule with its target; their names begin with the cluster's, and so may a neighbour's."""
    name, tags = interruption_queue_name(cluster), cluster_tags(cluster, STACK)
    url, rule = f"https://sqs.{REGION}.amazonaws.com/{ACCOUNT}/{name}", f"{name}-health"
    cloud.put("sqs", url, {"QueueUrl": url, "QueueName": name, "tags": tags})
    targets = [{"Id": "karpenter", "Arn": f"arn:aws:sqs:{REGION}:{ACCOUNT}:{name}"}]
    cloud.put("rule", rule, {"Name": rule, "Arn": f"arn:aws:events:{REGION}:{ACCOUNT}:rule/{rule}", "tags": tags, "targets": targets})
    # Its schedules go with it.
    group = schedule_group_name(cluster)
    arn = f"arn:aws:scheduler:{REGION}:{ACCOUNT}:schedule-group/{group}"
    cloud.put("schedule group", group, {"Name": group, "Arn": arn, "State": "ACTIVE", "tags": tags})


def leave_batch(cloud: Cloud, cluster: str, mark: str) -> None:
    """A queue that takes jobs, the environment that it names, a job definition."""
    tags, arn = cluster_tags(cluster, STACK), f"arn:aws:batch:{REGION}:{ACCOUNT}"
    on = {"state": "ENABLED", "status": "VALID", "tags": tags}
    name, queue, definition = f"batch-{mark}", f"{arn}:job-queue/{mark}", f"{arn}:job-definition/{mark}:1"
    environment = {"computeEnvironmentName": name, "computeEnvironmentArn": f"{arn}:compute-environment/{name}"}
    cloud.put("environment", name, {**environment, "type": "UNMANAGED", **on})
    orders = [{"order": 1, "computeEnvironment": environment["computeEnvironmentArn"]}]
    cloud.put("queue", queue, {"jobQueueName": mark, "jobQueueArn": queue, "priority": 1, "computeEnvironmentOrder": orders, **on})
    plain = {
        "jobDefinitionName": mark,
        "jobDefinitionArn": definition,
        "revision": 1,
        "type": "container",
        "status": "ACTIVE",
        "tags": tags,
    }
    cloud.put("definition", definition, plain)


def leave_control_plane(cloud: Cloud, cluster: str, mark: str = "a") -> None:
    """The cluster itself with a node group and two access entries, one of them EKS's own."""
    tags = cluster_tags(cluster, STACK)
    made = {"name": cluster, "arn": f"arn:aws:eks:{REGION}:{ACCOUNT}:cluster/{cluster}", "createdAt": CREATED_AT, "status": "ACTIVE"}
    cloud.put("cluster", cluster, {**made, "tags": tags, "resourcesVpcConfig": {"vpcId": f"vpc-{mark}"}})
    cloud.put("node group", "core", {"clusterName": cluster, "nodegroupName": "core", "status": "ACTIVE", "tags": tags})
    for name, its in (("team", tags), ("node", {})):
        principal = f"arn:aws:iam::{ACCOUNT}:role/{name}"
        cloud.put("access entry", principal, {"clusterName": cluster, "principalArn": principal, "tags": its})


def _fs(mark: str) -> str:
    return f"fs-{mark.encode().hex():0>17}"


def _backup(mark: str) -> str:
    return f"backup-{mark.encode().hex():0>17}"
