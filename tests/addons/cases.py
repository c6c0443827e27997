"""Helm values of every chart as golden files have them: at least the usual ones and the fullest."""

from dataclasses import dataclass, replace
from typing import Any

from addons.cert_manager import cert_manager_values
from addons.cluster_autoscaler import ClusterAutoscalerArgs, cluster_autoscaler_values
from addons.efa import efa_values
from addons.fluent_bit import FluentBitArgs, fluent_bit_values
from addons.grafana import GrafanaArgs, WorkspaceArgs, grafana_values
from addons.karpenter import KarpenterArgs, karpenter_values
from addons.karpenter_pools import NeuronPoolArgs
from addons.kuberay import KubeRayArgs, kuberay_values
from addons.kueue import kueue_values
from addons.leader_worker_set import leader_worker_set_values
from addons.load_balancer_controller import LoadBalancerControllerArgs, load_balancer_controller_values
from addons.metrics_server import metrics_server_values
from addons.neuron import NeuronArgs, neuron_values, node_recovery_account
from addons.prometheus_values import PrometheusValuesArgs, prometheus_values
from addons.slurm_values import PartitionArgs, SlurmValuesArgs, slurm_operator_values, slurm_values
from addons.trainer import TrainerArgs, trainer_values
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
from addons.volcano import QueueArgs, VolcanoArgs, volcano_values
from facts.catalogue import NEURON_TYPES


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

PARTITIONS = {
    "trn1-32xl": PartitionArgs(NEURON_TYPES["trn1.32xlarge"], 2, 8),
    "spare": PartitionArgs(NEURON_TYPES["trn1n.32xlarge"], 1, 0),
}

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
    "grafana-workspace": Case(
        GRAFANA,
        grafana_values(GrafanaArgs(workspace=WorkspaceArgs("demo", "us-west-2", "demo", "arn", "https://aps.example/"))),
    ),
    "grafana-own-secret": Case(GRAFANA, grafana_values(GrafanaArgs("grafana-admin"))),
    "fluent-bit": Case(FLUENT_BIT, fluent_bit_values(FluentBitArgs("demo", "us-west-2"))),
    "fluent-bit-s3": Case(FLUENT_BIT, fluent_bit_values(FluentBitArgs("demo", "us-west-2", s3_bucket="pod-logs"))),
    "volcano-hierarchy": Case(VOLCANO, volcano_values(VolcanoArgs(queues={"team": QueueArgs(parent="root")}))),
    "kueue": Case(KUEUE, kueue_values("training")),
    "trainer": Case(TRAINER, trainer_values(TrainerArgs())),
    "kuberay": Case(KUBERAY, kuberay_values(KubeRayArgs())),
    "kuberay-volcano": Case(KUBERAY, kuberay_values(KubeRayArgs(volcano=True))),
    "leader-worker-set": Case(LEADER_WORKER_SET, leader_worker_set_values()),
    "cert-manager": Case(CERT_MANAGER, cert_manager_values()),
    "load-balancer-controller": Case(
        LOAD_BALANCER_CONTROLLER, load_balancer_controller_values(LoadBalancerControllerArgs("demo", "us-west-2", "vpc-0a"))
    ),
    "slurm-operator": Case(SLURM_OPERATOR, slurm_operator_values()),
    "slurm": Case(SLURM, slurm_values(SlurmValuesArgs("demo", PARTITIONS, "fsx-claim", ["ssh-ed25519 AAAA demo"]), "slurm-state")),
    "slurm-small": Case(
        SLURM, slurm_values(SlurmValuesArgs("demo", {"one": PartitionArgs(NEURON_TYPES["trn1.2xlarge"], 0, 0)}), "slurm-state")
    ),
    "metrics-server": Case(METRICS_SERVER, metrics_server_values()),
    "cluster-autoscaler": Case(CLUSTER_AUTOSCALER, cluster_autoscaler_values(ClusterAutoscalerArgs("demo", "us-west-2", "1.35"))),
    "karpenter": Case(KARPENTER, karpenter_values(KARPENTER_ARGS)),
    "karpenter-static": Case(KARPENTER, karpenter_values(replace(KARPENTER_ARGS, neuron_pools={"trn1": replace(TRN1, static=True)}))),
}
