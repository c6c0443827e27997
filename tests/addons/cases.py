"""Helm values of every chart as golden files have them: at least the usual ones and the fullest."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from addons.cert_manager.component import cert_manager_values
from addons.cluster import Cluster, NeuronGroup
from addons.cluster_autoscaler.component import cluster_autoscaler_values
from addons.efa.values import efa_values
from addons.fluent_bit.component import fluent_bit_values
from addons.grafana import GrafanaSettings
from addons.grafana.values import Workspace, grafana_values
from addons.karpenter.component import karpenter_values
from addons.kuberay import KubeRaySettings
from addons.kuberay.component import kuberay_values
from addons.kueue.component import kueue_values
from addons.leader_worker_set.component import leader_worker_set_values
from addons.load_balancer_controller.component import load_balancer_controller_values
from addons.metrics_server.component import metrics_server_values
from addons.neuron import NeuronSettings
from addons.neuron.values import neuron_values
from addons.prometheus.values import RemoteWrite, prometheus_values
from addons.slurm.values import slurm_operator_values, slurm_values
from addons.trainer import TrainerSettings
from addons.trainer.values import trainer_values
from addons.versions import (
    AWS_DRANET,
    CERT_MANAGER,
    CLUSTER_AUTOSCALER,
    EFA_DEVICE_PLUGIN,
    FLUENT_BIT,
    GRAFANA,
    KARPENTER,
    KUBERAY,
    KUEUE,
    LEADER_WORKER_SET,
    LOAD_BALANCER_CONTROLLER,
    METRICS_SERVER,
    NEURON,
    PROMETHEUS,
    SLURM,
    SLURM_OPERATOR,
    TRAINER,
    VOLCANO,
    Chart,
)
from addons.volcano import Queue, VolcanoSettings
from addons.volcano.values import volcano_values
from facts.catalogue import NEURON_TYPES
from stacks.addon_sections import Addons


@dataclass(frozen=True)
class Case:
    """Values of one chart."""

    chart: Chart
    values: dict[str, Any]


GROUPS = {
    "trn1-32xl": NeuronGroup(NEURON_TYPES["trn1.32xlarge"], 2, 2, uses_efa=True),
    "spare": NeuronGroup(NEURON_TYPES["trn1n.32xlarge"], 1, 1, uses_efa=False),
}


def cluster(*, claim_name: str | None = "fsx-claim", node_groups: Mapping[str, NeuronGroup] = GROUPS, **addons: Any) -> Cluster:
    """A cluster with sections of add-ons as they are in YAML."""
    return Cluster(
        name="demo",
        region="us-west-2",
        kubernetes_version="1.35",
        zones=("usw2-az4", "usw2-az1"),
        training_namespace="training",
        claim_name=claim_name,
        node_groups=node_groups,
        addons=Addons.model_validate_json(json.dumps(addons)),
    )


def karpenter_pool(**pool: Any) -> Cluster:
    """A cluster with one Neuron pool of Karpenter's."""
    return cluster(karpenter={"neuronPools": {"trn1": {"instanceType": "trn1.32xlarge", "maxNodes": 2, **pool}}})


REMOTE_WRITE = RemoteWrite("https://aps.example/api/v1/remote_write", "a-0a")
SLURM_CLUSTER = cluster(slurm={"nodeGroups": ["trn1-32xl", "spare"], "sshKeys": ["ssh-ed25519 AAAA demo"]})
SMALL_SLURM = cluster(
    claim_name=None,
    node_groups={"one": NeuronGroup(NEURON_TYPES["trn1.2xlarge"], 0, 1, uses_efa=False)},
    slurm={"nodeGroups": ["one"]},
)

OWNER_TAGS = {"trn:cluster": "demo", "trn:stack": "organization/trn/demo"}
CASES: dict[str, Case] = {
    "neuron": Case(NEURON, neuron_values(NeuronSettings(), "1.35")),
    "neuron-with-everything": Case(NEURON, neuron_values(NeuronSettings(scheduler_extension=True, node_problem_detector=True), "1.35")),
    "efa": Case(EFA_DEVICE_PLUGIN, efa_values(["trn1n.32xlarge", "trn1.32xlarge"])),
    "volcano": Case(VOLCANO, volcano_values(VolcanoSettings(queues={}))),
    "volcano-single-autoscaled": Case(
        VOLCANO, volcano_values(VolcanoSettings(replicas=1, image_registry="registry.example", queues={}), autoscaled=True)
    ),
    "neuron-dra": Case(NEURON, neuron_values(NeuronSettings(devices="dra"), "1.35")),
    "neuron-recovery": Case(NEURON, neuron_values(NeuronSettings(node_problem_detector=True, node_recovery=True), "1.35")),
    "efa-dra": Case(AWS_DRANET, efa_values(["trn1.32xlarge"])),
    "prometheus": Case(PROMETHEUS, prometheus_values(cluster())),
    "prometheus-remote-write": Case(PROMETHEUS, prometheus_values(cluster(prometheus={"alertmanager": True}), REMOTE_WRITE)),
    "grafana": Case(GRAFANA, grafana_values(GrafanaSettings())),
    "grafana-workspace": Case(GRAFANA, grafana_values(GrafanaSettings(), Workspace("us-west-2", "https://aps.example/", "a-0b"))),
    "grafana-own-secret": Case(GRAFANA, grafana_values(GrafanaSettings(admin_secret="grafana-admin"))),
    "fluent-bit": Case(FLUENT_BIT, fluent_bit_values(cluster())),
    "fluent-bit-s3": Case(FLUENT_BIT, fluent_bit_values(cluster(fluentBit={"s3Bucket": "pod-logs"}))),
    "volcano-hierarchy": Case(VOLCANO, volcano_values(VolcanoSettings(queues={"team": Queue(parent="root")}))),
    "kueue": Case(KUEUE, kueue_values("training")),
    "trainer": Case(TRAINER, trainer_values(TrainerSettings())),
    "kuberay": Case(KUBERAY, kuberay_values(KubeRaySettings())),
    "kuberay-volcano": Case(KUBERAY, kuberay_values(KubeRaySettings(batch_scheduler="volcano"))),
    "leader-worker-set": Case(LEADER_WORKER_SET, leader_worker_set_values()),
    "cert-manager": Case(CERT_MANAGER, cert_manager_values()),
    "load-balancer-controller": Case(LOAD_BALANCER_CONTROLLER, load_balancer_controller_values(cluster(), "vpc-0a", OWNER_TAGS)),
    "load-balancer-controller-isolated": Case(
        LOAD_BALANCER_CONTROLLER, load_balancer_controller_values(replace(cluster(), isolated=True), "vpc-0a", OWNER_TAGS)
    ),
    "slurm-operator": Case(SLURM_OPERATOR, slurm_operator_values()),
    "slurm": Case(SLURM, slurm_values(SLURM_CLUSTER, "slurm-state")),
    "slurm-small": Case(SLURM, slurm_values(SMALL_SLURM, "slurm-state")),
    "metrics-server": Case(METRICS_SERVER, metrics_server_values()),
    "cluster-autoscaler": Case(CLUSTER_AUTOSCALER, cluster_autoscaler_values(cluster())),
    "karpenter": Case(KARPENTER, karpenter_values(karpenter_pool())),
    "karpenter-static": Case(KARPENTER, karpenter_values(karpenter_pool(static=True))),
}
