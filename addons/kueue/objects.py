"""Kueue's configuration, flavors and queues, as plain data. Source: CRDs and configuration API v1beta2 of Kueue 0.19."""

from collections.abc import Mapping

import yaml

from addons.cluster import NeuronGroup
from addons.images import Values
from addons.manifests import TOLERATE_NEURON
from facts.names import EFA_RESOURCE, GROUP_LABEL, NEURON_RESOURCE, NEURON_TAINT

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


def kueue_configuration(namespace: str) -> str:
    """Kueue's configuration, YAML: a text that replaces the chart's as a whole."""
    only = [{"key": "kubernetes.io/metadata.name", "operator": "In", "values": [namespace]}]
    configuration = {
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
    return yaml.safe_dump(configuration, sort_keys=False)


def flavor_spec(group: str) -> Values:
    """`spec` of the ResourceFlavor of a node group."""
    return {
        "nodeLabels": {GROUP_LABEL: group},
        "nodeTaints": [{"key": NEURON_TAINT, "value": "true", "effect": "NoSchedule"}],
        # Kueue compares the taint with the job's template, before EKS adds the toleration to its pods.
        "tolerations": [TOLERATE_NEURON],
    }


def cluster_queue_spec(namespace: str, node_groups: Mapping[str, NeuronGroup]) -> Values:
    """`spec` of the ClusterQueue over the flavors of all node groups, each at its largest."""
    return {
        "namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": namespace}},
        "queueingStrategy": "BestEffortFIFO",
        "resourceGroups": [
            {
                "coveredResources": list(COVERED),
                # Names and order of the resources must be those covered.
                "flavors": [{"name": name, "resources": _quotas(group)} for name, group in node_groups.items()],
            }
        ],
        "preemption": {"withinClusterQueue": "Never", "reclaimWithinCohort": "Never"},
    }


def _quotas(group: NeuronGroup) -> list[Values]:
    instance, count = group.instance, group.largest_size
    efa_count = instance.efa_count * count if group.uses_efa else 0
    amounts = (instance.chip_count * count, efa_count, instance.vcpu_count * count, f"{instance.memory_gib * count}Gi")
    return [{"name": name, "nominalQuota": amount} for name, amount in zip(COVERED, amounts, strict=True)]
