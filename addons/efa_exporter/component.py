"""The EFA exporter as a component: a DaemonSet of our own that runs `efa_exporter.py` beside this file."""

from pathlib import Path
from typing import Any

import pulumi_kubernetes as k8s

from addons.base import Addon
from addons.efa_exporter import NAME
from addons.images import Values
from addons.manifests import daemon_set_spec, own_labels
from addons.site import Site
from addons.versions import PYTHON_IMAGE
from facts.names import EFA_LABEL

PORT = 9817
SCRIPT = Path(__file__).parent / "efa_exporter.py"


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

    def __init__(self, name: str, site: Site) -> None:
        super().__init__("EfaExporter", name, site)
        namespace = self.namespace(NAME)
        metadata: Any = {"name": NAME, "namespace": NAME, "labels": own_labels(NAME)}
        script = k8s.core.v1.ConfigMap(
            self.named(name), metadata=metadata, data={SCRIPT.name: SCRIPT.read_text()}, opts=self.in_cluster(namespace)
        )
        spec: Any = efa_exporter_spec(self.image(PYTHON_IMAGE))
        k8s.apps.v1.DaemonSet(self.named(name), metadata=metadata, spec=spec, opts=self.in_cluster(script))
        self.register_outputs({})


def make(site: Site) -> Addon:
    """The add-on of a cluster."""
    return EfaExporter("efa-exporter", site)
