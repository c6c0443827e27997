"""etcd's objects, as plain data: a StatefulSet of our own, since no maintained chart has a free licence."""

from addons.core import DEFAULT_STORAGE_CLASS
from addons.images import Values
from addons.manifests import own_labels
from addons.versions import ETCD_IMAGE

SERVER, CLIENT, PORT, PEER_PORT = "etcd-server", "etcd-client", 2379, 2380
"""Names and port that TorchX expects."""
LABELS = own_labels("etcd")
DATA_DIRECTORY = "/var/lib/etcd"
_USER = 65532


def stateful_set_spec(*, persistent: bool, image: str = ETCD_IMAGE) -> Values:
    """`spec` of the StatefulSet: one replica, since a rendezvous store needs no quorum and a restart only ends a rendezvous."""
    environment = {
        "ETCD_NAME": SERVER,
        "ETCD_DATA_DIR": DATA_DIRECTORY,
        # Off by default in 3.5 and gone in 3.6; python-etcd speaks nothing else.
        "ETCD_ENABLE_V2": "true",
        "ETCD_LISTEN_CLIENT_URLS": f"http://0.0.0.0:{PORT}",
        "ETCD_ADVERTISE_CLIENT_URLS": f"http://{SERVER}:{PORT}",
        "ETCD_LISTEN_PEER_URLS": f"http://0.0.0.0:{PEER_PORT}",
        "ETCD_INITIAL_ADVERTISE_PEER_URLS": f"http://{SERVER}:{PEER_PORT}",
        "ETCD_INITIAL_CLUSTER": f"{SERVER}=http://{SERVER}:{PEER_PORT}",
        "ETCD_INITIAL_CLUSTER_STATE": "new",
    }
    probe = {"httpGet": {"path": "/health", "port": PORT}, "periodSeconds": 10}
    container: Values = {
        "name": "etcd",
        "image": image,
        "command": ["etcd"],
        "env": [{"name": key, "value": value} for key, value in environment.items()],
        "ports": [{"name": "client", "containerPort": PORT}, {"name": "peer", "containerPort": PEER_PORT}],
        "readinessProbe": probe,
        "livenessProbe": {**probe, "initialDelaySeconds": 15},
        "resources": {"requests": {"cpu": "100m", "memory": "128Mi"}, "limits": {"memory": "512Mi"}},
        "securityContext": {"allowPrivilegeEscalation": False, "readOnlyRootFilesystem": True, "capabilities": {"drop": ["ALL"]}},
        "volumeMounts": [{"name": "data", "mountPath": DATA_DIRECTORY}],
    }
    pod: Values = {
        "securityContext": {"runAsNonRoot": True, "runAsUser": _USER, "fsGroup": _USER, "seccompProfile": {"type": "RuntimeDefault"}},
        "automountServiceAccountToken": False,
        "containers": [container],
    }
    spec: Values = {
        "serviceName": SERVER,
        "replicas": 1,
        "selector": {"matchLabels": LABELS},
        "template": {"metadata": {"labels": LABELS}, "spec": pod},
    }
    if persistent:
        claim = {"accessModes": ["ReadWriteOnce"], "storageClassName": DEFAULT_STORAGE_CLASS, "resources": {"requests": {"storage": "8Gi"}}}
        spec["volumeClaimTemplates"] = [{"metadata": {"name": "data"}, "spec": claim}]
        # The claim would outlive the set, and its volume the cluster.
        spec["persistentVolumeClaimRetentionPolicy"] = {"whenDeleted": "Delete", "whenScaled": "Retain"}
    else:
        pod["volumes"] = [{"name": "data", "emptyDir": {}}]
    return spec
