"""The only place where the version of a chart, a managed add-on or an image is written.

Managed add-ons: versions seen on EKS 1.34 to 1.36 in public logs and pins of 2026-06 to 2026-10; `trn check` asks
DescribeAddonVersions. Charts: newest tags of 2026-08 to 2026-09. Images: the registries named, 2026-08.
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class Chart:
    """A Helm chart at one version; `repository` is None for an OCI reference."""

    name: str
    version: str
    reference: str
    """What Helm is asked for: a chart name within `repository`, or a whole OCI reference."""
    repository: str | None = None
    crds_apart: bool = False
    """Whether another chart brings its CRDs."""


NEURON = Chart("neuron-helm-chart", "1.10.0", "oci://public.ecr.aws/neuron/neuron-helm-chart")
EFA_DEVICE_PLUGIN = Chart("aws-efa-k8s-device-plugin", "v0.5.30", "aws-efa-k8s-device-plugin", "https://aws.github.io/eks-charts")
AWS_DRANET = Chart("aws-dranet", "1.0.0", "aws-dranet", "https://aws.github.io/eks-charts")
VOLCANO = Chart("volcano", "1.15.0", "volcano", "https://volcano-sh.github.io/helm-charts")
METRICS_SERVER = Chart("metrics-server", "3.13.1", "metrics-server", "https://kubernetes-sigs.github.io/metrics-server/")
CLUSTER_AUTOSCALER = Chart("cluster-autoscaler", "9.59.0", "cluster-autoscaler", "https://kubernetes.github.io/autoscaler")
PROMETHEUS = Chart("kube-prometheus-stack", "88.5.3", "kube-prometheus-stack", "https://prometheus-community.github.io/helm-charts")
GRAFANA = Chart("grafana", "12.11.1", "grafana", "https://grafana-community.github.io/helm-charts")
FLUENT_BIT = Chart("aws-for-fluent-bit", "0.2.0", "aws-for-fluent-bit", "https://aws.github.io/eks-charts")
KUEUE = Chart("kueue", "0.19.2", "oci://registry.k8s.io/kueue/charts/kueue")
TRAINER = Chart("kubeflow-trainer", "2.3.0", "oci://ghcr.io/kubeflow/charts/kubeflow-trainer")
KUBERAY = Chart("kuberay-operator", "1.7.0", "kuberay-operator", "https://ray-project.github.io/kuberay-helm/")
LEADER_WORKER_SET = Chart("lws", "0.10.0", "oci://registry.k8s.io/lws/charts/lws")
CERT_MANAGER = Chart("cert-manager", "1.21.1", "oci://quay.io/jetstack/charts/cert-manager")
SLURM_OPERATOR_CRDS = Chart("slurm-operator-crds", "1.2.1", "oci://ghcr.io/slinkyproject/charts/slurm-operator-crds")
SLURM_OPERATOR = Chart("slurm-operator", "1.2.1", "oci://ghcr.io/slinkyproject/charts/slurm-operator", crds_apart=True)
SLURM = Chart("slurm", "1.2.1", "oci://ghcr.io/slinkyproject/charts/slurm")
LOAD_BALANCER_CONTROLLER = Chart(
    "aws-load-balancer-controller", "3.5.0", "aws-load-balancer-controller", "https://aws.github.io/eks-charts"
)
KARPENTER_CRD = Chart("karpenter-crd", "1.14.1", "oci://public.ecr.aws/karpenter/karpenter-crd")
KARPENTER = Chart("karpenter", "1.14.1", "oci://public.ecr.aws/karpenter/karpenter", crds_apart=True)
"""Not yet 1.15, which is there (1.15.1): what it adds for us is DRA for dynamic pools, behind feature gates and for single drivers only
(kubernetes-sigs/karpenter#3228), and its CRDs have not been met by our pools on an API server. 1.14 serves Kubernetes to 1.36."""

ETCD_IMAGE = "quay.io/coreos/etcd:v3.5.33"
"""3.5 is the last line with the v2 API that TorchX's etcd rendezvous speaks."""
MPI_OPERATOR_IMAGE = "docker.io/mpioperator/mpi-operator:0.8.0"
"""The newest with a tag of its own: the manifest of v0.8.2 names the floating 0.8."""
TRAINING_OPERATOR_IMAGE = "docker.io/kubeflow/training-operator:v1-5170a36"
"""That of the manifests of `TRAINING_OPERATOR_VERSION` (kubeflow/training-operator manifests/overlays/standalone)."""
TRAINING_OPERATOR_VERSION = "v1.9.0"
"""Release whose kinds, rights and webhooks the program follows: the image's tag names a commit only."""
NEURON_MONITOR_IMAGE = "public.ecr.aws/neuron/neuron-monitor:1.11.0"
"""That of AWS's chart amazon-cloudwatch-observability 6.4.0 (2026-08); the manifest in aws-neuron-sdk still names 1.3.0."""
PYTHON_IMAGE = "public.ecr.aws/docker/library/python:3.13.7-alpine3.22"
"""Runs the exporters of EFA and Lustre and the small pods of `trn verify` and `trn shell`, which need the standard library only."""

SLURM_SIDECAR_TAG = "3.22"
"""Of docker.io/library/alpine, which the Slurm chart takes from `latest`."""
MANAGED_PROMETHEUS_PLUGIN_VERSION = "3.3.5"
"""Of Grafana's grafana-amazonprometheus-datasource (grafana.com/grafana/plugins, 2026-11), for Grafana 11.5 and later."""
NEURON_SCHEDULER_IMAGE = "registry.k8s.io/kube-scheduler"
"""Second scheduler of the Neuron chart; the chart's own default is 1.31, too old for an API server of 1.34 and later."""
NEURON_SCHEDULER_TAGS = {"1.34": "v1.34.2", "1.35": "v1.35.4", "1.36": "v1.36.0"}

CLUSTER_AUTOSCALER_TAGS = {"1.34": "v1.34.5", "1.35": "v1.35.2", "1.36": "v1.36.1"}
"""The autoscaler simulates the scheduler of its own minor, so its image follows the cluster's (kubernetes/autoscaler README, Releases):
the newest patch of each (tags of kubernetes/autoscaler, 2026-08)."""

_ANY_MINOR = {
    "vpc-cni": "v1.23.0-eksbuild.1",
    "eks-pod-identity-agent": "v1.4.0-eksbuild.1",
    "aws-ebs-csi-driver": "v1.66.0-eksbuild.1",
    "aws-fsx-csi-driver": "v1.9.0-eksbuild.1",
    "aws-efs-csi-driver": "v3.4.1-eksbuild.1",
    "aws-mountpoint-s3-csi-driver": "v2.7.0-eksbuild.1",
    "eks-node-monitoring-agent": "v1.7.0-eksbuild.1",
    "amazon-cloudwatch-observability": "v6.7.0-eksbuild.1",
}
_BY_MINOR = {
    "1.34": {"kube-proxy": "v1.34.6-eksbuild.29", "coredns": "v1.12.4-eksbuild.38"},
    "1.35": {"kube-proxy": "v1.35.3-eksbuild.29", "coredns": "v1.13.2-eksbuild.31"},
    "1.36": {"kube-proxy": "v1.36.0-eksbuild.25", "coredns": "v1.14.3-eksbuild.23"},
}
SUPPORTED_KUBERNETES = tuple(_BY_MINOR)
"""Minors for which every managed add-on has a pinned version."""


def managed_addon_version(addon: str, kubernetes_version: str) -> str:
    """Pinned version of an EKS add-on for a Kubernetes minor; KeyError for a pair that is not pinned."""
    return _BY_MINOR[kubernetes_version].get(addon) or _ANY_MINOR[addon]
