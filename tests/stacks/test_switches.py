"""What the smaller switches and links of the program do: each would be missed only in an account."""

from functools import cache
from typing import Any

import pytest

from facts.neuron_releases import AMI_RELEASES
from simulator.recording import Recording, Registration
from tests.stacks.addon_sets import everything
from tests.stacks.samples import BOUNDARY, PRIVATE
from tests.stacks.test_dev_stack import needs, only
from tests.support import dev_configuration, merged, record_stack

PIN = AMI_RELEASES["1.35"]


@cache
def dev() -> Recording:
    """The shipped stack."""
    return record_stack(dev_configuration(), stack="dev")


def changed(**changes: Any) -> Recording:
    """The shipped stack with sections changed."""
    return record_stack(merged(dev_configuration(), **changes), stack="dev")


def with_group(**keys: Any) -> Recording:
    """The shipped stack with one more group, `g`."""
    return changed(nodeGroups={"g": {"instanceType": "trn1.32xlarge", "releaseVersion": PIN, **keys}})


def named(resource_type: str, name: str) -> Registration:
    """A resource of the shipped stack."""
    return only(resource_type, name, dev())


def test_the_default_class_is_encrypted_and_follows_its_pod():
    """An unencrypted volume fails a review; one made in the wrong zone is never mounted."""
    inputs = named("StorageClass", "default-storage-class").inputs
    assert inputs["parameters"] == {"type": "gp3", "encrypted": "true"}
    assert inputs["volumeBindingMode"] == "WaitForFirstConsumer"
    assert inputs["metadata"]["annotations"]["storageclass.kubernetes.io/is-default-class"] == "true"


def test_the_static_volume_keeps_its_data_and_belongs_to_one_claim():
    """Delete would take the file system's data; a volume anyone may claim is taken by anyone."""
    spec = named("PersistentVolume", "fsx-claim").inputs["spec"]
    assert spec["persistentVolumeReclaimPolicy"] == "Retain"
    assert spec["claimRef"] == {"namespace": "training", "name": "fsx-claim"}
    assert spec["mountOptions"] == ["flock"]


def test_a_larger_file_system_leaves_volume_and_claim_as_they_are():
    """Kubernetes refuses to grow a claim that it did not make itself, after FSx has grown and cannot shrink."""
    grown = changed(storage={"lustre": {"capacityGib": 4800}})
    assert only("LustreFileSystem", "lustre", grown).inputs["storageCapacity"] == 4800
    for kind in ("PersistentVolume", "PersistentVolumeClaim"):
        assert only(kind, "fsx-claim", grown).inputs == named(kind, "fsx-claim").inputs


def test_the_claim_is_replaced_with_its_volume_and_behind_its_pods():
    """Otherwise the claim's protection holds the old volume, and the run hangs; pods that are `replace_with` the volume go before it."""
    claim, volume = named("PersistentVolumeClaim", "fsx-claim"), named("PersistentVolume", "fsx-claim")
    assert claim.property_dependencies["spec"] == {volume.urn}
    assert claim.options["replaceOnChanges"] == ["spec"]
    assert "replace_with" not in claim.options


def test_another_namespace_is_another_volume():
    """A retained volume remembers the claim it was bound to."""
    moved = changed(training={"namespace": "jobs"})
    assert only("PersistentVolume", "fsx-claim", moved).inputs["metadata"] != named("PersistentVolume", "fsx-claim").inputs["metadata"]


def test_the_dynamic_class_makes_tagged_persistent_file_systems():
    """The driver may only touch what carries the cluster's tag, and its own default loses data with a server."""
    parameters = named("StorageClass", "fsx-lustre").inputs["parameters"]
    assert parameters["extraTags"] == "trn:cluster=trainium-dev,trn:stack=organization/trn/dev"
    assert parameters["deploymentType"] == "PERSISTENT_2"
    assert parameters["fileSystemTypeVersion"] == "2.15"
    assert parameters["subnetId"] == named("Subnet", "network-private-usw2-az4").id
    assert parameters["securityGroupIds"] == named("SecurityGroup", "lustre").id


def test_volume_and_claim_wait_for_the_link_to_s3():
    """A job that starts before it sees an empty directory."""
    linked = changed(storage={"lustre": {"dataRepository": {"s3Uri": "s3://data-bucket/corpus"}}})
    assert only("DataRepositoryAssociation", "lustre-s3", linked).urn in needs(linked, only("PersistentVolume", "fsx-claim", linked).urn)


def test_everything_that_lives_in_a_vpc_lives_in_ours():
    """Left out, EC2 takes the account's default VPC, where nothing of ours can reach it."""
    vpc = named("Vpc", "network").id
    kinds = ("Subnet", "SecurityGroup", "InternetGateway", "RouteTable", "VpcEndpoint", "VpcIpv4CidrBlockAssociation")
    strangers = [item.name for item in dev() if item.type.rsplit(":", 1)[-1] in kinds and item.inputs.get("vpcId") != vpc]
    assert strangers == []


def test_the_file_systems_keys_reach_it():
    """Throughput is what is paid for, and backups are what is left."""
    keys = {"throughputMbpsPerTib": 500, "compression": "NONE", "backupRetentionDays": 7, "finalBackup": True}
    inputs = only("LustreFileSystem", "lustre", changed(storage={"lustre": keys})).inputs
    assert (inputs["perUnitStorageThroughput"], inputs["dataCompressionType"]) == (500, "NONE")
    assert (inputs["automaticBackupRetentionDays"], inputs["skipFinalBackup"]) == (7, False)
    usual = named("LustreFileSystem", "lustre").inputs
    assert (usual["perUnitStorageThroughput"], usual["dataCompressionType"], usual["automaticBackupRetentionDays"]) == (125, "LZ4", 0)


def test_the_vpc_has_both_blocks():
    """10.1.0.0/21 and 100.64.0.0/16, as the blueprint's."""
    assert named("Vpc", "network").inputs["cidrBlock"] == "10.1.0.0/21"
    assert named("VpcIpv4CidrBlockAssociation", "network-pods").inputs["cidrBlock"] == "100.64.0.0/16"


def test_the_file_system_has_its_own_group():
    """Left out, it has the VPC's default group, which lets no node in."""
    assert named("LustreFileSystem", "lustre").inputs["securityGroupIds"] == [named("SecurityGroup", "lustre").id]


def test_what_the_console_lists_by_name_has_one():
    """Somebody will look for it there when something is wrong."""
    kinds = (
        "Vpc",
        "Subnet",
        "SecurityGroup",
        "InternetGateway",
        "NatGateway",
        "Eip",
        "RouteTable",
        "VpcEndpoint",
        "LustreFileSystem",
        "NodeGroup",
    )
    listed = [item for item in dev() if item.custom and item.type.rsplit(":", 1)[-1] in kinds]
    assert [item.name for item in listed if not item.inputs.get("tags", {}).get("Name")] == []


@pytest.mark.parametrize("group", ["nodes", "lustre"])
def test_security_groups_drop_rules_of_others_on_delete(group: str):
    """They name each other: without it the first to go waits fifteen minutes and fails."""
    assert named("SecurityGroup", group).inputs["revokeRulesOnDelete"] is True


@pytest.mark.parametrize("addon", ["aws-ebs-csi-driver", "aws-fsx-csi-driver"])
def test_a_driver_starts_with_its_rights(addon: str):
    """A controller that starts before its policy fails its first claims."""
    item = named("Addon", addon)
    policies = {policy.urn for policy in dev().of_type("aws:iam/rolePolicy:RolePolicy") if policy.name.startswith(addon)}
    assert policies
    assert policies <= needs(dev(), item.urn)


def test_a_nat_gateway_comes_after_the_way_to_the_internet():
    """EC2 makes it before, and nodes then wait for packets that go nowhere."""
    needed = {urn.rsplit("::", 1)[-1] for urn in needs(dev(), named("NatGateway", "network-usw2-az4").urn)}
    assert {"network-public", "network-public-usw2-az4"} <= needed
    assert named("InternetGateway", "network").urn in needs(dev(), named("Eip", "network-nat-usw2-az4").urn)


def test_with_a_gateway_per_zone_each_zone_uses_its_own():
    """Else traffic crosses zones, is paid for twice, and stops with the other zone."""
    recording = changed(network={"nat": "per-zone"})
    for zone in ("usw2-az4", "usw2-az1"):
        gateway = only("NatGateway", f"network-{zone}", recording)
        assert only("Route", f"network-private-{zone}", recording).inputs["natGatewayId"] == gateway.id
        assert gateway.inputs["subnetId"] == only("Subnet", f"network-public-{zone}", recording).id


def test_endpoints_answer_by_the_services_own_name_to_nodes_and_pods():
    """Without private DNS the SDKs do not use them; without the pods' address block only half of the VPC is let in."""
    services = PRIVATE["interfaceEndpoints"]
    recording = changed(network=PRIVATE)
    for service in services:
        inputs = only("VpcEndpoint", f"network-{service}", recording).inputs
        assert inputs["privateDnsEnabled"] is True
        assert inputs["serviceName"] == f"com.amazonaws.us-west-2.{service}"
        assert len(inputs["subnetIds"]) == 2
    rules = [
        tuple(item.inputs[key] for key in ("cidrIpv4", "ipProtocol", "fromPort", "toPort"))
        for item in recording.of_type("aws:vpc/securityGroupIngressRule:SecurityGroupIngressRule")
        if "cidrIpv4" in item.inputs
    ]
    assert sorted(rules) == [("10.1.0.0/21", "tcp", 443, 443), ("100.64.0.0/16", "tcp", 443, 443)]
    assert recording.of_type("aws:ec2/natGateway:NatGateway") == []


def test_control_plane_logs_are_kept_as_long_as_asked():
    """Unset, they are kept, and billed, for ever."""
    assert named("LogGroup", "control-plane-logs").inputs["retentionInDays"] == 30
    assert named("LogGroup", "control-plane-logs").inputs["name"] == "/aws/eks/trainium-dev/cluster"


def test_the_control_plane_sends_the_logs_that_were_asked_for():
    """Without audit logs there is no record of who deleted a job."""
    assert named("Cluster", "control-plane-eksCluster").inputs["enabledClusterLogTypes"] == ["api", "audit", "authenticator"]
    quiet = changed(controlPlane={"logTypes": []})
    assert only("Cluster", "control-plane-eksCluster", quiet).inputs["enabledClusterLogTypes"] == []


@pytest.mark.parametrize("protected", [True, False])
def test_deletion_protection_is_sent_either_way(protected: bool):
    """Left out, switching it off again would change nothing."""
    recording = changed(controlPlane={"deletionProtection": protected})
    assert only("Cluster", "control-plane-eksCluster", recording).inputs["deletionProtection"] is protected


def test_the_component_is_reported_its_vpc():
    """Without it the component looks for the account's default VPC."""
    component = next(item for item in dev() if item.type == "eks:index:Cluster")
    assert component.inputs["vpcId"] == named("Vpc", "network").id


def test_the_clusters_key_is_gone_a_week_after_the_cluster():
    """The default is a month, in which its alias is free and its data unreadable."""
    assert named("Key", "control-plane-secrets").inputs["deletionWindowInDays"] == 7
    assert named("Key", "control-plane-secrets").inputs["enableKeyRotation"] is True


def test_a_given_key_is_used_and_none_is_made():
    """A team with its own key policy wants no second key."""
    arn = "arn:aws:kms:us-west-2:123456789012:key/00000000-0000-0000-0000-000000000000"
    recording = changed(controlPlane={"encryptionKeyArn": arn})
    assert recording.of_type("aws:kms/key:Key") == []
    assert only("Cluster", "control-plane-eksCluster", recording).inputs["encryptionConfig"]["provider"]["keyArn"] == arn


def test_a_named_role_is_the_control_planes():
    """A cluster that was taken over keeps the role that it was made with."""
    recording = changed(controlPlane={"roleName": "theirs"})
    assert only("Role", "control-plane-role", recording).inputs["name"] == "theirs"
    assert only("Cluster", "control-plane-eksCluster", recording).inputs["roleArn"].endswith(":role/theirs")


def test_failed_exports_are_logged_by_a_switch_of_the_link():
    """Otherwise a checkpoint that never reached S3 is missed when it is wanted."""
    link = {"s3Uri": "s3://training-data"}
    without, logged = (changed(storage={"lustre": {"dataRepository": {**link, "errorLog": on}}}) for on in (False, True))
    (file_system,) = logged.of_type("aws:fsx/lustreFileSystem:LustreFileSystem")
    (group,) = [item for item in logged.of_type("aws:cloudwatch/logGroup:LogGroup") if item.name == "lustre-errors"]
    assert group.inputs["name"] == "/aws/fsx/trainium-dev"
    assert file_system.inputs["logConfiguration"] == {"destination": group.outputs["arn"], "level": "WARN_ERROR"}
    assert group.urn in file_system.dependencies | file_system.property_dependencies["logConfiguration"]
    (plain,) = without.of_type("aws:fsx/lustreFileSystem:LustreFileSystem")
    assert "logConfiguration" not in plain.inputs


def test_systems_manager_is_let_in_only_by_its_switch():
    """Its policy reads every parameter of the account."""

    def roles(recording: Recording) -> set[str]:
        attachments = recording.of_type("aws:iam/rolePolicyAttachment:RolePolicyAttachment")
        return {item.inputs["role"] for item in attachments if item.inputs["policyArn"].endswith("/AmazonSSMManagedInstanceCore")}

    karpenter = {"enabled": True, "neuronPools": {"spare": {"instanceType": "trn1.2xlarge", "maxNodes": 1}}}
    on = changed(nodes={"sessionManager": True}, addons={"karpenter": karpenter})
    assert roles(dev()) == set()
    assert roles(on) == {"trainium-dev-us-west-2-node", "trainium-dev-us-west-2-karpenter-node"}


def test_training_pods_cannot_reach_the_nodes_credentials():
    """One hop keeps the instance metadata to the host network; controllers on core nodes need two."""
    hops = {name: named("LaunchTemplate", name).inputs["metadataOptions"]["httpPutResponseHopLimit"] for name in ("core", "trn1-32xl")}
    assert hops == {"core": 2, "trn1-32xl": 1}


def test_a_templates_default_is_its_newest_version():
    """Who looks at the default in the console would otherwise see the first one for ever."""
    assert named("LaunchTemplate", "trn1-32xl").inputs["updateDefaultVersion"] is True


def test_groups_are_given_per_interface_or_per_instance_never_both():
    """RunInstances refuses both."""
    for item in dev().of_type("aws:ec2/launchTemplate:LaunchTemplate"):
        assert ("networkInterfaces" in item.inputs) != ("vpcSecurityGroupIds" in item.inputs)


def test_a_capacity_block_is_bought_from_its_reservation():
    """Market, reservation and type stand in the template, and the type not in the group."""
    recording = with_group(capacityType="CAPACITY_BLOCK", capacityReservationId="cr-0123456789abcdef0")
    template, group = only("LaunchTemplate", "g", recording).inputs, only("NodeGroup", "g", recording).inputs
    assert template["instanceMarketOptions"] == {"marketType": "capacity-block"}
    target = template["capacityReservationSpecification"]["capacityReservationTarget"]
    assert target == {"capacityReservationId": "cr-0123456789abcdef0"}
    assert template["instanceType"] == "trn1.32xlarge"
    assert "instanceTypes" not in group
    assert group["capacityType"] == "CAPACITY_BLOCK"


def test_nodes_run_the_control_planes_version():
    """Without it a group stays behind an upgrade, and a pinned release of the new version is refused."""
    assert {item.inputs["version"] for item in dev().of_type("aws:eks/nodeGroup:NodeGroup")} == {"1.35"}


def test_an_autoscaled_group_changes_how_volcano_admits_jobs():
    """With `enqueue` the autoscaler never sees a job that waits for its nodes."""
    values = only("Release", "volcano", changed(nodeGroups={"trn1-32xl": {"autoscaled": True}})).inputs["values"]
    assert "enqueue" not in values["custom"]["scheduler_config_override"]
    assert "enqueue" in named("Release", "volcano").inputs["values"]["custom"]["scheduler_config_override"]


def test_namespaces_and_queues_do_not_hang_for_ten_minutes():
    """The provider's own limit on a delete that a finalizer holds."""
    held = [item for item in dev() if item.type in ("kubernetes:core/v1:Namespace", "kubernetes:scheduling.volcano.sh/v1beta1:Queue")]
    assert len(held) > 4
    assert {item.options["customTimeouts"]["delete"] for item in held} == {"3m"}


def test_a_persistent_etcd_waits_for_its_class_and_every_etcd_for_its_name():
    """A claim without a class stays pending; a set without its Service has no name to be found by."""
    recording = changed(addons={"etcd": {"persistent": True}})
    needed = needs(recording, only("StatefulSet", "etcd-server", recording).urn)
    assert only("StorageClass", "default-storage-class", recording).urn in needed
    assert only("Service", "etcd-server", recording).urn in needed
    assert named("Service", "etcd-server").urn in needs(dev(), named("StatefulSet", "etcd-server").urn)


def test_the_problem_detector_gets_the_namespace_that_its_chart_forgets():
    """A plain install with the chart's defaults fails on a fresh cluster."""
    recording = changed(addons={"neuron": {"nodeProblemDetector": True}})
    namespace = only("Namespace", "neuron-healthcheck-system-namespace", recording)
    assert namespace.urn in only("Release", "neuron-helm-chart", recording).dependencies


@pytest.mark.parametrize(
    ("changes", "gone"),
    [
        ({"addons": {"neuron": {"enabled": False}}}, "neuron-helm-chart"),
        ({"addons": {"efa": {"enabled": False}}}, "aws-efa-k8s-device-plugin"),
        ({"addons": {"volcano": {"enabled": False}}}, "volcano"),
        ({"addons": {"etcd": {"enabled": False}}}, "etcd-server"),
        ({"storage": {"lustre": {"enabled": False}}}, "lustre"),
        ({"storage": {"lustre": {"dynamicClass": False}}}, "fsx-lustre"),
        ({"network": {"s3Endpoint": False}}, "network-s3"),
    ],
)
def test_a_switch_that_is_off_takes_its_part_away_and_nothing_else(changes: dict[str, Any], gone: str):
    """Nothing that stays may be registered differently."""
    recording = changed(**changes)
    assert gone in {item.name for item in dev()}
    assert gone not in {item.name for item in recording.resources()}
    assert set(recording.registrations) < set(dev().registrations)


def test_every_role_has_the_boundary_that_the_account_asks_for():
    """An account that allows no role without one refuses the first role that lacks it; without the key there is none."""
    roles = merged_everything(iam={"permissionsBoundary": BOUNDARY}).of_type("aws:iam/role:Role")
    assert {role.inputs.get("permissionsBoundary") for role in roles} == {BOUNDARY}
    assert len(roles) > 10
    assert not [role.name for role in dev().of_type("aws:iam/role:Role") if "permissionsBoundary" in role.inputs]


def merged_everything(**changes: Any) -> Recording:
    """The shipped stack with every add-on on, and sections changed."""
    return record_stack({**everything(), **changes}, stack="dev")
