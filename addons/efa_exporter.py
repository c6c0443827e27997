"""An exporter of EFA's hardware counters on every EFA node: traffic, retransmissions, failed work requests."""

from pathlib import Path
from typing import Any

import pulumi
import pulumi_kubernetes as k8s

from addons.base import Addon, AddonArgs, own_labels
from addons.declaration import Declaration
from addons.exporters import daemon_set_spec
from addons.images import Values
from addons.versions import PYTHON_IMAGE
from facts.names import EFA_LABEL

NAME = "efa-exporter"
PORT = 9817
SCRIPT = Path(__file__).parent / "scripts" / "efa_exporter.py"
DECLARATION = Declaration(
    key="efaExporter",
    title="EFA exporter",
    purpose="Metrics of EFA traffic and its failures, which the node exporter does not read",
    component="efa-exporter",
    namespace=NAME,
    nodes="neuron",
    images=(PYTHON_IMAGE,),
)


def efa_exporter_spec(image: str) -> Values:
    """`spec` of the DaemonSet. The only public exporter of these counters has no public image; this one is 60 lines."""
    container = {
        "image": image,
        "command": ["python3", "/opt/efa_exporter.py", str(PORT)],
        "env": [{"name": "EFA_SYSFS", "value": "/host/sys/class/infiniband"}],
        "ports": [{"name": "metrics", "containerPort": PORT}],
        "resources": {"requests": {"cpu": "10m", "memory": "32Mi"}, "limits": {"memory": "96Mi"}},
        "securityContext": {"allowPrivilegeEscalation": False, "readOnlyRootFilesystem": True, "capabilities": {"drop": ["ALL"]}},
        "volumeMounts": [
            {"name": "script", "mountPath": "/opt", "readOnly": True},
            {"name": "sys", "mountPath": "/host/sys", "readOnly": True},
        ],
    }
    volumes = [{"name": "script", "configMap": {"name": NAME}}, {"name": "sys", "hostPath": {"path": "/sys"}}]
    security = {"runAsNonRoot": True, "runAsUser": 65534, "seccompProfile": {"type": "RuntimeDefault"}}
    return daemon_set_spec(NAME, container, nodeSelector={EFA_LABEL: "true"}, securityContext=security, volumes=volumes)


class EfaExporter(Addon):
    """Needs the API server only: its pods follow the nodes."""

    def __init__(self, name: str, args: AddonArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("EfaExporter", name, args, opts)
        namespace = self.namespace(NAME)
        metadata: Any = {"name": NAME, "namespace": NAME, "labels": own_labels(NAME)}
        script = k8s.core.v1.ConfigMap(name, metadata=metadata, data={SCRIPT.name: SCRIPT.read_text()}, opts=self.in_cluster(namespace))
        spec: Any = efa_exporter_spec(self.image(PYTHON_IMAGE))
        k8s.apps.v1.DaemonSet(name, metadata=metadata, spec=spec, opts=self.in_cluster(script))
        self.register_outputs({})
