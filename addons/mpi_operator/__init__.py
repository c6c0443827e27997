"""MPI operator v2beta1, for Horovod and other jobs started by mpirun."""

from typing import Literal

from addons.declaration import Declaration
from addons.section import AddonSettings
from addons.versions import MPI_OPERATOR_IMAGE

NAME = "mpi-operator"


class MpiOperatorSettings(AddonSettings):
    """MPI operator v2beta1."""

    enabled: bool = False
    """MPIJobs, for Horovod."""
    batch_scheduler: Literal["none", "volcano"] = "none"
    """`volcano` starts launcher and workers together; set `schedulingPolicy.minAvailable` to the number of workers."""


DECLARATION = Declaration(
    key="mpiOperator",
    title="MPI operator",
    purpose="MPIJobs v2beta1: mpirun over pods, for Horovod",
    component=NAME,
    namespace=NAME,
    nodes="core",
    settings=MpiOperatorSettings,
    images=(MPI_OPERATOR_IMAGE,),
)
