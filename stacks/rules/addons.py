"""Rules on add-ons that need, or fight, each other. Each says why."""

from collections.abc import Collection, Iterator

from addons.batch import BatchSettings
from addons.cloudwatch import CloudWatchSettings
from addons.contract import load
from addons.efa import EfaSettings
from addons.fluent_bit import FluentBitSettings
from addons.grafana import GrafanaSettings
from addons.karpenter import KarpenterSettings
from addons.kuberay import KubeRaySettings
from addons.kueue import KueueSettings
from addons.load_balancer_controller import LoadBalancerControllerSettings
from addons.lustre_exporter import LustreExporterSettings
from addons.managed_prometheus import ManagedPrometheusSettings
from addons.mountpoint_s3 import MountpointS3Settings
from addons.mpi_operator import MpiOperatorSettings
from addons.neuron import NeuronSettings
from addons.neuron_monitor import NeuronMonitorSettings
from addons.node_monitoring import NodeMonitoringSettings
from addons.registry import SWITCHED
from addons.slurm import SlurmSettings
from addons.trainer import TrainerSettings
from addons.training_operator import TrainingOperatorSettings
from addons.versions import VOLCANO
from addons.volcano import VolcanoSettings
from facts.catalogue import NEURON_TYPES
from facts.kubernetes_versions import kubernetes_order
from facts.problems import Problem, missing
from facts.regions import partition
from stacks.rules.workloads import NOT_OURS
from stacks.settings import LOG_RETENTION_DAYS, Settings


def _on(settings: Settings, key: str) -> bool:
    return settings.addons.get(key).enabled


def needs(settings: Settings) -> Iterator[Problem]:
    """What an add-on needs is on."""
    for key, declaration in SWITCHED.items():
        for need in declaration.needs if _on(settings, key) else ():
            if not _on(settings, need):
                hint = f"set `addons.{need}.enabled: true`, or switch {declaration.title} off"
                yield Problem(f"addons.{key}.enabled", True, f"{declaration.title} needs {SWITCHED[need].title}", "false", hint)


def device_drivers(settings: Settings) -> Iterator[Problem]:
    """With a DRA driver nothing that counts on the device plug-in is asked for.

    Sources: of the scheduler extension and the detector the pinned chart, rendered; of neuron-monitor
    aws-neuron/aws-neuron-sdk deploy/infrastructure/monitoring.rst (2026-08); of Karpenter the EKS user guide, device-management-neuron
    (static capacity only), and kubernetes-sigs/karpenter#3228 (1.15, behind gates).
    """
    addons, neuron = settings.addons, settings.addons.of(NeuronSettings)
    efa = addons.of(EfaSettings)
    karpenter = addons.of(KarpenterSettings)
    minor = tuple(int(part) for part in settings.control_plane.kubernetes_version.split("."))
    if neuron.enabled and neuron.devices == "dra":
        for key, value, what in (
            (
                "schedulerExtension",
                neuron.scheduler_extension,
                "counts devices of the plug-in (neuron-helm-chart 1.10 renders only one of them)",
            ),
            ("nodeProblemDetector", neuron.node_problem_detector, "is left out in silence by neuron-helm-chart 1.10"),
        ):
            if value:
                wrong = f"beside the DRA driver it {what}"
                yield Problem(f"addons.neuron.{key}", True, wrong, "false", "set it to false, or `addons.neuron.devices: device-plugin`")
        if addons.of(NeuronMonitorSettings).enabled:
            wrong = "neuron-monitor does not support DRA's driver, as its makers say (aws-neuron-sdk, deploy/infrastructure/monitoring.rst)"
            hint = "set it to false, or `addons.neuron.devices: device-plugin`"
            yield Problem("addons.neuronMonitor.enabled", True, wrong, "false", hint)
        dynamic = [name for name, pool in karpenter.neuron_pools.items() if not pool.static]
        if karpenter.enabled and dynamic:
            path = f"addons.karpenter.neuronPools.{dynamic[0]}.static"
            wrong = (
                "Karpenter 1.14 sees no claims, and makes no node for them (EKS user guide, device-management-neuron: static capacity only)"
            )
            yield Problem(path, False, wrong, "true", "set it to true, or `addons.neuron.devices: device-plugin`")
    if efa.enabled and efa.devices == "dra" and minor < (1, 35):
        wrong = "the EFA DRA driver needs Kubernetes 1.35 or later"
        yield Problem(
            "addons.efa.devices", "dra", wrong, "device-plugin", "set it to device-plugin, or raise `controlPlane.kubernetesVersion`"
        )


def repairers(settings: Settings) -> Iterator[Problem]:
    """One of the two replaces broken nodes: EKS, or Neuron's problem detector."""
    neuron = settings.addons.of(NeuronSettings)
    if not (neuron.enabled and neuron.node_recovery):
        return
    if not neuron.node_problem_detector:
        hint = "set `addons.neuron.nodeProblemDetector: true`"
        yield Problem("addons.neuron.nodeRecovery", True, "nodes are replaced by the node problem detector, which is off", "false", hint)
    for name, group in settings.node_groups.items():
        if group.node_repair:
            wrong = "EKS and the node problem detector would both replace the same node, each what the other has just started"
            yield Problem(f"nodeGroups.{name}.nodeRepair", True, wrong, "false", "set it to false, or `addons.neuron.nodeRecovery: false`")


def watchers(settings: Settings) -> Iterator[Problem]:
    """Nothing is read, or sent, twice."""
    addons = settings.addons
    cloud_watch = addons.of(CloudWatchSettings)
    fluent_bit = addons.of(FluentBitSettings)
    neuron_monitor = addons.of(NeuronMonitorSettings)
    if cloud_watch.enabled and cloud_watch.neuron_metrics and neuron_monitor.enabled:
        wrong = "two monitors would read the same Neuron runtime on each node"
        hint = "set it to false, or `addons.neuronMonitor.enabled: false`"
        yield Problem("addons.cloudWatch.neuronMetrics", True, wrong, "one of the two", hint)
    if cloud_watch.enabled and cloud_watch.container_logs and fluent_bit.enabled:
        wrong = "every line of every pod would be sent, and paid for, twice"
        hint = "set it to false, or `addons.fluentBit.enabled: false`"
        yield Problem("addons.cloudWatch.containerLogs", True, wrong, "one of the two", hint)
    if addons.of(ManagedPrometheusSettings).enabled and partition(settings.region) == "aws-cn":
        wrong = "Amazon Managed Prometheus is not offered in China"
        yield Problem(
            "addons.managedPrometheus.enabled",
            True,
            wrong,
            "false",
            "keep metrics longer in the cluster: `addons.prometheus.retentionHours`",
        )
    for key, days in (("cloudWatch", cloud_watch.retention_days), ("fluentBit", fluent_bit.retention_days)):
        if days not in LOG_RETENTION_DAYS:
            allowed = ", ".join(str(known) for known in LOG_RETENTION_DAYS)
            yield Problem(f"addons.{key}.retentionDays", days, "not a retention of CloudWatch Logs", allowed, "take the next larger one")


def queueing(settings: Settings) -> Iterator[Problem]:
    """One layer admits the jobs of a namespace, and gangs have a scheduler that knows them."""
    addons = settings.addons
    kueue = addons.of(KueueSettings)
    volcano = addons.of(VolcanoSettings)
    namespace = kueue.namespace or settings.training.namespace
    if kueue.enabled and volcano.enabled and namespace == settings.training.namespace:
        wrong = "Kueue and Volcano would both admit the same jobs, each waiting for the other"
        hint = "set it to another namespace, which Kueue then makes, or `addons.volcano.enabled: false`"
        if kueue.namespace is None:
            yield missing("addons.kueue.namespace", f"{wrong}; `addons.kueue.namespace` is not set", hint=hint)
        else:
            yield Problem("addons.kueue.namespace", namespace, wrong, hint=hint)
    if kueue.enabled and kueue.namespace in NOT_OURS:
        hint = "take a name of your own"
        yield Problem("addons.kueue.namespace", kueue.namespace, "a namespace that is not Kueue's to make", hint=hint)
    if kueue.enabled and kueue.namespace == settings.training.namespace and not volcano.enabled:
        hint = "remove it: that is the default"
        yield Problem("addons.kueue.namespace", namespace, "the training namespace, which the stack makes already", hint=hint)
    for key, section in (
        ("kubeRay", addons.of(KubeRaySettings)),
        ("trainingOperator", addons.of(TrainingOperatorSettings)),
        ("mpiOperator", addons.of(MpiOperatorSettings)),
    ):
        if section.enabled and section.batch_scheduler == "volcano" and not volcano.enabled:
            wrong, hint = "there is no Volcano to schedule these pods", "set `addons.volcano.enabled: true`, or `none`"
            yield Problem(f"addons.{key}.batchScheduler", "volcano", wrong, "none", hint)


def slurm(settings: Settings) -> Iterator[Problem]:
    """Slurm counts devices that the device plug-in offers, in groups that are there, by one table for all nodes."""
    section = settings.addons.of(SlurmSettings)
    if not section.enabled:
        return
    yield from _lent_groups(settings, "slurm", section.node_groups)
    kinds = {NEURON_TYPES[settings.node_groups[name].instance_type] for name in section.node_groups if name in settings.node_groups}
    if len({(instance.chip, instance.chip_count) for instance in kinds}) > 1:
        wrong = "slurmd ends on nodes with other devices than its one table of them says"
        hint = "name groups of one type, such as trn1.32xlarge and trn1n.32xlarge"
        yield Problem("addons.slurm.nodeGroups", ", ".join(section.node_groups), wrong, "groups with the same devices on each node", hint)


def batch(settings: Settings) -> Iterator[Problem]:
    """Batch counts devices of the device plug-in, in groups that are there and no other scheduler fills, in a namespace it takes."""
    slurm = settings.addons.of(SlurmSettings)
    section, namespace = settings.addons.of(BatchSettings), settings.training.namespace
    if not section.enabled:
        return
    yield from _lent_groups(settings, "batch", section.node_groups)
    for name in section.node_groups:
        if slurm.enabled and name in slurm.node_groups:
            wrong = "Slurm takes all devices of its nodes, and Batch's jobs there would wait for ever"
            yield Problem("addons.batch.nodeGroups", name, wrong, "groups that Slurm has not", "name another group in one of the two")
    if namespace.startswith("kube-"):
        wrong = "a namespace that AWS Batch refuses (Batch API, EksConfiguration)"
        yield Problem("training.namespace", namespace, wrong, "names that do not start with kube-", "take another name")


def _lent_groups(settings: Settings, key: str, node_groups: Collection[str]) -> Iterator[Problem]:
    """A scheduler of its own has nodes, of groups that are there, with devices that its pods can ask for."""
    title, path = SWITCHED[key].title, f"addons.{key}.nodeGroups"
    if not node_groups:
        yield missing(path, f"{title} has no nodes; `{path}` names none", hint=f"`pulumi config set --path 'trn:{path}[0]' NAME`")
    for name in node_groups:
        if name not in settings.node_groups:
            allowed = ", ".join(sorted(settings.node_groups)) or "none: there is no Neuron node group"
            yield Problem(path, name, "no node group of the stack", allowed, "name a key of `nodeGroups`")
    if settings.addons.of(NeuronSettings).devices == "dra":
        wrong = f"{title}'s pods ask for devices of the plug-in, and would wait for ever"
        yield Problem(f"addons.{key}.enabled", True, wrong, "false", "set it to false, or `addons.neuron.devices: device-plugin`")


def buckets(settings: Settings) -> Iterator[Problem]:
    """A driver for buckets knows some."""
    section = settings.addons.of(MountpointS3Settings)
    if section.enabled and not section.buckets:
        hint = "`pulumi config set --path 'trn:addons.mountpointS3.buckets[0]' NAME`"
        yield missing("addons.mountpointS3.buckets", "`addons.mountpointS3` may read no bucket", hint=hint)


def addon_notices(settings: Settings) -> Iterator[str]:
    """Choices that work and may surprise."""
    addons = settings.addons
    grafana = addons.of(GrafanaSettings)
    trainer = addons.of(TrainerSettings)
    batch = addons.of(BatchSettings)
    if grafana.enabled and not addons.of(NeuronMonitorSettings).enabled and addons.of(NeuronSettings).devices == "device-plugin":
        yield "`addons.grafana` is on without `addons.neuronMonitor`: its dashboards of cores and device memory stay empty"
    if grafana.enabled and settings.storage.lustre.enabled and not addons.of(LustreExporterSettings).enabled:
        yield "`addons.grafana` is on without `addons.lustreExporter`: its dashboard of file systems stays empty, and nothing says when Lustre is full"
    minor, listed = settings.control_plane.kubernetes_version, load(VOLCANO).supports["to"]
    if addons.of(VolcanoSettings).enabled and kubernetes_order(minor) > kubernetes_order(listed):
        yield f"`addons.volcano` is on with Kubernetes {minor}: Volcano {VOLCANO.version} lists {listed} and older, and knows nothing that came later"
    if trainer.enabled and not trainer.job_set:
        yield "`addons.trainer.jobSet` is off: TrainJobs stay as they are until there is a JobSet by other means"
    if grafana.enabled and addons.of(ManagedPrometheusSettings).enabled and addons.mirror is not None:
        yield "`addons.grafana` does not read `addons.managedPrometheus`: its plug-in comes from grafana.com, which `addons.mirror` does not hold"
    if batch.enabled and batch.compute_environment_id is None:
        yield "`addons.batch` is on without `computeEnvironmentId`: no node is labelled as its own, and jobs stay RUNNABLE; the output `batchComputeEnvironmentId` has the command that shows it"
    if addons.of(LoadBalancerControllerSettings).enabled:
        yield "`addons.loadBalancerController` is on: load balancers of Services outside the training namespace hold the VPC, delete them before a destroy"
    if (
        addons.of(NodeMonitoringSettings).enabled
        and settings.node_groups
        and not any(group.node_repair for group in settings.node_groups.values())
    ):
        yield "`addons.nodeMonitoring` is on, but no group has `nodeRepair`: nothing acts on what it finds"
