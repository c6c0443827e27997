"""Kubeflow Trainer v2 with JobSet: TrainJobs, and a runtime for torchrun on Neuron nodes."""

from dataclasses import dataclass

import pulumi

from addons.base import TOLERATE_NEURON, Addon, AddonArgs
from addons.declaration import Declaration
from addons.images import Values
from addons.versions import TRAINER
from addons.webhook_retry import retry_on_webhook

NAMESPACE = "kubeflow-system"
API_VERSION = "trainer.kubeflow.org/v1alpha1"
RUNTIME = "torch-neuron"
DECLARATION = Declaration(
    key="trainer",
    title="Kubeflow Trainer",
    purpose="TrainJobs and JobSets; with an image set, a runtime for torchrun on Neuron nodes",
    component="trainer",
    namespace=NAMESPACE,
    nodes="core",
    charts=(TRAINER,),
    kinds=(f"{API_VERSION} ClusterTrainingRuntime",),
    leaves=("the CRD jobsets.jobset.x-k8s.io",),
)


@dataclass(frozen=True)
class TrainerArgs(AddonArgs):
    """What Trainer is made from."""

    job_set: bool = True
    image: str | None = None
    claim_name: str | None = None
    """The file system's claim, where there is one: mounted at /fsx."""


def trainer_values(args: TrainerArgs) -> Values:
    """Helm values; keys as in `values.yaml` of the pinned chart."""
    return {
        "manager": {"resources": {"requests": {"cpu": "100m", "memory": "256Mi"}}},
        "jobset": {"install": args.job_set},
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


class Trainer(Addon):
    """Starts when untainted nodes are there; its runtime goes before its webhook."""

    def __init__(self, name: str, args: TrainerArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("Trainer", name, args, opts)
        release = self.release(TRAINER, namespace=NAMESPACE, values=trainer_values(args), timeout_s=600, after=[self.namespace(NAMESPACE)])
        if args.image is not None:
            self.custom_resource(
                "training-runtime",
                API_VERSION,
                "ClusterTrainingRuntime",
                metadata={"name": RUNTIME, "labels": {"trainer.kubeflow.org/framework": "torch"}},
                spec=runtime_spec(args.image, args.claim_name),
                after=[release],
                hooks=retry_on_webhook(f"{name}-webhook"),
            )
        self.register_outputs({})
