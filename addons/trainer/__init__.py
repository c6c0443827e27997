"""Kubeflow Trainer v2 with JobSet: TrainJobs, and a runtime for each toolchain of Neuron nodes."""

from typing import Annotated

from pydantic import Field

from addons.declaration import Declaration
from addons.section import AddonSettings
from addons.versions import TRAINER
from facts import text_formats
from facts.kubernetes_kinds import DrainStage, Resource, job_kind
from facts.section import Formed, OneOf
from facts.toolchains import TOOLCHAINS

NAMESPACE = "kubeflow-system"
API_VERSION = "trainer.kubeflow.org/v1alpha1"


class TrainerSettings(AddonSettings):
    """Kubeflow Trainer v2."""

    enabled: bool = False
    """TrainJobs."""
    job_set: bool = True
    """Install JobSet with it. Only off where JobSet is there by other means: a second one is refused, since both bring the ClusterRole `jobset-controller`."""
    images: dict[
        Annotated[str, OneOf(tuple(TOOLCHAINS), "docs/toolchains.md says what each is")], Annotated[str, Formed(text_formats.IMAGE)]
    ] = Field(default_factory=dict)
    """Images of the runtimes by toolchain, in place of AWS's: each toolchain with an image has a runtime `neuron-TOOLCHAIN`. Where `addons.volcano` is on, the pods of its TrainJobs start together, or none, in the queue that their annotation `scheduling.volcano.sh/queue-name` names."""


TRAIN_JOBS = Resource("TrainJob", f"/apis/{API_VERSION}", "trainjobs")
JOB_SETS = Resource("JobSet", "/apis/jobset.x-k8s.io/v1alpha2", "jobsets")
_POD_LABEL = "jobset.sigs.k8s.io/jobset-name"
DRAINED = (
    job_kind(TRAIN_JOBS, DrainStage.JOBS, "makes a JobSet of its own name", pod_label=_POD_LABEL),
    job_kind(JOB_SETS, DrainStage.JOBS, "makes Jobs", pod_label=_POD_LABEL),
)

DECLARATION = Declaration(
    key="trainer",
    title="Kubeflow Trainer",
    purpose="TrainJobs and JobSets, with a runtime for each toolchain of Neuron nodes",
    component="trainer",
    namespace=NAMESPACE,
    nodes="core",
    settings=TrainerSettings,
    charts=(TRAINER,),
    after=("volcano",),
    kinds=(f"{API_VERSION} ClusterTrainingRuntime",),
    leaves=("the CRD jobsets.jobset.x-k8s.io",),
    drained=DRAINED,
)
