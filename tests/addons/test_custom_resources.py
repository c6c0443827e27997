"""Custom resources satisfy their CRDs, and the check refuses what a real API server refused."""

import copy
import json
from pathlib import Path
from typing import Any

import kubernetes_validate
import pytest
import yaml

from addons.karpenter import KarpenterGeneralPool, KarpenterNeuronPool
from addons.karpenter.pools import (
    NodeClassArgs,
    general_node_class_spec,
    general_node_pool_spec,
    neuron_node_class_spec,
    neuron_node_pool_spec,
)
from addons.kueue.objects import Flavor, cluster_queue_spec, flavor_spec
from addons.manifests import TOLERATE_NEURON
from addons.registry import REGISTRY
from addons.volcano import Queue
from addons.volcano.values import hyper_node_spec, queue_spec, scheduler_configuration
from facts.catalogue import NEURON_TYPES
from facts.names import GROUP_LABEL
from facts.neuron_releases import AMI_RELEASES, ami_date
from facts.node_resources import job_share
from facts.toolchains import TOOLCHAINS
from stacks.config import parse_settings
from stacks.settings import uses_efa
from tests.addons.cases import GROUPS
from tests.addons.custom_resources import errors, schemas
from tests.stacks.addon_sets import ALTERNATIVES
from tests.stacks.test_addons import custom_kind, recorded
from tests.support import ROOT, dev_configuration
from training.runtimes import runtime_spec

CLASS, POOL, QUEUE = "karpenter.k8s.aws/v1 EC2NodeClass", "karpenter.sh/v1 NodePool", "scheduling.volcano.sh/v1beta1 Queue"
FLAVOR, CLUSTER_QUEUE, LOCAL_QUEUE = (f"kueue.x-k8s.io/v1beta2 {kind}" for kind in ("ResourceFlavor", "ClusterQueue", "LocalQueue"))
NETWORK, RAY = "topology.volcano.sh/v1alpha1 HyperNode", "ray.io/v1 RayCluster"
SAMPLES: dict[str, dict[str, Any]] = {
    path.stem: sample
    for path in sorted((ROOT / "docs/samples").glob("*.yaml"))
    if "apiVersion" in (sample := yaml.safe_load(path.read_text()))
}
"""Those of Kubernetes."""
TRN1_FLAVOR = Flavor(("eks.amazonaws.com/nodegroup", "trn1-32xl"), GROUPS["trn1-32xl"])
RUNTIME = "trainer.kubeflow.org/v1alpha1 ClusterTrainingRuntime"
SHARED = NodeClassArgs("demo-node", f"v{ami_date(AMI_RELEASES['1.35'])}", ["sg-0a", "sg-0b"], {"trn:cluster": "demo"})
TRN1 = KarpenterNeuronPool(instance_type="trn1.32xlarge", max_nodes=2)
SMALL = KarpenterNeuronPool(instance_type="trn1.2xlarge", max_nodes=2)
STATIC = KarpenterNeuronPool(instance_type="trn1.32xlarge", max_nodes=2, static=True)
BLOCK = KarpenterNeuronPool(
    instance_type="trn2.48xlarge", max_nodes=2, capacity_type="CAPACITY_BLOCK", capacity_reservation_id="cr-0123456789abcdef0"
)
ZONE, SUBNET = "usw2-az4", "subnet-0a"
BASES: dict[tuple[str, str], dict[str, Any]] = {
    (CLASS, ""): neuron_node_class_spec(SHARED, TRN1, SUBNET),
    (CLASS, "block"): neuron_node_class_spec(SHARED, BLOCK, SUBNET),
    (POOL, ""): neuron_node_pool_spec("trn1", TRN1, ZONE),
    (POOL, "static"): neuron_node_pool_spec("trn1", STATIC, ZONE),
    (FLAVOR, ""): flavor_spec(TRN1_FLAVOR),
    (CLUSTER_QUEUE, ""): cluster_queue_spec("training", {"trn1-32xl": TRN1_FLAVOR}),
    (LOCAL_QUEUE, ""): {"clusterQueue": "training"},
    (RUNTIME, ""): runtime_spec(TOOLCHAINS["xla-2.30"], "registry.example/train:1.0", "fsx-claim", gang=True),
    (NETWORK, ""): hyper_node_spec("trn1-32xl"),
    (RAY, ""): SAMPLES["ray-cluster"]["spec"],
    (QUEUE, ""): queue_spec(Queue(capability={"aws.amazon.com/neuron": 32})),
}
"""Our own objects, to be broken."""
SOUND: list[tuple[str, dict[str, Any]]] = [
    *((kind, spec) for (kind, _), spec in BASES.items()),
    (CLASS, general_node_class_spec(SHARED, ["subnet-0a", "subnet-0b"])),
    (POOL, general_node_pool_spec("general", KarpenterGeneralPool(max_vcpu=64, spot=True))),
    (POOL, neuron_node_pool_spec("block", BLOCK, ZONE)),
    (CLASS, neuron_node_class_spec(SHARED, SMALL, SUBNET)),
    (RUNTIME, runtime_spec(TOOLCHAINS["jax-2.32"], "registry.example/train:1.0", None, gang=False)),
    (QUEUE, queue_spec(Queue(weight=3, reclaimable=True, capability={"cpu": "96", "memory": "1.5Ti"}))),
]
REFUSALS: list[dict[str, Any]] = yaml.safe_load((Path(__file__).parent / "refusals.yaml").read_text())


def patched(spec: dict[str, Any], patch: dict[str, Any]) -> dict[str, Any]:
    """A copy with values put in at dotted paths; numbers are list indexes, `<delete>` removes."""
    changed = {"spec": copy.deepcopy(spec)}
    for path, value in patch.items():
        *before, last = (int(part) if part.isdigit() else part for part in path.split("."))
        place: Any = changed
        for part in before:
            place = place.setdefault(part, {}) if isinstance(place, dict) else place[part]
        if value == "<delete>":
            place.pop(last, None)
        else:
            place[last] = value
    return changed["spec"]


@pytest.mark.parametrize(("kind", "spec"), SOUND)
def test_what_the_program_makes_satisfies_its_crd(kind: str, spec: dict[str, Any]):
    """A refused object stops the run after all the rest has been made."""
    assert errors(kind, spec) == []


@pytest.mark.parametrize("alternative", ALTERNATIVES)
def test_every_recorded_custom_resource_satisfies_its_crd(alternative: str):
    """What reaches the engine counts."""
    found = [
        (item.name, error) for item in recorded(alternative) if (kind := custom_kind(item)) for error in errors(kind, item.inputs["spec"])
    ]
    assert found == []


def test_every_declared_kind_has_a_schema_and_every_schema_a_kind():
    """A kind without one would pass unchecked."""
    samples = {f"{sample['apiVersion']} {sample['kind']}" for sample in SAMPLES.values()}
    assert schemas().keys() == {kind for declaration in REGISTRY for kind in declaration.kinds} | samples


@pytest.mark.parametrize("refusal", REFUSALS, ids=lambda refusal: f"{refusal['kind'].split()[1]}: {refusal['case']}")
def test_the_check_refuses_what_the_api_server_refused(refusal: dict[str, Any]):
    """And lets pass what it let pass, however odd: a stricter check would hide what only AWS says later."""
    spec = patched(BASES[refusal["kind"], refusal.get("base", "")], refusal["patch"])
    found = errors(refusal["kind"], spec)
    assert bool(found) == refusal["refused"], found


def test_no_job_is_ever_moved_off_a_neuron_node():
    """Karpenter's defaults end every node after 720 hours, and merge half-empty ones."""
    spec = BASES[POOL, ""]
    assert spec["template"]["spec"]["expireAfter"] == "Never"
    assert spec["disruption"]["consolidationPolicy"] == "WhenEmpty"
    assert {"nodes": "0", "reasons": ["Drifted", "Underutilized"]} in spec["disruption"]["budgets"]


def test_a_pool_of_efa_nodes_has_one_efa_interface_on_every_card():
    """Without the list Karpenter attaches EFA only for pods that ask, and a static pool has none."""
    interfaces = BASES[CLASS, ""]["networkInterfaces"]
    assert [item["networkCardIndex"] for item in interfaces if item["interfaceType"] == "efa-only"] == list(range(8))
    assert "networkInterfaces" not in neuron_node_class_spec(SHARED, SMALL, SUBNET)


def test_efa_nodes_carry_the_label_that_the_efa_plug_in_looks_for():
    """Without it the plug-in stays away, and no pod can ask for the interfaces."""
    labels = BASES[POOL, ""]["template"]["metadata"]["labels"]
    assert labels == {"trn/node-pool": "trn1", "vpc.amazonaws.com/efa.present": "true"}


def test_a_block_is_reserved_capacity_with_a_label_of_its_own():
    """`capacity-block` as a capacity type is accepted and never matches."""
    requirements = {item["key"]: item["values"] for item in neuron_node_pool_spec("b", BLOCK, ZONE)["template"]["spec"]["requirements"]}
    assert requirements["karpenter.sh/capacity-type"] == ["reserved"]
    assert requirements["karpenter.k8s.aws/capacity-reservation-type"] == ["capacity-block"]


def test_a_pool_cannot_grow_beyond_what_was_said():
    """The limit is the only thing between a queue of jobs and the bill."""
    assert BASES[POOL, ""]["limits"] == {"nodes": "2", "aws.amazon.com/neuron": "32"}
    assert BASES[POOL, "static"]["limits"] == {"nodes": "2"}
    assert BASES[POOL, "static"]["replicas"] == 2


def test_the_ray_sample_fits_the_shipped_stack():
    """Its namespace, claim, group and devices are there: it starts as it stands but for the image."""
    sample = SAMPLES["ray-cluster"]
    settings = parse_settings(dev_configuration(), "dev", rehearsal=True)
    (workers,) = sample["spec"]["workerGroupSpecs"]
    pod = workers["template"]["spec"]
    group = settings.node_groups[pod["nodeSelector"][GROUP_LABEL]]
    instance = NEURON_TYPES[group.instance_type]
    (container,) = pod["containers"]
    asked = container["resources"]["requests"]
    assert sample["metadata"]["namespace"] == settings.training.namespace
    assert pod["volumes"][0]["persistentVolumeClaim"]["claimName"] == settings.storage.lustre.claim_name
    assert pod["tolerations"] == [TOLERATE_NEURON]
    assert workers["replicas"] == group.size
    assert (asked["aws.amazon.com/neuron"], asked["vpc.amazonaws.com/efa"]) == (instance.chip_count, instance.efa_count)
    assert json.loads(json.loads(workers["rayStartParams"]["resources"])) == {"neuron_cores": instance.chip_count * 2}
    share = job_share(instance, instance.chip_count, efa=uses_efa(group))
    assert int(asked["cpu"]) * 1000 <= share.cpu_millis
    assert int(asked["memory"].removesuffix("Gi")) * 1024 <= share.memory_mib


@pytest.mark.parametrize("name", SAMPLES)
def test_the_pods_of_a_sample_satisfy_kubernetes(name: str):
    """Its CRD takes them as they are; the API server refuses them when they are made."""
    spec = SAMPLES[name]["spec"]
    for template in (spec["headGroupSpec"]["template"], *(group["template"] for group in spec["workerGroupSpecs"])):
        pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "pod"}, "spec": template["spec"]}
        kubernetes_validate.validate(pod, "1.35", strict=True)


def test_a_group_with_efa_is_one_network_and_the_scheduler_looks_at_them():
    """Jobs over groups in two zones have no EFA between them. Without the switch nothing is said of it."""
    recording = recorded("everything")
    made = {item.inputs["metadata"]["name"]: item.inputs["spec"] for item in recording if item.type.endswith(":HyperNode")}
    assert made == {name: hyper_node_spec(name) for name in ("trn1-32xl", "trn1n-32xl")}
    assert hyper_node_spec("g")["members"][0]["selector"] == {"labelMatch": {"matchLabels": {GROUP_LABEL: "g"}}}
    assert "network-topology-aware" in scheduler_configuration(autoscaled=False, topology=True)
    assert "network-topology-aware" not in scheduler_configuration(autoscaled=False)
