"""AWS Batch over the stack's own nodes: its jobs, its label, its order, and what a change of it comes to."""

from dataclasses import replace
from functools import cache
from typing import Any

import pytest
import yaml

from addons.batch import NODE_LABEL
from addons.batch.component import pod_properties, service_role_arn
from facts.catalogue import NEURON_TYPES
from facts.node_resources import DAEMONS_CPU_MILLIS, DAEMONS_MEMORY_MIB, allocatable
from simulator.account import kinds
from simulator.aws_requests import aws_requests
from simulator.engine.change import Changed, rehearse_change
from simulator.recording import Recording, Registration
from tests.simulator.aws_shapes import shape_errors
from tests.stacks.test_dev_stack import only
from tests.support import ROOT, dev_configuration, merged, record_stack

UUID = "00000000-0000-4000-8000-000000000000"
GROUP = "trn1-32xl"


@cache
def running(image: str | None = None) -> Recording:
    """The shipped stack with Batch on one of its groups, as after the first run."""
    return record_stack(configuration(image=image))


def configuration(**keys: Any) -> dict[str, Any]:
    """The shipped stack with Batch on one of its groups."""
    return merged(dev_configuration(), addons={"batch": {"enabled": True, "nodeGroups": [GROUP], **keys}})


def change(**sections: Any) -> Changed:
    """That stack, up, changed."""
    return rehearse_change(running(), record_stack(merged(configuration(), **sections)), seed=0)


def touched(changed: Changed) -> dict[str, str]:
    """What is done to each resource that is touched."""
    return {f"{item.registration.type.rsplit(':', 1)[-1]} {item.registration.name}": item.kind for item in changed.touched}


def labels(recording: Recording, group: str) -> dict[str, str]:
    """Labels of a node group."""
    return only("NodeGroup", group, recording).inputs["labels"]


@pytest.mark.parametrize("name", NEURON_TYPES)
def test_a_job_fits_on_a_whole_node_and_takes_all_its_devices(name: str):
    """One that asks for more than a node has left waits for ever; without the device it is kept off by the taint."""
    instance = NEURON_TYPES[name]
    (container,) = pod_properties("image", instance, efa=instance.has_efa)["containers"]
    requests, limits = container["resources"]["requests"], container["resources"]["limits"]
    assert requests["aws.amazon.com/neuron"] == limits["aws.amazon.com/neuron"] == str(instance.chip_count)
    assert requests["memory"] == limits["memory"]
    offered = allocatable(instance, efa=instance.has_efa)
    left_mib, left_millis = (
        offered.memory_mib - int(requests["memory"].removesuffix("Mi")),
        offered.cpu_millis - 1000 * int(requests["cpu"]),
    )
    # What DaemonSets need stays, a quarter of a small node at most, and whole GiB and cores are asked for.
    assert min(DAEMONS_MEMORY_MIB, offered.memory_mib // 4) <= left_mib <= DAEMONS_MEMORY_MIB + 1024
    assert min(DAEMONS_CPU_MILLIS, offered.cpu_millis // 4) <= left_millis <= DAEMONS_CPU_MILLIS + 1000


def test_a_job_definition_is_what_batch_takes():
    """Checked against the API's own shape: a member that it does not know fails the run."""
    definition = only("JobDefinition", f"batch-{GROUP}", running("registry.example/train:1.0"))
    (request,) = aws_requests(definition)
    assert request is not None
    assert shape_errors(request) == []
    pod = request.parameters["eksProperties"]["podProperties"]
    assert request.parameters["type"] == "container"
    assert pod["hostNetwork"] is False
    assert pod["containers"][0]["image"] == "registry.example/train:1.0"
    assert pod["volumes"] == [{"name": "shm", "emptyDir": {"medium": "Memory", "sizeLimit": "64Gi"}}]
    assert pod["containers"][0]["volumeMounts"] == [{"name": "shm", "mountPath": "/dev/shm"}]


def test_without_an_image_no_definition_is_made():
    """One without an image would be refused."""
    assert running().of_type("aws:batch/jobDefinition:JobDefinition") == []


def test_the_environment_launches_nothing_and_names_batchs_own_role():
    """Batch has no Neuron image to launch, and picks its role by itself for managed environments only."""
    inputs = only("ComputeEnvironment", "batch", running()).inputs
    assert "computeResources" not in inputs
    assert inputs["type"] == "UNMANAGED"
    assert inputs["serviceRole"] == service_role_arn("us-west-2", "123456789012")
    assert inputs["eksConfiguration"]["kubernetesNamespace"] == "training"
    assert service_role_arn("cn-north-1", "1").startswith("arn:aws-cn:iam::1:role/aws-service-role/batch.amazonaws.com/")


def test_its_right_is_to_the_jobs_namespace_alone():
    """With the whole cluster for a scope Batch could make pods anywhere."""
    inputs = only("AccessPolicyAssociation", "batch", running()).inputs
    assert inputs["policyArn"] == "arn:aws:eks::aws:cluster-access-policy/AWSBatchNamespacePolicy"
    assert inputs["accessScope"] == {"type": "namespace", "namespaces": ["training"]}
    assert inputs["principalArn"] == only("ComputeEnvironment", "batch", running()).inputs["serviceRole"]


def test_the_id_labels_the_nodes_of_its_groups_in_place():
    """Batch's jobs stay RUNNABLE until a node says whose it is; a rolled group would stop the others' jobs for a label."""
    changed = change(addons={"batch": {"computeEnvironmentId": UUID}})
    assert touched(changed) == {f"NodeGroup {GROUP}": "update"}
    assert [(effect.kind, effect.nodes) for effect in changed.nodes] == [("stays", 2)]
    assert changed.cautions == []
    assert labels(changed.after, GROUP)[NODE_LABEL] == UUID
    assert NODE_LABEL not in labels(changed.after, "trn1n-32xl")
    assert NODE_LABEL not in labels(running(), GROUP)


def test_switched_off_it_takes_its_label_along():
    """A node that keeps it would be another environment's."""
    off = record_stack(configuration(enabled=False, computeEnvironmentId=UUID))
    assert NODE_LABEL not in labels(off, GROUP)


def test_another_namespace_is_another_environment_with_its_queue():
    """The old one is kept while a queue names it, so the queue goes along."""
    changed = change(training={"namespace": "jobs"})
    assert [step.error for step in changed.phase.errors] == []
    found = touched(changed)
    assert found["ComputeEnvironment batch"] == found["JobQueue batch"] == found["AccessPolicyAssociation batch"] == "replace"


def test_the_queue_would_hold_the_environment_if_it_did_not_go_along():
    """The world says what Batch says."""

    def held(item: Registration) -> Registration:
        options = {key: value for key, value in item.options.items() if key != "replace_with"}
        return replace(item, options=options) if item.type == kinds.JOB_QUEUE else item

    after = record_stack(merged(configuration(), training={"namespace": "jobs"}))
    after.registrations = {urn: held(item) for urn, item in after.registrations.items()}
    refused = [step.error for step in rehearse_change(running(), after, seed=0).phase.errors]
    assert any("found existing JobQueue relationship" in str(error) for error in refused)


def test_another_image_is_another_revision():
    """Jobs that run keep theirs."""
    before = running("registry.example/train:1.0")
    changed = rehearse_change(before, record_stack(configuration(image="registry.example/train:2.0")), seed=0)
    assert touched(changed) == {f"JobDefinition batch-{GROUP}": "update"}
    assert changed.cautions == []


def test_the_output_has_the_command_that_shows_the_id():
    """Batch makes the id up, and the provider does not tell it."""
    command = running().stack_outputs["batchComputeEnvironmentId"]
    assert command.startswith("aws batch describe-compute-environments --region us-west-2 --compute-environments trainium-dev ")
    assert "batchComputeEnvironmentId" not in record_stack(dev_configuration()).stack_outputs


def test_the_guide_says_what_the_program_takes_and_makes():
    """Its configuration is valid, and its queue and definition bear the names that it says."""
    text = (ROOT / "docs" / "batch.md").read_text()
    sections = yaml.safe_load(text.split("```yaml\n")[1].split("```")[0])
    recording = record_stack(merged(dev_configuration(), addons=sections["trn:addons"]))
    submitted = text.split("submit-job ")[1].splitlines()[0].split()
    assert only("JobQueue", "batch", recording).inputs["name"] == submitted[submitted.index("--job-queue") + 1]
    assert only("JobDefinition", f"batch-{GROUP}", recording).inputs["name"] == submitted[submitted.index("--job-definition") + 1]
