"""The shipped stack as it is registered: what the cluster must be, resource by resource."""

import base64
import json
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from facts.neuron_releases import AMI_RELEASES
from simulator import bounds
from simulator.account.world import World
from simulator.engine.order import recorded_dependencies
from simulator.engine.schedule import run_up
from simulator.recording import STACK_TYPE, Recording, Registration
from tests.support import dev_configuration, merged, record_stack

GOLDEN = Path(__file__).parent / "dev_stack.txt"


@cache
def dev() -> Recording:
    """The shipped stack, recorded once."""
    return record_stack(dev_configuration(), stack="dev")


def only(resource_type: str, name: str, recording: Recording | None = None) -> Registration:
    """The one resource of a type (its last word) and name, components apart."""
    same = [item for item in recording or dev() if item.custom and item.name == name]
    (found,) = [item for item in same if item.type.rsplit(":", 1)[-1] == resource_type]
    return found


def needs(recording: Recording, urn: str) -> set[str]:
    """Everything a resource depends on, however far."""
    direct = recorded_dependencies(recording)
    found: set[str] = set()
    waiting = [urn]
    while waiting:
        for name in direct[waiting.pop()]:
            if name not in found:
                found.add(name)
                waiting.append(name)
    return found


def rendered(recording: Recording) -> str:
    """The golden table: type, name and parent of everything, sorted."""
    lines = []
    for item in recording:
        parent = recording.registrations[item.parent]
        shown = "stack" if parent.type == STACK_TYPE else f"{parent.type} {parent.name}"
        lines.append(f"{item.type} {item.name} < {shown}")
    return "\n".join(sorted(lines)) + "\n"


def test_types_names_and_parents_are_those_of_the_golden_table():
    """They make the URN: a rename without an alias deletes and makes anew what is running."""
    assert rendered(dev()) == GOLDEN.read_text()


def test_a_preview_registers_the_same_resources():
    """Nothing may depend on a value that is not there yet: no resource inside an apply, no look-up."""
    preview = record_stack(dev_configuration(), stack="dev", preview=True)
    assert set(preview.registrations) == set(dev().registrations)


@pytest.mark.parametrize("seed", range(10))
def test_time_to_ready_stays_within_three_per_cent_of_the_lower_bound(seed: int):
    """Every wait that physics does not ask for costs 43 USD an hour."""
    up = run_up(dev(), World(), seed=seed)
    assert up.seconds <= 1.03 * bounds.lower_bound_s(dev(), seed)


def test_no_resource_is_named_by_a_list_index():
    """A removed zone or group would rename, and so replace, its neighbours."""
    changed = dev_configuration()
    changed["nodeGroups"] = dict(reversed(changed["nodeGroups"].items()))
    assert set(record_stack(changed, stack="dev").registrations) == set(dev().registrations)


def test_a_removed_group_leaves_the_others_alone():
    """Nothing else may be registered differently."""
    changed = dev_configuration()
    del changed["nodeGroups"]["trn1n-32xl"]
    fewer = record_stack(changed, stack="dev")
    gone = set(dev().registrations) - set(fewer.registrations)
    assert gone
    assert all(urn.split("::")[-1].startswith("trn1n-32xl") for urn in gone)
    assert set(fewer.registrations) < set(dev().registrations)


def test_a_zone_appended_later_replaces_nothing():
    """A group whose subnets change is deleted and made anew, with all that runs on it."""
    wider = record_stack(merged(dev_configuration(), network={"zones": ["usw2-az4", "usw2-az1", "usw2-az2"]}), stack="dev")
    assert set(dev().registrations) < set(wider.registrations)
    changed = [
        item.name
        for item in dev().resources()
        if item.type in ("aws:eks/nodeGroup:NodeGroup", "aws:fsx/lustreFileSystem:LustreFileSystem", "aws:ec2/subnet:Subnet")
        and item.inputs != wider.registrations[item.urn].inputs
    ]
    assert changed == []


@pytest.mark.parametrize("group", ["core", "trn1-32xl", "trn1n-32xl"])
def test_a_launch_template_leaves_image_and_subnet_to_eks(group: str):
    """With an ImageId EKS neither picks nor upgrades the AMI; with a SubnetId it refuses the group."""
    template = only("LaunchTemplate", group).inputs
    assert "imageId" not in template
    assert all("subnetId" not in interface for interface in template.get("networkInterfaces", []))


@pytest.mark.parametrize("group", ["core", "trn1-32xl", "trn1n-32xl"])
def test_nodes_have_an_encrypted_root_and_no_imdsv1(group: str):
    """Both are what a security review asks first."""
    template = only("LaunchTemplate", group).inputs
    (root,) = template["blockDeviceMappings"]
    assert root["ebs"] == {"volumeType": "gp3", "volumeSize": 100, "encrypted": "true", "deleteOnTermination": "true"}
    assert template["metadataOptions"]["httpTokens"] == "required"


@pytest.mark.parametrize("group", ["core", "trn1-32xl", "trn1n-32xl"])
def test_instances_volumes_and_interfaces_carry_the_clusters_tag(group: str):
    """Neither the group's tags nor the provider's default tags reach them, and a sweep finds things by tag."""
    specifications = only("LaunchTemplate", group).inputs["tagSpecifications"]
    assert [item["resourceType"] for item in specifications] == ["instance", "volume", "network-interface"]
    assert all(item["tags"]["trn:cluster"] == "trainium-dev" for item in specifications)


@pytest.mark.parametrize(("group", "count"), [("trn1-32xl", 8), ("trn1n-32xl", 16)])
def test_every_efa_interface_has_both_groups_and_goes_with_its_instance(group: str, count: int):
    """Without the cluster's group the node never joins; without the nodes' own, collectives time out."""
    control_plane = only("Cluster", "control-plane-eksCluster").outputs["vpcConfig"]["clusterSecurityGroupId"]
    interfaces = only("LaunchTemplate", group).inputs["networkInterfaces"]
    assert len(interfaces) == count
    assert {interface["deleteOnTermination"] for interface in interfaces} == {"true"}
    assert all(interface["securityGroups"] == [control_plane, only("SecurityGroup", "nodes").id] for interface in interfaces)


def test_core_nodes_have_both_groups_at_instance_level():
    """A custom group keeps EKS from attaching the cluster's own."""
    control_plane = only("Cluster", "control-plane-eksCluster").outputs["vpcConfig"]["clusterSecurityGroupId"]
    assert only("LaunchTemplate", "core").inputs["vpcSecurityGroupIds"] == [control_plane, only("SecurityGroup", "nodes").id]


def test_neuron_user_data_joins_the_local_disks():
    """Neuron images are 10 GB and more; the root volume is not for them."""
    text = base64.b64decode(only("LaunchTemplate", "trn1-32xl").inputs["userData"]).decode()
    assert '"strategy": "RAID0"' in text
    assert "userData" not in only("LaunchTemplate", "core").inputs


def test_the_releases_that_the_shipped_stack_pins_are_known_ones():
    """The one place outside of facts/ that names a release: another one would have a driver that nothing has checked."""
    configuration = dev_configuration()
    pinned = {group["releaseVersion"] for group in configuration["nodeGroups"].values()}
    assert pinned == {AMI_RELEASES[str(configuration["controlPlane"]["kubernetesVersion"])]}


def test_a_neuron_group_is_what_training_needs():
    """AMI type, pinned release, taint, labels, one subnet, repair, updates without spare quota."""
    group = only("NodeGroup", "trn1-32xl").inputs
    assert group["amiType"] == "AL2023_x86_64_NEURON"
    assert group["releaseVersion"] == AMI_RELEASES["1.35"]
    assert group["taints"] == [{"key": "aws.amazon.com/neuron", "value": "true", "effect": "NO_SCHEDULE"}]
    assert group["labels"] == {"trn/node-group": "trn1-32xl", "vpc.amazonaws.com/efa.present": "true"}
    assert group["subnetIds"] == [only("Subnet", "network-node-usw2-az4").id]
    assert group["nodeRepairConfig"] == {"enabled": True}
    assert group["updateConfig"] == {"maxUnavailable": 1, "updateStrategy": "MINIMAL"}
    assert group["scalingConfig"] == {"desiredSize": 2, "minSize": 0, "maxSize": 2}
    assert group["instanceTypes"] == ["trn1.32xlarge"]
    assert group["nodeGroupName"] == "trn1-32xl"


def test_the_core_group_is_open_to_all_pods():
    """Every add-on with a Deployment waits for an untainted node."""
    group = only("NodeGroup", "core").inputs
    assert "taints" not in group
    assert group["amiType"] == "AL2023_x86_64_STANDARD"
    assert group["scalingConfig"] == {"desiredSize": 2, "minSize": 2, "maxSize": 8}


def test_a_group_follows_its_templates_version_as_a_number():
    """ "$Latest" would differ from what EKS stores on every run."""
    assert only("NodeGroup", "trn1-32xl").inputs["launchTemplate"]["version"] == "1"


@pytest.mark.parametrize("group", ["core", "trn1-32xl", "trn1n-32xl"])
def test_a_group_that_is_replaced_by_hand_goes_first(group: str):
    """`pulumi up --replace` is the way out of CREATE_FAILED; made first, the new group would meet its own name."""
    assert only("NodeGroup", group).options["deleteBeforeReplace"]


def test_an_autoscaled_group_keeps_the_size_it_has():
    """The next up would otherwise send the autoscaler's nodes away."""
    changed = merged(dev_configuration(), nodeGroups={"trn1-32xl": {"autoscaled": True}})
    recording = record_stack(changed)
    assert only("NodeGroup", "trn1-32xl", recording).options["ignoreChanges"] == ["scalingConfig.desiredSize"]
    assert "ignoreChanges" not in only("NodeGroup", "trn1n-32xl", recording).options


def test_an_empty_group_tells_an_autoscaler_what_its_nodes_would_offer():
    """Without the tags no job ever wakes a group of size 0."""
    prefix = "k8s.io/cluster-autoscaler/node-template/resources"
    tags = {
        item.inputs["tag"]["key"]: item.inputs["tag"]["value"]
        for item in dev().of_type("aws:autoscaling/tag:Tag")
        if item.name.startswith("trn1n")
    }
    assert tags == {
        f"{prefix}/aws.amazon.com/neuron": "16",
        f"{prefix}/aws.amazon.com/neuroncore": "32",
        f"{prefix}/vpc.amazonaws.com/efa": "16",
    }


def test_nodes_trust_each_other_in_both_directions():
    """EFA has no IP, so egress to 0.0.0.0/0 does not cover it."""
    group = only("SecurityGroup", "nodes").id
    for kind, name in (("SecurityGroupIngressRule", "nodes-from-self"), ("SecurityGroupEgressRule", "nodes-to-self")):
        rule = only(kind, name).inputs
        assert (rule["securityGroupId"], rule["referencedSecurityGroupId"], rule["ipProtocol"]) == (group, group, "-1")


@pytest.mark.parametrize("group", ["core", "trn1-32xl", "trn1n-32xl"])
def test_no_node_starts_before_its_way_out_and_its_rights_exist(group: str):
    """It would boot, fail to join, and be paid for until the group gives up."""
    names = {urn.split("::")[-1] for urn in needs(dev(), only("NodeGroup", group).urn)}
    assert {
        "network-usw2-az4",
        "network-private-usw2-az4",
        "network-node-usw2-az4",
        "network-s3",
        "nodes-to-self",
        "nodes-from-self",
        "nodes-to-outside",
        "node-role-nodeadm",
        "node-role-AmazonEKSWorkerNodeMinimalPolicy",
        "node-role-AmazonEC2ContainerRegistryPullOnly",
        "vpc-cni-identity",
        "control-plane-vpc-cni",
    } <= names


def test_the_node_role_has_only_what_a_node_needs_to_boot():
    """What pods need comes by Pod Identity."""
    attached = [
        item.inputs["policyArn"]
        for item in dev().of_type("aws:iam/rolePolicyAttachment:RolePolicyAttachment")
        if item.name.startswith("node-role")
    ]
    assert sorted(attached) == [
        "arn:aws:iam::aws:policy/AmazonEC2ContainerRegistryPullOnly",
        "arn:aws:iam::aws:policy/AmazonEKSWorkerNodeMinimalPolicy",
    ]


def test_no_managed_full_access_policy_is_attached():
    """AmazonFSxFullAccess is what the driver's own documentation advises."""
    attached = [item.inputs["policyArn"] for item in dev().of_type("aws:iam/rolePolicyAttachment:RolePolicyAttachment")]
    assert not [arn for arn in attached if "FullAccess" in arn]


def test_the_file_system_is_made_beside_the_control_plane():
    """Behind it, the cluster would be ready eight minutes later."""
    needed = needs(dev(), only("LustreFileSystem", "lustre").urn)
    assert not [urn for urn in needed if "ControlPlane" in urn]


def test_the_file_system_is_as_the_blueprint_wants_it_today():
    """PERSISTENT_2 and 2.15; the driver's defaults would be SCRATCH_1 and 2.10."""
    inputs = only("LustreFileSystem", "lustre").inputs
    assert (inputs["deploymentType"], inputs["fileSystemTypeVersion"], inputs["storageCapacity"]) == ("PERSISTENT_2", "2.15", 1200)
    assert inputs["skipFinalBackup"] is True
    assert inputs["subnetIds"] == only("Subnet", "network-private-usw2-az4").id


def test_lustre_ports_are_open_to_nodes_and_between_servers_only():
    """988 and 1018-1023; the original opened 1021-1023 only."""
    rules = [
        item.inputs for item in dev().of_type("aws:vpc/securityGroupIngressRule:SecurityGroupIngressRule") if item.name.startswith("lustre")
    ]
    lustre, nodes = only("SecurityGroup", "lustre").id, only("SecurityGroup", "nodes").id
    assert sorted((rule["fromPort"], rule["toPort"], rule["referencedSecurityGroupId"]) for rule in rules) == sorted(
        (first, last, peer) for first, last in ((988, 988), (1018, 1023)) for peer in (lustre, nodes)
    )


def test_the_control_plane_is_closed_encrypted_and_pinned():
    """Each of these is a default of the component that does not suit, or a question of a review."""
    inputs = only("Cluster", "control-plane-eksCluster").inputs
    assert inputs["version"] == "1.35"
    assert inputs["upgradePolicy"] == {"supportType": "STANDARD"}
    assert inputs["accessConfig"]["authenticationMode"] == "API"
    assert inputs["encryptionConfig"]["provider"]["keyArn"] == only("Key", "control-plane-secrets").outputs["arn"]
    assert inputs["vpcConfig"]["endpointPrivateAccess"] is True
    assert inputs["vpcConfig"]["publicAccessCidrs"] == ["203.0.113.0/24"]
    assert inputs["name"] == "trainium-dev"
    for addon in ("control-plane-vpc-cni", "control-plane-kube-proxy"):
        assert only("Addon", addon).inputs["addonVersion"].startswith("v1.")


def test_without_an_allow_list_there_is_no_public_endpoint():
    """And it is a plain False: the component waits 305 s for an Output, and AWS opens an absent one to the world."""
    recording = record_stack(merged(dev_configuration(), controlPlane={"publicAccessCidrs": []}))
    component = next(item for item in recording if item.type == "eks:index:Cluster")
    assert component.inputs["endpointPublicAccess"] is False
    assert "publicAccessCidrs" not in component.inputs


def test_the_control_plane_waits_for_its_roles_policy_and_its_log_group():
    """The policy is no dependency of the component's cluster; a log group that EKS makes keeps its logs for ever."""
    component = next(item for item in dev() if item.type == "eks:index:Cluster")
    names = {urn.split("::")[-1] for urn in component.dependencies}
    assert {"control-plane-role-AmazonEKSClusterPolicy", "control-plane-logs"} <= names


def test_all_of_aws_goes_through_the_programs_own_provider():
    """Another provider would have another region, and the component's would be of an older version."""
    provider = only("aws", "aws").urn
    strangers = [item.name for item in dev() if item.type.startswith("aws:") and item.providers != {provider}]
    assert strangers == []
    assert next(item for item in dev() if item.type == "eks:index:Cluster").providers == {provider}


def test_everything_in_kubernetes_goes_through_the_clusters_provider():
    """The default provider would be whatever kubectl points at."""
    provider = only("kubernetes", "kubernetes").urn
    assert [item.name for item in dev() if item.type.startswith("kubernetes:") and provider not in item.providers] == []


def test_a_new_endpoint_does_not_replace_what_runs_in_the_cluster():
    """Without an identifier a new server address replaces every object."""
    inputs = only("kubernetes", "kubernetes").inputs
    assert inputs["clusterIdentifier"] == "us-west-2/trainium-dev"
    assert inputs["enableConfigMapMutable"] == "true"


def test_addons_with_an_identity_come_after_the_agent_and_the_core_nodes():
    """Without the agent the driver has no rights; without a node it is degraded for twenty minutes."""
    for addon in ("aws-ebs-csi-driver", "aws-fsx-csi-driver"):
        item = only("Addon", addon)
        assert len(item.inputs["podIdentityAssociations"]) == 1
        needed = needs(dev(), item.urn)
        assert only("Addon", "eks-pod-identity-agent").urn in needed
        assert only("NodeGroup", "core").urn in needed


def test_no_addon_waits_for_neuron_nodes():
    """They take minutes longer than the core nodes, and nothing needs them but the jobs."""
    neuron = {only("NodeGroup", name).urn for name in ("trn1-32xl", "trn1n-32xl")}
    waiting = [item.name for item in dev() if item.type.startswith(("kubernetes:", "aws:eks/addon")) and neuron & needs(dev(), item.urn)]
    assert waiting == []


def test_every_release_is_pinned_atomic_and_bounded():
    """A failed install then leaves nothing, and a changed chart is never a surprise."""
    releases = dev().of_type("kubernetes:helm.sh/v3:Release")
    assert {item.inputs["name"] for item in releases} == {
        "neuron-helm-chart",
        "aws-efa-k8s-device-plugin",
        "volcano",
        "metrics-server",
        "cluster-autoscaler",
        "kube-prometheus-stack",
        "grafana",
        "aws-for-fluent-bit",
    }
    for item in releases:
        assert item.inputs["atomic"] is True
        assert item.inputs["version"]
        assert item.inputs["timeout"] >= 300
        assert item.inputs["values"]
        assert not item.inputs.get("createNamespace")


def test_queues_are_retried_while_volcanos_webhook_starts():
    """The provider itself does not retry a failed webhook call, so a first up would fail."""
    queues = dev().of_type("kubernetes:scheduling.volcano.sh/v1beta1:Queue")
    assert {item.inputs["metadata"]["name"] for item in queues} == {"training", "test"}
    for item in queues:
        assert item.options["hooks"] == {"on_error": ["volcano-webhook"]}
        assert any("Release" in urn for urn in item.dependencies)


def test_the_claim_is_bound_to_the_file_system():
    """A claim without the volume's name would get a new file system from the dynamic class."""
    volume, claim = only("PersistentVolume", "fsx-claim"), only("PersistentVolumeClaim", "fsx-claim")
    assert volume.inputs["spec"]["csi"]["volumeHandle"] == only("LustreFileSystem", "lustre").id
    assert volume.inputs["spec"]["csi"]["volumeAttributes"]["mountname"] == only("LustreFileSystem", "lustre").outputs["mountName"]
    assert claim.inputs["spec"]["volumeName"] == volume.inputs["metadata"]["name"]
    assert claim.inputs["spec"]["storageClassName"] == ""
    assert claim.inputs["spec"]["accessModes"] == ["ReadWriteMany"]


def test_the_stack_tells_what_its_users_need():
    """And nothing of it is secret: the kubeconfig asks for a token each time."""
    outputs = dev().stack_outputs
    assert outputs["clusterName"] == "trainium-dev"
    assert outputs["nodeGroups"] == ["core", "trn1-32xl", "trn1n-32xl"]
    assert outputs["queues"] == ["test", "training"]
    assert outputs["namespaces"] == ["training", "volcano-system", "monitoring", "neuron-monitor", "efa-exporter", "logging"]
    assert outputs["grafanaPassword"].startswith("kubectl -n monitoring get secret grafana ")
    assert outputs["clusterArn"] == "arn:aws:eks:us-west-2:123456789012:cluster/trainium-dev"
    assert outputs["region"] == "us-west-2"
    assert outputs["fileSystemDnsName"].startswith(outputs["fileSystemId"])
    assert outputs["fileSystemMountName"]
    assert outputs["nextCommand"] == (
        "aws eks update-kubeconfig --name trainium-dev --region us-west-2"
        " && trn status dev && trn submit dev training/recipes/bert/job.yaml"
    )
    assert outputs["fileSystemId"].startswith("fs-")
    kubeconfig: dict[str, Any] = json.loads(outputs["kubeconfig"])
    (user,) = kubeconfig["users"]
    assert set(user["user"]) == {"exec"}
    assert user["user"]["exec"]["apiVersion"] == "client.authentication.k8s.io/v1beta1"


def test_physical_names_are_set_and_start_with_the_clusters_name():
    """An object that a crash left behind then shows up as a conflict instead of a bill."""
    named = {
        "aws:ec2/launchTemplate:LaunchTemplate": "name",
        "aws:iam/role:Role": "name",
        "aws:ec2/securityGroup:SecurityGroup": "name",
        "aws:eks/cluster:Cluster": "name",
    }
    for resource_type, key in named.items():
        for item in dev().of_type(resource_type):
            assert item.inputs[key].startswith("trainium-dev"), item.name
