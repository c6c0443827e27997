"""The Lustre exporter as a component: one pod of our own that mounts the claim and runs `lustre_exporter.py` beside this file."""

from pathlib import Path
from typing import Any

import pulumi_kubernetes as k8s

from addons.base import Addon
from addons.images import Values
from addons.lustre_exporter import NAME
from addons.manifests import own_labels
from addons.site import Site
from addons.versions import PYTHON_IMAGE

PORT = 9818
MOUNT = "/shared"
SCRIPT = Path(__file__).parent / "lustre_exporter.py"


def lustre_exporter_spec(image: str, claim: str) -> Values:
    """`spec` of the Deployment: one pod on a core node, since every client gets the same figures; it asks for no device."""
    container = {
        "name": NAME,
        "image": image,
        "command": ["python3", "/opt/lustre_exporter.py", str(PORT)],
        "env": [{"name": "CLAIM", "value": claim}, {"name": "CLAIM_PATH", "value": MOUNT}],
        "ports": [{"name": "metrics", "containerPort": PORT}],
        "resources": {"requests": {"cpu": "10m", "memory": "32Mi"}, "limits": {"memory": "96Mi"}},
        "securityContext": {"allowPrivilegeEscalation": False, "readOnlyRootFilesystem": True, "capabilities": {"drop": ["ALL"]}},
        "volumeMounts": [
            {"name": "script", "mountPath": "/opt", "readOnly": True},
            {"name": "claim", "mountPath": MOUNT, "readOnly": True},
        ],
    }
    pod = {
        # It does not call the API.
        "automountServiceAccountToken": False,
        # It has nothing to finish, and the claim waits for it; as process 1 it would sit through the usual 30 s.
        "terminationGracePeriodSeconds": 1,
        "securityContext": {"runAsNonRoot": True, "runAsUser": 65534, "seccompProfile": {"type": "RuntimeDefault"}},
        "containers": [container],
        # Read-only in the container alone: a volume that is read-only for the pod would be mounted once more.
        "volumes": [{"name": "script", "configMap": {"name": NAME}}, {"name": "claim", "persistentVolumeClaim": {"claimName": claim}}],
    }
    return {
        "replicas": 1,
        "selector": {"matchLabels": own_labels(NAME)},
        "template": {"metadata": {"labels": own_labels(NAME)}, "spec": pod},
    }


class LustreExporter(Addon):
    """Behind the claim, and gone before it: a claim that a pod mounts cannot be deleted."""

    def __init__(self, name: str, site: Site) -> None:
        super().__init__("LustreExporter", name, site)
        claim = site.cluster.claim_name
        assert claim is not None, "the declaration lets no exporter pass without a claim"
        metadata: Any = {"name": NAME, "namespace": site.cluster.training_namespace, "labels": own_labels(NAME)}
        script = k8s.core.v1.ConfigMap(
            self.named(name), metadata=metadata, data={SCRIPT.name: SCRIPT.read_text()}, opts=self.in_cluster(site.namespace)
        )
        spec: Any = lustre_exporter_spec(self.image(PYTHON_IMAGE), claim)
        # Another file system replaces volume and claim, and the pod with them, which the engine deletes before both. With the claim named
        # here it would make the second Deployment beside the first, of the same name.
        opts = self.in_cluster(script, *site.claim, replace_with=site.volume)
        self.ready.append(k8s.apps.v1.Deployment(self.named(name), metadata=metadata, spec=spec, opts=opts))
        self.register_outputs({})


def make(site: Site) -> Addon:
    """The add-on of a cluster."""
    return LustreExporter("lustre-exporter", site)
