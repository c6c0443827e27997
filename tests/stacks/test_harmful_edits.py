"""Laws against edits that look harmless and are not: secrets that leak, rights that widen, names that replace data, labels that miss."""

import base64
import email
import json
from collections.abc import Iterator
from typing import Any

import pytest
import yaml

from facts.names import CLUSTER_TAG
from simulator.recording import Recording
from tests.stacks.addon_sets import ALTERNATIVES, everything
from tests.support import dev_configuration, record_stack

STACKS = {"dev": dev_configuration(), **{name: everything(name) for name in ALTERNATIVES}}
OUTPUTS = {
    "batchComputeEnvironmentId", "claim", "clusterArn", "clusterCreatedAt", "stack", "vpcId", "clusterName", "fileSystemDnsName", "fileSystemId", "fileSystemMountName",
    "grafanaPassword", "kubeconfig", "namespaces", "nextCommand", "nodeGroups", "queues", "region",
}  # fmt: skip
"""Reviewed: none holds a secret; `grafanaPassword` is the command that shows it."""
NODE_CONFIG_KEYS = {"apiVersion", "kind", "spec", "spec.instance", "spec.instance.localStorage"}
SECRET_WORDS = ("password", "passwd", "secret", "token", "AKIA", "ASIA", "private key")
DATA_HOLDERS = {
    "aws:ec2/securityGroup:SecurityGroup lustre": "trainium-dev-lustre",
    "aws:fsx/lustreFileSystem:LustreFileSystem lustre": None,
    "aws:eks/cluster:Cluster control-plane-eksCluster": "trainium-dev",
}
"""Resources whose physical name, when it changes, replaces them or a file system with all its data."""


@pytest.fixture(params=STACKS)
def recording(request: pytest.FixtureRequest) -> Recording:
    """Each of the fullest stacks."""
    return record_stack(STACKS[request.param])


def test_outputs_are_those_that_were_reviewed(recording: Recording):
    """`pulumi stack output` prints them in plain text: a password among them ends up in a build log."""
    assert set(recording.stack_outputs) <= OUTPUTS
    assert "kubectl" in recording.stack_outputs.get("grafanaPassword", "kubectl")
    secrets = {str(item.inputs[key]) for item in recording for key in item.secret_inputs}
    assert not any(secret in json.dumps(recording.stack_outputs, default=str) for secret in secrets)


def test_user_data_holds_a_node_config_and_nothing_else(recording: Recording):
    """Every pod that reaches the instance metadata reads it."""
    for template in recording.of_type("aws:ec2/launchTemplate:LaunchTemplate"):
        if "userData" not in template.inputs:
            continue
        message = email.message_from_bytes(base64.b64decode(template.inputs["userData"]))
        parts = [part for part in message.walk() if not part.is_multipart()]
        assert [part.get_content_type() for part in parts] == ["application/node.eks.aws"]
        text = str(parts[0].get_payload())
        assert set(_paths(yaml.safe_load(text))) <= NODE_CONFIG_KEYS, template.name
        assert not any(word.lower() in text.lower() for word in SECRET_WORDS), template.name


def _paths(value: Any, before: str = "") -> Iterator[str]:
    if isinstance(value, dict) and before.count(".") < 2:
        for key, item in value.items():
            path = f"{before}.{key}" if before else key
            yield path
            yield from _paths(item, path)


@pytest.mark.parametrize("which", DATA_HOLDERS)
def test_names_that_hold_data_stay(which: str):
    """Another name for the Lustre security group replaces the group, with it the file system, and with that its data."""
    kind, name = which.split()
    (item,) = [item for item in record_stack(dev_configuration()).of_type(kind) if item.name == name or item.name.startswith(name)]
    assert item.inputs.get("name") == DATA_HOLDERS[which]


def _statements(recording: Recording) -> Iterator[tuple[str, dict[str, Any]]]:
    """Every statement of every policy, with the name of its resource."""
    for item in recording.resources():
        for key in ("policy", "assumeRolePolicy"):
            if isinstance(item.inputs.get(key), str):
                found = json.loads(item.inputs[key])["Statement"]
                yield from ((item.name, statement) for statement in (found if isinstance(found, list) else [found]))


def _listed(value: Any) -> list[str]:
    return [value] if isinstance(value, str) else list(value or ())


def test_no_policy_lets_everybody_in(recording: Recording):
    """`Principal: "*"` on a queue lets anyone on the internet write to it."""
    found = [(name, item) for name, item in _statements(recording) if item["Effect"] == "Allow" and "Principal" in item]
    assert found
    for name, statement in found:
        principals = statement["Principal"]
        named = [principals] if isinstance(principals, str) else [value for values in principals.values() for value in _listed(values)]
        assert "*" not in named, name


def test_no_policy_allows_everything(recording: Recording):
    """A wildcard for a whole service, or a right to change anything anywhere without a condition, is never least privilege."""
    for name, statement in _statements(recording):
        if statement["Effect"] != "Allow" or name == AWS_OWN:
            continue
        actions = _listed(statement.get("Action"))
        assert not any(action == "*" or action.endswith(":*") for action in actions), name
        if "*" in _listed(statement.get("Resource")) and "Condition" not in statement:
            assert all(action.split(":")[1].startswith(READS) for action in actions), (name, actions)


READS = ("Describe", "Get", "List", "Query", "BatchGet")
AWS_OWN = "load-balancers-identity-load-balancers"
"""The policy that the controller's makers publish, taken whole."""


def test_the_bucket_driver_reads_the_buckets_that_were_named(recording: Recording):
    """All buckets of the account would be within reach of every pod that mounts one."""
    found = [statement for name, statement in _statements(recording) if name.startswith("aws-mountpoint-s3")]
    for statement in found:
        for resource in _listed(statement.get("Resource")):
            assert resource.split(":::")[-1].split("/")[0] in ("corpus", ""), resource
            assert not resource.endswith(":::*"), resource


def test_every_service_finds_the_pods_of_a_workload(recording: Recording):
    """A selector that matches nothing leaves a name that never answers: TorchX then waits for its rendezvous for ever."""
    workloads = [
        (item.inputs["metadata"].get("namespace"), item.inputs["spec"]["template"]["metadata"]["labels"])
        for kind in ("StatefulSet", "Deployment", "DaemonSet")
        for item in recording.of_type(f"kubernetes:apps/v1:{kind}")
    ]
    services = [item for item in recording.of_type("kubernetes:core/v1:Service") if item.inputs["spec"].get("selector")]
    assert services
    for service in services:
        namespace, selector = service.inputs["metadata"].get("namespace"), service.inputs["spec"]["selector"]
        assert any(place == namespace and selector.items() <= labels.items() for place, labels in workloads), service.name


def test_everything_that_nodes_bring_carries_the_clusters_tag(recording: Recording):
    """Default tags reach neither instances nor their volumes; a volume without the tag bills after the cluster and no sweep finds it."""
    for template in recording.of_type("aws:ec2/launchTemplate:LaunchTemplate"):
        tagged = {item["resourceType"]: item["tags"] for item in template.inputs["tagSpecifications"]}
        assert {"instance", "volume", "network-interface"} <= set(tagged), template.name
        assert all(tags.get(CLUSTER_TAG) == "trainium-dev" for tags in tagged.values()), template.name
    for addon in recording.of_type("aws:eks/addon:Addon"):
        if addon.inputs["addonName"] == "aws-ebs-csi-driver":
            settings = json.loads(addon.inputs["configurationValues"])
            assert settings["controller"]["extraVolumeTags"][CLUSTER_TAG] == "trainium-dev"
