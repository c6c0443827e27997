"""Sections of schedulers and operators of training jobs, beside Volcano."""

from typing import Literal

from pydantic import Field

from stacks.section import KUBERNETES_NAME, Section


class KueueAddon(Section):
    """Kueue: quotas for whole jobs."""

    enabled: bool = False
    """Install Kueue, with a flavor for each Neuron node group and the queue `training` over all of them."""
    namespace: str | None = Field(default=None, pattern=f"^{KUBERNETES_NAME}$")
    """Namespace of its jobs. Without it, `training.namespace`; beside Volcano it must be another, since both would admit the same pods."""


class TrainerAddon(Section):
    """Kubeflow Trainer v2."""

    enabled: bool = False
    """TrainJobs."""
    job_set: bool = True
    """Install JobSet with it. Only off where JobSet is there by other means: a second one is refused, since both bring the ClusterRole `jobset-controller`."""
    image: str | None = None
    """Image of the runtime `torch-neuron`. Without it no runtime is made, and TrainJobs need one of yours."""


class TrainingOperatorAddon(Section):
    """Kubeflow training-operator 1.9."""

    enabled: bool = False
    """PyTorchJobs and TFJobs. The project is frozen: for jobs that are there already; new ones are TrainJobs of `addons.trainer`."""
    batch_scheduler: Literal["none", "volcano"] = "none"
    """`volcano` starts all pods of a job together, or none."""


class MpiOperatorAddon(Section):
    """MPI operator v2beta1."""

    enabled: bool = False
    """MPIJobs, for Horovod."""
    batch_scheduler: Literal["none", "volcano"] = "none"
    """`volcano` starts launcher and workers together; set `schedulingPolicy.minAvailable` to the number of workers."""


class KubeRayAddon(Section):
    """KubeRay."""

    enabled: bool = False
    """Ray clusters and jobs."""
    batch_scheduler: Literal["none", "volcano"] = "none"
    """`volcano` starts all pods of a Ray cluster together, or none."""


class SlurmAddon(Section):
    """Slurm."""

    enabled: bool = False
    """Slurm in the training namespace, with a partition for each node group named."""
    node_groups: tuple[str, ...] = ()
    """Node groups whose nodes Slurm takes, whole: other jobs find no free devices there. At least one; the first is the default partition."""
    ssh_keys: tuple[str, ...] = ()
    """Public keys that may log in as root to the login pod, by `kubectl port-forward`. Without any, use `kubectl exec`."""


class BatchAddon(Section):
    """AWS Batch."""

    enabled: bool = False
    """A compute environment over the node groups named, with a queue; both bear the cluster's name. The account needs Batch's service-linked role: `aws iam create-service-linked-role --aws-service-name batch.amazonaws.com`."""
    node_groups: tuple[str, ...] = ()
    """Node groups whose nodes Batch may use. At least one. Their nodes stay the stack's: Batch starts and ends none."""
    compute_environment_id: str | None = Field(default=None, pattern=r"^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$")
    """The environment's UUID, which labels the groups' nodes as its own. Batch makes it up: set it after the first `pulumi up`, with what the output `batchComputeEnvironmentId` prints. Without it jobs stay RUNNABLE."""
    image: str | None = None
    """Image of the job definitions, one for each group, each over a whole node. Without it none is made, and jobs need definitions of yours."""


class LeaderWorkerSetAddon(Section):
    """LeaderWorkerSet."""

    enabled: bool = False
    """Groups of pods that are made and restarted together."""
