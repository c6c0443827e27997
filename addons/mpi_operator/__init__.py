"""MPI operator v2beta1, for Horovod and other jobs started by mpirun."""

from typing import Literal

from addons.declaration import Declaration
from addons.section import AddonSettings
from addons.versions import MPI_OPERATOR_IMAGE
from facts.kubernetes_kinds import DrainStage, Resource, job_kind

NAME = "mpi-operator"


class MpiOperatorSettings(AddonSettings):
    """MPI operator v2beta1."""

    enabled: bool = False
    """MPIJobs, for Horovod."""
    batch_scheduler: Literal["none", "volcano"] = "none"
    """`volcano` starts launcher and workers together; set `schedulingPolicy.minAvailable` to the number of workers."""


JOBS = Resource("MPIJob", "/apis/kubeflow.org/v2beta1", "mpijobs")
_POD_LABEL = "training.kubeflow.org/job-name"
DRAINED = (job_kind(JOBS, DrainStage.JOBS, "makes a launcher Job and worker pods", pod_label=_POD_LABEL),)

DECLARATION = Declaration(
    key="mpiOperator",
    title="MPI operator",
    purpose="MPIJobs v2beta1: mpirun over pods, for Horovod",
    component=NAME,
    namespace=NAME,
    nodes="core",
    settings=MpiOperatorSettings,
    images=(MPI_OPERATOR_IMAGE,),
    drained=DRAINED,
)
