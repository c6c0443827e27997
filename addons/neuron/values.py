"""Helm values of Neuron's chart, as plain data."""

from addons.images import Values
from addons.manifests import TOLERATE_NEURON
from addons.neuron import NeuronSettings
from addons.versions import NEURON_SCHEDULER_IMAGE, NEURON_SCHEDULER_TAGS


def neuron_values(settings: NeuronSettings, kubernetes_version: str) -> Values:
    """Helm values; keys as in `values.yaml` of the pinned chart."""
    if settings.devices == "dra":
        # The chart would drop the device plug-in and the detector in silence; what is not to be is switched off by name.
        return {"devicePlugin": {"enabled": False}, "npd": {"enabled": False}, "draDriver": {"enabled": True}}
    values: Values = {
        "devicePlugin": {
            "enabled": True,
            # The chart's default list, and its order: a list given replaces it whole.
            "tolerations": [
                {"key": "CriticalAddonsOnly", "operator": "Exists"},
                TOLERATE_NEURON,
                {
                    "key": "sagemaker.amazonaws.com/node-health-status",
                    "operator": "Equal",
                    "value": "Unschedulable",
                    "effect": "NoSchedule",
                },
            ],
            # Without requests the plug-in is the first pod evicted, and with it go the devices of the node.
            "resources": {"requests": {"cpu": "10m", "memory": "64Mi"}},
        },
        "scheduler": {"enabled": settings.scheduler_extension},
        # On by default in the chart, into a namespace that is not there: a plain install fails.
        "npd": {"enabled": settings.node_problem_detector},
    }
    if settings.node_recovery:
        values["npd"]["nodeRecovery"] = {"enabled": True}
    if settings.scheduler_extension:
        # The chart's kube-scheduler is 1.31; two minors is the skew Kubernetes supports.
        image = {"repository": NEURON_SCHEDULER_IMAGE, "tag": NEURON_SCHEDULER_TAGS[kubernetes_version]}
        small = {"requests": {"cpu": "100m", "memory": "128Mi"}}
        values["scheduler"] |= {"resources": small, "customScheduler": {"image": image, "resources": small}}
    return values
