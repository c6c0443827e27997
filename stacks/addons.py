"""Which settings make which add-on, and in which order: what disturbs others comes last and goes first."""

from collections.abc import Callable, Mapping
from typing import Any

import pulumi

from addons import cloudwatch, csi_drivers, node_monitoring
from addons.base import Addon, AddonArgs
from addons.batch import Batch, BatchArgs
from addons.cert_manager import CertManager
from addons.cloudwatch import CloudWatch, CloudWatchArgs
from addons.cluster_autoscaler import ClusterAutoscaler, ClusterAutoscalerArgs
from addons.csi_drivers import CsiDriver, CsiDriverArgs
from addons.efa import Efa, EfaArgs
from addons.efa_exporter import EfaExporter
from addons.etcd import Etcd, EtcdArgs
from addons.fluent_bit import FluentBit, FluentBitArgs
from addons.grafana import Grafana, GrafanaArgs, WorkspaceArgs
from addons.karpenter import GeneralPoolArgs, Karpenter, KarpenterArgs
from addons.karpenter_pools import NeuronPoolArgs
from addons.kuberay import KubeRay, KubeRayArgs
from addons.kueue import Kueue, KueueArgs
from addons.kueue_objects import FlavorArgs
from addons.leader_worker_set import LeaderWorkerSet
from addons.load_balancer_controller import LoadBalancerController, LoadBalancerControllerArgs
from addons.managed_prometheus import ManagedPrometheus, ManagedPrometheusArgs
from addons.metrics_server import MetricsServer
from addons.mpi_operator import MpiOperator, MpiOperatorArgs
from addons.neuron import Neuron, NeuronArgs, node_recovery_account
from addons.neuron_monitor import NeuronMonitor
from addons.node_monitoring import NodeMonitoring, NodeMonitoringArgs
from addons.prometheus import Prometheus, PrometheusArgs
from addons.prometheus_values import PrometheusValuesArgs
from addons.registry import SWITCHED
from addons.slurm import Slurm, SlurmArgs
from addons.slurm_values import PartitionArgs, SlurmValuesArgs
from addons.trainer import Trainer, TrainerArgs
from addons.training_operator import TrainingOperator, TrainingOperatorArgs
from addons.versions import managed_addon_version
from addons.volcano import QueueArgs, Volcano, VolcanoArgs
from components.identity import ServiceAccount
from facts.catalogue import NEURON_TYPES
from facts.policies.storage import efs_csi_policy, mountpoint_s3_policy
from facts.regions import partition
from stacks.node_groups import efa_instance_types
from stacks.section import attribute
from stacks.settings import Settings, largest_size, uses_efa
from stacks.site import Site

Maker = Callable[[Site], Addon]


def make_early_addons(site: Site) -> None:
    """Those that must be there before the training namespace, and outlive it."""
    for key in (key for key in MAKERS if is_on(site.settings, key) and SWITCHED[key].early):
        site.made[key] = MAKERS[key](site)


def make_addons(site: Site) -> None:
    """All others that are on; the fenced ones one after the other, behind all of them."""
    on = [key for key in MAKERS if is_on(site.settings, key) and key not in site.made]
    for key in (key for key in on if not SWITCHED[key].fenced):
        site.made[key] = MAKERS[key](site)
    for key in (key for key in on if SWITCHED[key].fenced):
        site.made[key] = MAKERS[key](site)


def is_on(settings: Settings, key: str) -> bool:
    """Whether an add-on with a switch is on, and has something to do."""
    if key == "efa" and not efa_instance_types(settings):
        return False
    return bool(getattr(settings.addons, attribute(key)).enabled)


def _neuron(site: Site) -> Addon:
    section = site.settings.addons.neuron
    args = NeuronArgs(
        site.kubernetes_version,
        section.scheduler_extension,
        section.node_problem_detector,
        dra=section.devices == "dra",
        node_recovery=node_recovery_account(site.name, site.settings.region) if section.node_recovery else None,
        mirror=site.mirror,
    )
    return Neuron("neuron", args, site.kubernetes, control_plane_name=site.control_plane_name)


def _efa(site: Site) -> Addon:
    return Efa(
        "efa", EfaArgs(efa_instance_types(site.settings), site.settings.addons.efa.devices == "dra", mirror=site.mirror), site.kubernetes
    )


def _volcano(site: Site) -> Addon:
    section = site.settings.addons.volcano
    args = VolcanoArgs(
        replicas=section.replicas,
        image_registry=section.image_registry,
        autoscaled=autoscales_neuron(site.settings),
        queues={
            name: QueueArgs(queue.weight, queue.reclaimable, queue.capability, queue.parent, queue.deserved)
            for name, queue in section.queues.items()
        },
        networks=[name for name, group in site.settings.node_groups.items() if section.topology and uses_efa(group)],
        mirror=site.mirror,
    )
    return Volcano("volcano", args, site.kubernetes)


def autoscales_neuron(settings: Settings) -> bool:
    """Whether anything adds Neuron nodes for jobs that wait."""
    groups = any(group.autoscaled for group in settings.node_groups.values())
    karpenter = settings.addons.karpenter
    return groups or (karpenter.enabled and any(not pool.static for pool in karpenter.neuron_pools.values()))


def _etcd(site: Site) -> Addon:
    persistent = site.settings.addons.etcd.persistent
    after: list[pulumi.Resource] = [site.namespace, site.default_class] if persistent else [site.namespace]
    args = EtcdArgs(site.settings.training.namespace, persistent, mirror=site.mirror)
    return Etcd("etcd", args, site.kubernetes, after=after)


def _metrics_server(site: Site) -> Addon:
    return MetricsServer("metrics-server", AddonArgs(mirror=site.mirror), site.kubernetes)


def _cluster_autoscaler(site: Site) -> Addon:
    section = site.settings.addons.cluster_autoscaler
    args = ClusterAutoscalerArgs(
        site.name,
        site.settings.region,
        site.kubernetes_version,
        section.idle_minutes,
        section.longest_start_minutes,
        mirror=site.mirror,
    )
    return ClusterAutoscaler("cluster-autoscaler", args, site.control_plane_name, site.kubernetes)


def _karpenter(site: Site) -> Addon:
    section, zones = site.settings.addons.karpenter, site.settings.network.zones
    pools = {
        name: NeuronPoolArgs(
            instance=NEURON_TYPES[pool.instance_type],
            max_nodes=pool.max_nodes,
            zone_id=pool.zone_id or zones[0],
            subnet_id=site.node_subnets[pool.zone_id or zones[0]].id,
            capacity_type=pool.capacity_type,
            capacity_reservation_id=pool.capacity_reservation_id,
            static=pool.static,
        )
        for name, pool in section.neuron_pools.items()
    }
    general = section.general_pool
    subnet_ids = [subnet.id for subnet in site.node_subnets.values()]
    args = KarpenterArgs(
        cluster_name=site.name,
        region=site.settings.region,
        ami_version=section.ami_version,
        control_plane_name=site.control_plane_name,
        security_group_ids=site.node_security_group_ids,
        tags=site.tags,
        neuron_pools=pools,
        general_pool=GeneralPoolArgs(general.max_vcpu, general.spot, subnet_ids) if general.enabled else None,
        mirror=site.mirror,
    )
    return Karpenter("karpenter", args, site.kubernetes)


def _managed_prometheus(site: Site) -> Addon:
    args = ManagedPrometheusArgs(site.name, site.settings.region, site.control_plane_name, mirror=site.mirror)
    return ManagedPrometheus("managed-prometheus", args, site.kubernetes)


def _prometheus(site: Site) -> Addon:
    section, workspace = site.settings.addons.prometheus, site.made.get("managedPrometheus")
    values = PrometheusValuesArgs(
        cluster_name=site.name,
        region=site.settings.region,
        retention_hours=section.retention_hours,
        alertmanager=section.alertmanager,
        remote_write_url=workspace.remote_write_url if isinstance(workspace, ManagedPrometheus) else None,
    )
    args = PrometheusArgs(values, mirror=site.mirror)
    return Prometheus("prometheus", args, site.kubernetes, after=site.ready("managedPrometheus"))


def _grafana(site: Site) -> Addon:
    prometheus = site.made["prometheus"]
    assert isinstance(prometheus, Prometheus)
    workspace, read = site.made.get("managedPrometheus"), None
    # By a plug-in from grafana.com, which a cluster with a mirror is taken not to reach.
    if isinstance(workspace, ManagedPrometheus) and site.mirror is None:
        read = WorkspaceArgs(site.name, site.settings.region, site.control_plane_name, workspace.arn, workspace.endpoint)
    args = GrafanaArgs(site.settings.addons.grafana.admin_secret, read, mirror=site.mirror)
    return Grafana("grafana", args, prometheus.namespace_resource, site.kubernetes)


def _neuron_monitor(site: Site) -> Addon:
    return NeuronMonitor("neuron-monitor", AddonArgs(mirror=site.mirror), site.kubernetes)


def _efa_exporter(site: Site) -> Addon:
    return EfaExporter("efa-exporter", AddonArgs(mirror=site.mirror), site.kubernetes)


def _cloud_watch(site: Site) -> Addon:
    section = site.settings.addons.cloud_watch
    args = CloudWatchArgs(
        site.name,
        site.settings.region,
        managed_addon_version(cloudwatch.EKS_NAME, site.kubernetes_version),
        site.control_plane_name,
        section.neuron_metrics,
        section.container_logs,
        section.retention_days,
        mirror=site.mirror,
    )
    return CloudWatch("cloudwatch", args, site.aws, after=[site.core])


def _fluent_bit(site: Site) -> Addon:
    section = site.settings.addons.fluent_bit
    args = FluentBitArgs(site.name, site.settings.region, section.retention_days, section.s3_bucket, mirror=site.mirror)
    return FluentBit("fluent-bit", args, site.control_plane_name, site.kubernetes)


def _node_monitoring(site: Site) -> Addon:
    version = managed_addon_version(node_monitoring.EKS_NAME, site.kubernetes_version)
    return NodeMonitoring("node-monitoring", NodeMonitoringArgs(version, site.control_plane_name, mirror=site.mirror), site.aws)


def _kueue(site: Site) -> Addon:
    settings = site.settings
    own = settings.addons.kueue.namespace
    flavors = {}
    for name, group in settings.node_groups.items():
        instance, count = NEURON_TYPES[group.instance_type], largest_size(group)
        flavors[name] = FlavorArgs(
            device_count=instance.chip_count * count,
            efa_count=instance.efa_count * count if uses_efa(group) else 0,
            cpu_count=instance.vcpu_count * count,
            memory_gib=instance.memory_gib * count,
        )
    args = KueueArgs(own or settings.training.namespace, own is not None, flavors, mirror=site.mirror)
    return Kueue("kueue", args, site.kubernetes, after=[*site.ready(*site.made), site.namespace])


def _trainer(site: Site) -> Addon:
    section, lustre = site.settings.addons.trainer, site.settings.storage.lustre
    args = TrainerArgs(section.job_set, section.image, lustre.claim_name if lustre.enabled else None, mirror=site.mirror)
    return Trainer("trainer", args, site.kubernetes)


def _kube_ray(site: Site) -> Addon:
    volcano = site.settings.addons.kube_ray.batch_scheduler == "volcano"
    return KubeRay("kuberay", KubeRayArgs(volcano, mirror=site.mirror), site.kubernetes)


def _training_operator(site: Site) -> Addon:
    volcano = site.settings.addons.training_operator.batch_scheduler == "volcano"
    args = TrainingOperatorArgs(volcano, mirror=site.mirror)
    return TrainingOperator("training-operator", args, site.kubernetes, after=site.ready("volcano") if volcano else [])


def _mpi_operator(site: Site) -> Addon:
    volcano = site.settings.addons.mpi_operator.batch_scheduler == "volcano"
    return MpiOperator("mpi-operator", MpiOperatorArgs(volcano, mirror=site.mirror), site.kubernetes)


def _leader_worker_set(site: Site) -> Addon:
    return LeaderWorkerSet("leader-worker-set", AddonArgs(mirror=site.mirror), site.kubernetes)


def _efs_csi(site: Site) -> Addon:
    region = site.settings.region
    policy = efs_csi_policy(partition(region), region)
    account = ServiceAccount(site.name, region, csi_drivers.NAMESPACE, csi_drivers.EFS_ACCOUNT, "efs-csi", policy=policy)
    return _csi_driver(site, "efs-csi", csi_drivers.EFS, account, {})


def _mountpoint_s3(site: Site) -> Addon:
    section, region = site.settings.addons.mountpoint_s3, site.settings.region
    policy = mountpoint_s3_policy(partition(region), section.buckets, writable=section.writable)
    account = ServiceAccount(site.name, region, csi_drivers.NAMESPACE, csi_drivers.S3_ACCOUNT, "mountpoint-s3", policy=policy)
    return _csi_driver(site, "mountpoint-s3", csi_drivers.S3, account, csi_drivers.TOLERATE_ALL)


def _csi_driver(site: Site, name: str, eks_name: str, account: ServiceAccount, configuration: Mapping[str, Any]) -> Addon:
    version = managed_addon_version(eks_name, site.kubernetes_version)
    args = CsiDriverArgs(eks_name, version, site.control_plane_name, account, configuration, mirror=site.mirror)
    return CsiDriver(name, args, site.aws, after=[site.core])


def _load_balancer_controller(site: Site) -> Addon:
    args = LoadBalancerControllerArgs(site.name, site.settings.region, site.vpc_id, mirror=site.mirror)
    return LoadBalancerController("load-balancer-controller", args, site.control_plane_name, site.kubernetes)


def _cert_manager(site: Site) -> Addon:
    return CertManager("cert-manager", AddonArgs(mirror=site.mirror), site.kubernetes)


def _slurm(site: Site) -> Addon:
    settings, section = site.settings, site.settings.addons.slurm
    plugged = settings.addons.efa.enabled and settings.addons.efa.devices == "device-plugin"
    partitions = {}
    for name in section.node_groups:
        group = settings.node_groups[name]
        instance = NEURON_TYPES[group.instance_type]
        partitions[name] = PartitionArgs(instance, group.size, instance.efa_count if plugged and uses_efa(group) else 0)
    claim_name = settings.storage.lustre.claim_name if settings.storage.lustre.enabled else None
    cluster = SlurmValuesArgs(site.name, partitions, claim_name, section.ssh_keys)
    args = SlurmArgs(settings.training.namespace, cluster, mirror=site.mirror)
    after = [site.namespace, site.default_class, *site.claim]
    return Slurm("slurm", args, site.kubernetes, certificates=site.ready("certManager"), after=after)


def _batch(site: Site) -> Addon:
    settings, section = site.settings, site.settings.addons.batch
    args = BatchArgs(
        site.name,
        settings.region,
        site.control_plane_name,
        site.control_plane_arn,
        settings.training.namespace,
        section.image,
        {name: NEURON_TYPES[settings.node_groups[name].instance_type] for name in section.node_groups},
        mirror=site.mirror,
    )
    return Batch("batch", args, site.kubernetes, after=[site.namespace])


MAKERS: dict[str, Maker] = {
    "neuron": _neuron,
    "efa": _efa,
    "volcano": _volcano,
    "etcd": _etcd,
    "metricsServer": _metrics_server,
    "clusterAutoscaler": _cluster_autoscaler,
    "karpenter": _karpenter,
    "managedPrometheus": _managed_prometheus,
    "prometheus": _prometheus,
    "grafana": _grafana,
    "neuronMonitor": _neuron_monitor,
    "efaExporter": _efa_exporter,
    "cloudWatch": _cloud_watch,
    "fluentBit": _fluent_bit,
    "nodeMonitoring": _node_monitoring,
    "trainer": _trainer,
    "trainingOperator": _training_operator,
    "mpiOperator": _mpi_operator,
    "kubeRay": _kube_ray,
    "leaderWorkerSet": _leader_worker_set,
    "efsCsi": _efs_csi,
    "mountpointS3": _mountpoint_s3,
    "loadBalancerController": _load_balancer_controller,
    "certManager": _cert_manager,
    "slurm": _slurm,
    "batch": _batch,
    "kueue": _kueue,
}
"""By key, in the order in which they are made: what an add-on looks for in `Site.made` stands before it."""
