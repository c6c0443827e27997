"""Kueue's configuration, flavors and queues, as plain data. Source: CRDs and configuration API v1beta2 of Kueue 0.19."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from addons.cluster import Cluster, NeuronGroup
from addons.images import Values
from addons.karpenter import KarpenterSettings
from addons.manifests import TOLERATE_NEURON
from facts.catalogue import NEURON_TYPES
from facts.device_claims import EFA_CLASS, NEURON_CLASS
from facts.names import EFA_RESOURCE, GROUP_LABEL, NEURON_RESOURCE, NEURON_TAINT, POOL_LABEL
from facts.yaml_text import write_yaml

FRAMEWORKS = (
    "batch/job",
    "jobset.x-k8s.io/jobset",
    "kubeflow.org/mpijob",
    "kubeflow.org/pytorchjob",
    "kubeflow.org/tfjob",
    "leaderworkerset.x-k8s.io/leaderworkerset",
    "ray.io/raycluster",
    "ray.io/rayjob",
    "trainer.kubeflow.org/trainjob",
)
"""Kinds that Kueue queues. No Volcano Job; and no pods, Deployments and StatefulSets, which it would hold back in every namespace.

Without these three their webhooks fail open (rendered from the chart): EKS add-ons may be installed beside Kueue.
"""
COVERED = (NEURON_RESOURCE, EFA_RESOURCE, "cpu", "memory")


CLASSES = {NEURON_RESOURCE: NEURON_CLASS, EFA_RESOURCE: EFA_CLASS}
"""DeviceClass whose claimed devices count as the resource of the plug-in: one quota, however a job asks."""


def kueue_configuration(namespace: str, claimed: Collection[str] = ()) -> str:
    """Kueue's configuration, YAML: a text that replaces the chart's as a whole.

    `claimed`: resources whose devices are handed out by claims. Kueue counts claims of classes that it is told of, from templates, and
    refuses those of `allocationMode: All` (kubernetes-sigs/kueue site/content/en/docs/tasks/manage/setup_dra.md, pkg/dra/claims.go, 0.19).
    """
    only = [{"key": "kubernetes.io/metadata.name", "operator": "In", "values": [namespace]}]
    configuration: Values = {
        "apiVersion": "config.kueue.x-k8s.io/v1beta2",
        "kind": "Configuration",
        "health": {"healthProbeBindAddress": ":8081"},
        "metrics": {"bindAddress": ":8443"},
        "webhook": {"port": 9443},
        "leaderElection": {"leaderElect": True, "resourceName": "c1f6bfd2.kueue.x-k8s.io"},
        # Also becomes the selector of its webhooks: nothing outside the namespace waits for Kueue.
        "managedJobsNamespaceSelector": {"matchExpressions": only},
        "manageJobsWithoutQueueName": False,
        "integrations": {"frameworks": list(FRAMEWORKS)},
    }
    if claimed:
        mappings = [{"name": name, "deviceClassNames": [CLASSES[name]]} for name in CLASSES if name in claimed]
        configuration["resources"] = {"deviceClassMappings": mappings}
    return write_yaml(configuration, width=80)


@dataclass(frozen=True)
class Flavor:
    """Nodes that are alike: those of a node group, or of a Karpenter pool."""

    label: tuple[str, str]
    """Key and value of the label that tells its nodes."""
    nodes: NeuronGroup


def flavors(cluster: Cluster) -> dict[str, Flavor]:
    """All Neuron nodes that there are or may be, by the flavor's name: groups by their own, pools with a prefix that no group can have."""
    karpenter = cluster.section(KarpenterSettings)
    found = {name: Flavor((GROUP_LABEL, name), group) for name, group in cluster.node_groups.items()}
    for name, pool in karpenter.neuron_pools.items() if karpenter.enabled else ():
        instance = NEURON_TYPES[pool.instance_type]
        found[f"karpenter.{name}"] = Flavor((POOL_LABEL, name), NeuronGroup(instance, 0, pool.max_nodes, instance.has_efa))
    return found


def flavor_spec(flavor: Flavor) -> Values:
    """`spec` of a ResourceFlavor."""
    key, value = flavor.label
    return {
        "nodeLabels": {key: value},
        "nodeTaints": [{"key": NEURON_TAINT, "value": "true", "effect": "NoSchedule"}],
        # Kueue compares the taint with the job's template, before EKS adds the toleration to its pods.
        "tolerations": [TOLERATE_NEURON],
    }


def cluster_queue_spec(namespace: str, of: Mapping[str, Flavor]) -> Values:
    """`spec` of the ClusterQueue over flavors, each at its largest."""
    return {
        "namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": namespace}},
        "queueingStrategy": "BestEffortFIFO",
        "resourceGroups": [
            {
                "coveredResources": list(COVERED),
                # Names and order of the resources must be those covered.
                "flavors": [{"name": name, "resources": _quotas(flavor.nodes)} for name, flavor in of.items()],
            }
        ],
        "preemption": {"withinClusterQueue": "Never", "reclaimWithinCohort": "Never"},
    }


def _quotas(group: NeuronGroup) -> list[Values]:
    instance, count = group.instance, group.largest_size
    efa_count = instance.efa_count * count if group.uses_efa else 0
    amounts = (instance.chip_count * count, efa_count, instance.vcpu_count * count, f"{instance.memory_gib * count}Gi")
    return [{"name": name, "nominalQuota": amount} for name, amount in zip(COVERED, amounts, strict=True)]
