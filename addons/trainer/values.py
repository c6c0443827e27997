"""Helm values of Kubeflow Trainer, and its runtime, as plain data."""

from addons.images import Values
from addons.manifests import TOLERATE_NEURON
from addons.trainer import TrainerSettings


def trainer_values(settings: TrainerSettings) -> Values:
    """Helm values; keys as in `values.yaml` of the pinned chart."""
    return {
        "manager": {"resources": {"requests": {"cpu": "100m", "memory": "256Mi"}}},
        "jobset": {"install": settings.job_set},
        # The chart's own runtimes are put in, and taken out, by Jobs that download kubectl: without a way to the internet the
        # second one blocks the uninstall.
        "runtimes": {"defaultEnabled": False},
    }


def runtime_spec(image: str, claim_name: str | None) -> Values:
    """`spec` of the ClusterTrainingRuntime. A TrainJob says nodes, `numProcPerNode: 32` and the devices of each node."""
    mounts = [{"name": "shm", "mountPath": "/dev/shm"}]
    volumes: list[Values] = [{"name": "shm", "emptyDir": {"medium": "Memory", "sizeLimit": "64Gi"}}]
    if claim_name is not None:
        mounts.append({"name": "data", "mountPath": "/fsx"})
        volumes.append({"name": "data", "persistentVolumeClaim": {"claimName": claim_name}})
    container = {
        # The name by which the controller finds it.
        "name": "node",
        "image": image,
        "command": ["torchrun"],
        "env": [{"name": "FI_PROVIDER", "value": "efa"}, {"name": "FI_EFA_USE_DEVICE_RDMA", "value": "1"}],
        "volumeMounts": mounts,
    }
    pod = {"restartPolicy": "Never", "containers": [container], "tolerations": [TOLERATE_NEURON], "volumes": volumes}
    job = {
        "name": "node",
        "template": {
            "metadata": {"labels": {"trainer.kubeflow.org/trainjob-ancestor-step": "trainer"}},
            "spec": {"backoffLimit": 0, "template": {"spec": pod}},
        },
    }
    return {
        "mlPolicy": {"numNodes": 1, "torch": {}},
        "template": {"spec": {"network": {"publishNotReadyAddresses": True}, "replicatedJobs": [job]}},
    }
