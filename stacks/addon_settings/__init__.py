"""What is installed in the cluster besides the core: one section per add-on."""

from pydantic import Field

from stacks.addon_settings.access import CertManagerAddon, EfsCsiAddon, LoadBalancerControllerAddon, MountpointS3Addon
from stacks.addon_settings.core import EfaAddon, EtcdAddon, NeuronAddon, VolcanoAddon
from stacks.addon_settings.scaling import ClusterAutoscalerAddon, CoreDnsAddon, KarpenterAddon, MetricsServerAddon
from stacks.addon_settings.training import (
    BatchAddon,
    KubeRayAddon,
    KueueAddon,
    LeaderWorkerSetAddon,
    MpiOperatorAddon,
    SlurmAddon,
    TrainerAddon,
    TrainingOperatorAddon,
)
from stacks.addon_settings.watching import (
    CloudWatchAddon,
    EfaExporterAddon,
    FluentBitAddon,
    GrafanaAddon,
    ManagedPrometheusAddon,
    NeuronMonitorAddon,
    NodeMonitoringAddon,
    PrometheusAddon,
)
from stacks.section import Section

__all__ = ["Addons"]


class Addons(Section):
    """What is installed in the cluster besides the core."""

    mirror: str | None = Field(default=None, pattern=r"^[a-z0-9][a-z0-9.-]*(:\d+)?(/[a-z0-9._/-]+)?$")
    """Registry that holds copies of all images, for clusters without a way to the internet; `trn images --mirror` lists them. EKS add-ons come from EKS's own registry all the same."""
    neuron: NeuronAddon = NeuronAddon()
    """Neuron device plug-in."""
    efa: EfaAddon = EfaAddon()
    """EFA device plug-in."""
    volcano: VolcanoAddon = VolcanoAddon()
    """Volcano."""
    etcd: EtcdAddon = EtcdAddon()
    """etcd."""
    metrics_server: MetricsServerAddon = MetricsServerAddon()
    """metrics-server."""
    cluster_autoscaler: ClusterAutoscalerAddon = ClusterAutoscalerAddon()
    """Cluster Autoscaler."""
    karpenter: KarpenterAddon = KarpenterAddon()
    """Karpenter."""
    prometheus: PrometheusAddon = PrometheusAddon()
    """Prometheus."""
    managed_prometheus: ManagedPrometheusAddon = ManagedPrometheusAddon()
    """Amazon Managed Prometheus."""
    grafana: GrafanaAddon = GrafanaAddon()
    """Grafana."""
    neuron_monitor: NeuronMonitorAddon = NeuronMonitorAddon()
    """neuron-monitor."""
    efa_exporter: EfaExporterAddon = EfaExporterAddon()
    """EFA exporter."""
    cloud_watch: CloudWatchAddon = CloudWatchAddon()
    """CloudWatch Container Insights."""
    fluent_bit: FluentBitAddon = FluentBitAddon()
    """Fluent Bit."""
    node_monitoring: NodeMonitoringAddon = NodeMonitoringAddon()
    """EKS node monitoring agent."""
    kueue: KueueAddon = KueueAddon()
    """Kueue."""
    trainer: TrainerAddon = TrainerAddon()
    """Kubeflow Trainer."""
    training_operator: TrainingOperatorAddon = TrainingOperatorAddon()
    """Kubeflow training-operator."""
    slurm: SlurmAddon = SlurmAddon()
    """Slurm."""
    batch: BatchAddon = BatchAddon()
    """AWS Batch."""
    mpi_operator: MpiOperatorAddon = MpiOperatorAddon()
    """MPI operator."""
    kube_ray: KubeRayAddon = KubeRayAddon()
    """KubeRay."""
    leader_worker_set: LeaderWorkerSetAddon = LeaderWorkerSetAddon()
    """LeaderWorkerSet."""
    efs_csi: EfsCsiAddon = EfsCsiAddon()
    """EFS CSI driver."""
    mountpoint_s3: MountpointS3Addon = Field(default=MountpointS3Addon(), alias="mountpointS3")
    """Mountpoint for S3 CSI driver."""
    load_balancer_controller: LoadBalancerControllerAddon = LoadBalancerControllerAddon()
    """AWS Load Balancer Controller."""
    cert_manager: CertManagerAddon = CertManagerAddon()
    """cert-manager."""
    core_dns: CoreDnsAddon = CoreDnsAddon()
    """CoreDNS, which is always there."""
