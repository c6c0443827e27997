"""Helm values of Kubeflow Trainer, and its runtime, as plain data."""

from addons.images import Values
from addons.manifests import TOLERATE_NEURON
from addons.trainer import TrainerSettings
from addons.volcano import SCHEDULER

ENVIRONMENT = {
    "FI_PROVIDER": "efa",
    "FI_EFA_USE_DEVICE_RDMA": "1",
    "FI_EFA_FORK_SAFE": "1",
    # Collectives find each other by TCP first, over the interface of the pod.
    "CCOM_SOCKET_IFNAME": "eth0",
    # Workers that share the agent's store lose it when the agent restarts them.
    "TORCH_DISABLE_SHARE_RDZV_TCP_STORE": "1",
}
"""What jobs on Neuron need in any image (aws-neuron/aws-neuron-sdk, EFA and torchrun set-up, 2026-10). The compile cache is on the
shared file system where there is one: each pod would compile the same graphs again, for 40 minutes and more."""


def trainer_values(settings: TrainerSettings) -> Values:
    """Helm values; keys as in `values.yaml` of the pinned chart."""
    return {
        "manager": {"resources": {"requests": {"cpu": "100m", "memory": "256Mi"}}},
        "jobset": {"install": settings.job_set},
        # The chart's own runtimes are put in, and taken out, by Jobs that download kubectl: without a way to the internet the
        # second one blocks the uninstall.
        "runtimes": {"defaultEnabled": False},
    }


def runtime_spec(image: str, claim_name: str | None, *, gang: bool) -> Values:
    """`spec` of the ClusterTrainingRuntime, for PyTorch: JAX is not started by torchrun.

    `gang`: Volcano starts all pods of a TrainJob together, or none; without it, two jobs that each get half of the nodes wait
    for each other for ever. A TrainJob says nodes, the devices of each, and `numProcPerNode`, one for each core: without it Trainer counts CPUs.
    """
    environment = dict(ENVIRONMENT)
    mounts = [{"name": "shm", "mountPath": "/dev/shm"}]
    volumes: list[Values] = [{"name": "shm", "emptyDir": {"medium": "Memory", "sizeLimit": "64Gi"}}]
    if claim_name is not None:
        mounts.append({"name": "data", "mountPath": "/fsx"})
        volumes.append({"name": "data", "persistentVolumeClaim": {"claimName": claim_name}})
        environment["NEURON_COMPILE_CACHE_URL"] = "/fsx/neuron-compile-cache"
    container = {
        # The name by which the controller finds it.
        "name": "node",
        "image": image,
        "command": ["torchrun"],
        "env": [{"name": name, "value": value} for name, value in environment.items()],
        "volumeMounts": mounts,
    }
    pod: Values = {"restartPolicy": "Never", "containers": [container], "tolerations": [TOLERATE_NEURON], "volumes": volumes}
    if gang:
        # The policy below makes the PodGroup and marks the pods with it, and leaves their scheduler as it is
        # (kubeflow/trainer v2.3.0 pkg/runtime/framework/plugins/volcano/volcano.go, EnforcePodGroupPolicy).
        pod["schedulerName"] = SCHEDULER
    job = {
        "name": "node",
        "template": {
            "metadata": {"labels": {"trainer.kubeflow.org/trainjob-ancestor-step": "trainer"}},
            "spec": {"backoffLimit": 0, "template": {"spec": pod}},
        },
    }
    return {
        "mlPolicy": {"numNodes": 1, "torch": {}},
        **({"podGroupPolicy": {"volcano": {}}} if gang else {}),
        "template": {"spec": {"network": {"publishNotReadyAddresses": True}, "replicatedJobs": [job]}},
    }
