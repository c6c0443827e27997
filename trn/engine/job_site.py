"""A stack's configuration as jobs meet it."""

from collections.abc import Mapping
from datetime import timedelta

from addons.batch import BatchSettings
from addons.efa import EfaSettings
from addons.etcd import EtcdSettings
from addons.etcd.manifests import CLIENT, PORT
from addons.karpenter import KarpenterNeuronPool, KarpenterSettings
from addons.kuberay import KubeRaySettings
from addons.mpi_operator import MpiOperatorSettings
from addons.neuron import NeuronSettings
from addons.registry import SWITCHED
from addons.slurm import SlurmSettings
from addons.training_operator import TrainingOperatorSettings
from addons.volcano import VolcanoSettings
from facts.capacity_blocks import KARPENTER_DRAIN, Use
from facts.catalogue import CORE_TYPES, NEURON_TYPES
from facts.names import CORE_GROUP, EFA_LABEL
from facts.node_labels import of_karpenter, of_managed_group, well_known
from stacks.cluster import cluster_of
from stacks.settings import CoreNodes, Settings, largest_size, neuron_labels, uses_efa
from training.site import JobQueue, Nodes, Site

GROUPING: Mapping[str, type[KubeRaySettings | MpiOperatorSettings | TrainingOperatorSettings]] = {
    "kubeRay": KubeRaySettings,
    "mpiOperator": MpiOperatorSettings,
    "trainingOperator": TrainingOperatorSettings,
}
"""Add-ons whose operators can make PodGroups themselves, by key."""


def site_of(settings: Settings, stack: str) -> Site:
    """What the configuration gives to jobs.

    Groups whose devices Slurm holds are left out: no pod of another job finds room there.
    """
    addons = settings.addons
    volcano, karpenter = addons.of(VolcanoSettings), addons.of(KarpenterSettings)
    cluster = cluster_of(settings)
    slurm = addons.of(SlurmSettings)
    taken = slurm.node_groups if slurm.enabled else ()
    efa, neuron = addons.of(EfaSettings), addons.of(NeuronSettings)
    groups = {name: _group(settings, name, efa.enabled) for name in settings.node_groups}
    batch = addons.of(BatchSettings)
    minor = settings.control_plane.kubernetes_version
    pools = {
        name: _pool(settings, name, pool, f"{minor}.0-{karpenter.ami_version[1:]}", efa.enabled)
        for name, pool in karpenter.neuron_pools.items()
    }
    parents = {queue.parent for queue in volcano.queues.values()}
    queues = {name: JobQueue(name, name not in parents, queue.capability) for name, queue in volcano.queues.items()}
    lustre = settings.storage.lustre
    return Site(
        cluster=settings.name,
        stack=stack,
        region=settings.region,
        namespace=settings.training.namespace,
        claim=lustre.claim_name if lustre.enabled else None,
        node_groups={name: nodes for name, nodes in groups.items() if name not in taken},
        pools=pools if karpenter.enabled else {},
        core=_core(settings.core_nodes),
        queues=queues if volcano.enabled else {},
        toolchain=settings.training.toolchain,
        devices=neuron.devices if neuron.enabled else None,
        efa_devices=efa.devices,
        gang=volcano.enabled,
        own_gangs=frozenset(key for key, settings_of in GROUPING.items() if addons.of(settings_of).batch_scheduler == "volcano"),
        hyper_nodes=volcano.enabled and volcano.topology,
        etcd=f"{CLIENT}:{PORT}" if addons.of(EtcdSettings).enabled else None,
        mirror=addons.mirror,
        addons=frozenset(key for key, declaration in SWITCHED.items() if declaration.is_on(cluster)),
        slurm_groups={name: groups[name] for name in taken},
        batch_groups=frozenset(batch.node_groups if batch.enabled else ()),
    )


def _core(core: CoreNodes) -> Nodes:
    """The ordinary nodes."""
    return Nodes(CORE_GROUP, CORE_TYPES[core.instance_type], core.desired_size, core.max_size, uses_efa=False)


def _group(settings: Settings, name: str, offers_efa: bool) -> Nodes:
    group = settings.node_groups[name]
    instance = NEURON_TYPES[group.instance_type]
    own = {key: (value,) for key, value in neuron_labels(group).items()}
    return Nodes(
        name=name,
        instance=instance,
        size=group.size,
        largest_size=largest_size(group),
        uses_efa=uses_efa(group),
        offers_efa=offers_efa,
        release_version=group.release_version,
        logical_core_size=group.logical_core_size,
        block=Use(block.window, timedelta(minutes=block.checkpoint_minutes)) if (block := group.capacity_block) else None,
        hours=group.schedule.hours if group.schedule is not None else None,
        labels={**own, **well_known(instance, settings.region, settings.zones_of(group)), **of_managed_group(name, group.capacity_type)},
    )


def _pool(settings: Settings, name: str, pool: KarpenterNeuronPool, release: str, offers_efa: bool) -> Nodes:
    instance = NEURON_TYPES[pool.instance_type]
    return Nodes(
        name=name,
        instance=instance,
        size=pool.max_nodes if pool.static else 0,
        largest_size=pool.max_nodes,
        uses_efa=instance.has_efa,
        offers_efa=offers_efa,
        release_version=release,
        is_pool=True,
        block=Use(pool.capacity_block.window, KARPENTER_DRAIN) if pool.capacity_block is not None else None,
        labels={
            **({EFA_LABEL: ("true",)} if instance.has_efa else {}),
            **well_known(instance, settings.region, (pool.zone_id or settings.network.zones[0],)),
            **of_karpenter(name, instance, pool.capacity_type),
        },
    )
