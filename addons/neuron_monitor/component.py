"""neuron-monitor as a component: a DaemonSet of our own."""

from collections.abc import Sequence
from typing import Any

import pulumi_kubernetes as k8s

from addons.base import Addon
from addons.images import Values
from addons.manifests import daemon_set_spec, own_labels
from addons.neuron_monitor import NAME, PORT
from addons.site import Site
from addons.versions import NEURON_MONITOR_IMAGE
from facts.catalogue import NEURON_TYPES


def neuron_monitor_spec(image: str, instance_types: Sequence[str]) -> Values:
    """`spec` of the DaemonSet.

    Arguments as in AWS's own manifest (aws-neuron-sdk src/k8/k8s-neuron-monitor-daemonset.yml, 2026-08-21), which tolerates nothing and
    knows no trn2; image and memory as in AWS's chart amazon-cloudwatch-observability, which serves over TLS where a certificate is named.
    """
    of_neuron = {"key": "node.kubernetes.io/instance-type", "operator": "In", "values": sorted(instance_types)}
    container = {
        "image": image,
        "command": ["/opt/bin/entrypoint.sh"],
        "args": ["--port", str(PORT), "--neuron-monitor-config", "/opt/aws/neuron/bin/neuron-monitor.conf"],
        "env": [{"name": "GOMEMLIMIT", "value": "320MiB"}],
        "ports": [{"name": "metrics", "containerPort": PORT}],
        "resources": {"requests": {"cpu": "256m", "memory": "128Mi"}, "limits": {"cpu": "500m", "memory": "500Mi"}},
        # It reads the devices.
        "securityContext": {"privileged": True},
    }
    affinity = {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [{"matchExpressions": [of_neuron]}]}}
    return daemon_set_spec(NAME, container, affinity={"nodeAffinity": affinity})


class NeuronMonitor(Addon):
    """Needs the API server only: its pods follow the nodes."""

    def __init__(self, name: str, site: Site) -> None:
        super().__init__("NeuronMonitor", name, site)
        namespace = self.namespace(NAME)
        spec: Any = neuron_monitor_spec(self.image(NEURON_MONITOR_IMAGE), list(NEURON_TYPES))
        k8s.apps.v1.DaemonSet(
            self.named(name),
            metadata={"name": NAME, "namespace": NAME, "labels": own_labels(NAME)},
            spec=spec,
            opts=self.in_cluster(namespace),
        )
        self.register_outputs({})


def make(site: Site) -> Addon:
    """The add-on of a cluster."""
    return NeuronMonitor("neuron-monitor", site)
