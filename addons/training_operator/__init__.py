"""Kubeflow training-operator 1.9: PyTorchJobs and TFJobs, from manifests of our own, since it has no chart.

It is the frozen predecessor of Kubeflow Trainer. Upstream's manifests also bring `mpijobs.kubeflow.org` v1, the same CRD as
the MPI operator's v2beta1; ours leaves MPIJobs out of controller, role and CRDs, so that both operators may be on.
"""

from typing import Literal

from addons.declaration import Declaration
from addons.section import AddonSettings
from addons.versions import TRAINING_OPERATOR_IMAGE
from facts.kubernetes_kinds import DrainStage, Resource, job_kind

NAME = "training-operator"
NAMESPACE = "kubeflow"


class TrainingOperatorSettings(AddonSettings):
    """Kubeflow training-operator 1.9."""

    enabled: bool = False
    """PyTorchJobs and TFJobs. The project is frozen: for jobs that are there already; new ones are TrainJobs of `addons.trainer`."""
    batch_scheduler: Literal["none", "volcano"] = "none"
    """`volcano` starts all pods of a job together, or none."""


PYTORCH_JOBS = Resource("PyTorchJob", "/apis/kubeflow.org/v1", "pytorchjobs")
TF_JOBS = Resource("TFJob", "/apis/kubeflow.org/v1", "tfjobs")
DRAINED = tuple(
    job_kind(resource, DrainStage.JOBS, "its pods hold nodes and claims", pod_label="training.kubeflow.org/job-name")
    for resource in (PYTORCH_JOBS, TF_JOBS)
)

DECLARATION = Declaration(
    key="trainingOperator",
    title="Kubeflow training-operator",
    purpose="PyTorchJobs and TFJobs of training-operator 1.9, the frozen predecessor of Trainer",
    component=NAME,
    namespace=NAMESPACE,
    nodes="core",
    settings=TrainingOperatorSettings,
    after=("volcano",),
    images=(TRAINING_OPERATOR_IMAGE,),
    drained=DRAINED,
)
