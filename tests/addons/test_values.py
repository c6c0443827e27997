"""Helm values and object specs of the add-ons, whole: each is a pure function."""

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from addons import versions
from addons.cloudwatch import CloudWatchSettings
from addons.cloudwatch.component import cloudwatch_configuration
from addons.core import CoreDnsSettings
from addons.core.component import coredns_configuration
from addons.efa_exporter.component import efa_exporter_spec
from addons.etcd.manifests import stateful_set_spec
from addons.kueue.objects import cluster_queue_spec, flavors, kueue_configuration
from addons.lustre_exporter.component import lustre_exporter_spec
from addons.mpi_operator.manifests import RULES, mpi_job_crd_spec, mpi_operator_spec
from addons.neuron_monitor.component import neuron_monitor_spec
from addons.training_operator.kinds import KINDS, job_crd_spec
from addons.training_operator.manifests import training_operator_spec, webhooks
from addons.volcano import Queue
from addons.volcano.values import queue_spec, scheduler_configuration
from addons.webhook_retry import TRIES, retry_delay_s
from facts.kubernetes_versions import KUBERNETES_VERSIONS
from facts.toolchains import TOOLCHAINS
from tests.addons.cases import CASES, cluster
from training.runtimes import runtime_spec

GOLDEN = Path(__file__).parent / "golden"
OBJECTS: dict[str, Any] = {
    "etcd": stateful_set_spec(persistent=False),
    "etcd-persistent": stateful_set_spec(persistent=True),
    "neuron-monitor": neuron_monitor_spec("registry.example/neuron-monitor:1", ["trn1.32xlarge"]),
    "training-operator": training_operator_spec("registry.example/training-operator:1", volcano=True),
    "training-operator-webhooks": webhooks(),
    **{f"{kind.kind.lower()}-crd": job_crd_spec(kind) for kind in KINDS},
    "mpi-operator": mpi_operator_spec("registry.example/mpi:1", volcano=True),
    "mpi-job-crd": mpi_job_crd_spec(),
    "training-runtime": runtime_spec(TOOLCHAINS["xla-2.30"], "registry.example/train:1", "fsx-claim", gang=True),
    "training-runtime-alone": runtime_spec(TOOLCHAINS["jax-2.32"], "registry.example/train:1", None, gang=False),
    "kueue-cluster-queue": cluster_queue_spec(
        "training", flavors(cluster(karpenter={"neuronPools": {"spare": {"instanceType": "trn1.32xlarge", "maxNodes": 2}}}))
    ),
    "efa-exporter": efa_exporter_spec("registry.example/python:3"),
    "lustre-exporter": lustre_exporter_spec("registry.example/python:3", "fsx-claim"),
    "cloudwatch": cloudwatch_configuration(CloudWatchSettings()),
    "cloudwatch-everything": cloudwatch_configuration(CloudWatchSettings(neuron_metrics=True, container_logs=True)),
    "coredns-autoscaled": coredns_configuration(CoreDnsSettings(autoscaled=True)),
}
"""Specs of our own manifests, and configurations of EKS add-ons."""
VALUES: dict[str, Any] = {**{name: case.values for name, case in CASES.items()}, **OBJECTS}


@pytest.mark.parametrize("case", VALUES)
def test_values_are_those_of_the_golden_file(case: str):
    """A changed value is a changed cluster: it must be seen in review."""
    assert json.loads((GOLDEN / f"{case}.json").read_text()) == VALUES[case]


def test_no_golden_file_is_left_over():
    """A file without its case is read by reviewers and by no test."""
    assert {path.stem for path in GOLDEN.glob("*.json")} == VALUES.keys()


def test_the_plugins_tolerate_the_taint_of_our_own_nodes():
    """Otherwise they run nowhere, jobs wait for ever, and no error says so."""
    toleration = {"key": "aws.amazon.com/neuron", "operator": "Exists", "effect": "NoSchedule"}
    assert toleration in VALUES["neuron"]["devicePlugin"]["tolerations"]
    assert toleration in VALUES["efa"]["tolerations"]


def test_the_efa_plugin_runs_only_where_interfaces_are():
    """It crash-loops on a node of a listed type without EFA."""
    assert VALUES["efa"]["nodeSelector"] == {"vpc.amazonaws.com/efa.present": "true"}


def test_cloudwatchs_own_neuron_monitor_runs_only_where_it_is_asked_for():
    """Its chart's default is on, whatever the agent collects: beside ours each runtime would be read twice."""
    assert VALUES["cloudwatch"]["neuronMonitor"] == {"enabled": False}
    assert VALUES["cloudwatch-everything"]["neuronMonitor"] == {"enabled": True}


def test_several_replicas_of_volcano_elect_a_leader():
    """Two schedulers without an election bind the same pods."""
    assert VALUES["volcano"]["custom"]["leader_elect_enable"] is True
    assert VALUES["volcano-single-autoscaled"]["custom"]["leader_elect_enable"] is False


def test_with_an_autoscaler_jobs_make_their_pods_at_once():
    """With `enqueue` a job that waits for nodes has no pods for the autoscaler to see."""
    assert "enqueue" not in yaml.safe_load(scheduler_configuration(autoscaled=True))["actions"]
    assert "enqueue" in yaml.safe_load(scheduler_configuration(autoscaled=False))["actions"]


def test_queues_count_claimed_devices_where_there_are_any():
    """`proportion` sees no claim: a queue's limit of devices would hold nobody."""
    by_plugin, by_claims = (yaml.safe_load(scheduler_configuration(autoscaled=False, claims=claims)) for claims in (False, True))
    names = [[plugin["name"] for tier in found["tiers"] for plugin in tier["plugins"]] for found in (by_plugin, by_claims)]
    assert ["proportion" in found for found in names] == [True, False]
    (capacity,) = [plugin for tier in by_claims["tiers"] for plugin in tier["plugins"] if plugin["name"] == "capacity"]
    assert capacity["arguments"] == {"capacity.DynamicResourceAllocationEnable": True}


def test_kueue_counts_claims_as_the_plug_ins_resource():
    """One quota of chips, however a job asks for them; a class that is not mapped makes Kueue refuse the job."""
    mapped = yaml.safe_load(kueue_configuration("training", ("aws.amazon.com/neuron",)))["resources"]["deviceClassMappings"]
    assert mapped == [{"name": "aws.amazon.com/neuron", "deviceClassNames": ["neuron.aws.com"]}]
    assert "resources" not in yaml.safe_load(kueue_configuration("training"))


def test_a_queue_without_capability_has_none():
    """An empty map would cap nothing today and everything the day Volcano reads it so."""
    assert queue_spec(Queue()) == {"weight": 1, "reclaimable": False}
    assert queue_spec(Queue(weight=2, reclaimable=True, capability={"aws.amazon.com/neuron": 32}))["capability"] == {
        "aws.amazon.com/neuron": 32
    }


def test_etcd_serves_the_v2_api():
    """3.5 does so only when asked, and python-etcd speaks nothing else."""
    (container,) = VALUES["etcd"]["template"]["spec"]["containers"]
    assert {"name": "ETCD_ENABLE_V2", "value": "true"} in container["env"]
    assert container["image"].startswith("quay.io/coreos/etcd:v3.5.")


def test_a_persistent_etcd_leaves_no_volume():
    """The claim of a StatefulSet outlives it by default, and its volume the cluster."""
    assert VALUES["etcd-persistent"]["persistentVolumeClaimRetentionPolicy"]["whenDeleted"] == "Delete"


def test_the_mpi_operator_may_not_make_what_it_need_not():
    """Upstream's role may make CRDs, and so any kind in the cluster."""
    groups = {group for rule in RULES for group in rule["apiGroups"]}
    assert "apiextensions.k8s.io" not in groups
    assert "*" not in groups
    assert [rule["resources"] for rule in RULES if rule["verbs"] == ["*"]] == [["mpijobs", "mpijobs/finalizers", "mpijobs/status"]]


def test_a_failed_webhook_is_tried_again_for_two_minutes():
    """The provider itself gives up within a second."""
    message = 'Internal error occurred: failed calling webhook "mutatequeue.volcano.sh"'
    delays = [retry_delay_s("create", [message] * tries) for tries in range(1, TRIES + 2)]
    assert delays[:4] == [2, 4, 8, 15]
    assert delays[-1] is None
    assert sum(delay or 0 for delay in delays) > 120


@pytest.mark.parametrize(("operation", "errors"), [("create", ["quota exceeded"]), ("delete", ["failed calling webhook"]), ("create", [])])
def test_other_errors_are_not_tried_again(operation: str, errors: list[str]):
    """Trying a refusal again for two minutes would only hide it."""
    assert retry_delay_s(operation, errors) is None


@pytest.mark.parametrize("minor", versions.SUPPORTED_KUBERNETES)
def test_every_managed_addon_is_pinned_for_every_minor(minor: str):
    """A minor without a pin would fail in the middle of an up."""
    addons = ("vpc-cni", "kube-proxy", "coredns", "eks-pod-identity-agent", "aws-ebs-csi-driver", "aws-fsx-csi-driver")
    assert all(versions.managed_addon_version(addon, minor).startswith("v") for addon in addons)
    assert versions.managed_addon_version("kube-proxy", minor).startswith(f"v{minor}.")
    assert versions.NEURON_SCHEDULER_TAGS[minor].startswith(f"v{minor}.")
    assert minor in KUBERNETES_VERSIONS
