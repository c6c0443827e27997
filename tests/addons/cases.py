"""Helm values of every chart as golden files have them: at least the usual ones and the fullest."""

from dataclasses import dataclass, replace
from typing import Any

from addons.cluster_autoscaler import ClusterAutoscalerArgs, cluster_autoscaler_values
from addons.efa import efa_values
from addons.fluent_bit import FluentBitArgs, fluent_bit_values
from addons.grafana import GrafanaArgs, grafana_values
from addons.karpenter import KarpenterArgs, karpenter_values
from addons.karpenter_pools import NeuronPoolArgs
from addons.metrics_server import metrics_server_values
from addons.neuron import NeuronArgs, neuron_values, node_recovery_account
from addons.prometheus_values import PrometheusValuesArgs, prometheus_values
from addons.versions import (
    AWS_DRANET,
    CLUSTER_AUTOSCALER,
    EFA_DEVICE_PLUGIN,
    FLUENT_BIT,
    GRAFANA,
    KARPENTER,
    METRICS_SERVER,
    NEURON,
    PROMETHEUS,
    VOLCANO,
    Chart,
)
from addons.volcano import VolcanoArgs, volcano_values
from components.hardware.catalogue import NEURON_TYPES


@dataclass(frozen=True)
class Case:
    """Values of one chart."""

    chart: Chart
    values: dict[str, Any]


TRN1 = NeuronPoolArgs(NEURON_TYPES["trn1.32xlarge"], 2, "usw2-az4", "subnet-0a")
KARPENTER_ARGS = KarpenterArgs(
    cluster_name="demo",
    region="us-west-2",
    ami_version="v20260505",
    control_plane_name="demo",
    security_group_ids=["sg-0a", "sg-0b"],
    tags={"trn:cluster": "demo"},
    neuron_pools={"trn1": TRN1},
)

PROMETHEUS_ARGS = PrometheusValuesArgs(cluster_name="demo", region="us-west-2")

CASES: dict[str, Case] = {
    "neuron": Case(NEURON, neuron_values(NeuronArgs("1.35"))),
    "neuron-with-everything": Case(NEURON, neuron_values(NeuronArgs("1.35", scheduler_extension=True, node_problem_detector=True))),
    "efa": Case(EFA_DEVICE_PLUGIN, efa_values(["trn1n.32xlarge", "trn1.32xlarge"])),
    "volcano": Case(VOLCANO, volcano_values(VolcanoArgs())),
    "volcano-single-autoscaled": Case(VOLCANO, volcano_values(VolcanoArgs(replicas=1, image_registry="registry.example", autoscaled=True))),
    "neuron-dra": Case(NEURON, neuron_values(NeuronArgs("1.35", dra=True))),
    "neuron-recovery": Case(
        NEURON,
        neuron_values(NeuronArgs("1.35", node_problem_detector=True, node_recovery=node_recovery_account("demo", "us-west-2"))),
    ),
    "efa-dra": Case(AWS_DRANET, efa_values(["trn1.32xlarge"])),
    "prometheus": Case(PROMETHEUS, prometheus_values(PROMETHEUS_ARGS)),
    "prometheus-remote-write": Case(
        PROMETHEUS,
        prometheus_values(replace(PROMETHEUS_ARGS, remote_write_url="https://aps.example/api/v1/remote_write", alertmanager=True)),
    ),
    "grafana": Case(GRAFANA, grafana_values(GrafanaArgs())),
    "grafana-own-secret": Case(GRAFANA, grafana_values(GrafanaArgs("grafana-admin"))),
    "fluent-bit": Case(FLUENT_BIT, fluent_bit_values(FluentBitArgs("demo", "us-west-2"))),
    "fluent-bit-s3": Case(FLUENT_BIT, fluent_bit_values(FluentBitArgs("demo", "us-west-2", s3_bucket="pod-logs"))),
    "metrics-server": Case(METRICS_SERVER, metrics_server_values()),
    "cluster-autoscaler": Case(CLUSTER_AUTOSCALER, cluster_autoscaler_values(ClusterAutoscalerArgs("demo", "us-west-2", "1.35"))),
    "karpenter": Case(KARPENTER, karpenter_values(KARPENTER_ARGS)),
    "karpenter-static": Case(KARPENTER, karpenter_values(replace(KARPENTER_ARGS, neuron_pools={"trn1": replace(TRN1, static=True)}))),
}
