"""Kubeflow Trainer v2 with JobSet: TrainJobs, and a runtime for torchrun on Neuron nodes."""

from addons.declaration import Declaration
from addons.section import AddonSettings
from addons.versions import TRAINER

NAMESPACE = "kubeflow-system"
API_VERSION = "trainer.kubeflow.org/v1alpha1"


class TrainerSettings(AddonSettings):
    """Kubeflow Trainer v2."""

    enabled: bool = False
    """TrainJobs."""
    job_set: bool = True
    """Install JobSet with it. Only off where JobSet is there by other means: a second one is refused, since both bring the ClusterRole `jobset-controller`."""
    image: str | None = None
    """Image of the runtime `torch-neuron`. Without it no runtime is made, and TrainJobs need one of yours."""


DECLARATION = Declaration(
    key="trainer",
    title="Kubeflow Trainer",
    purpose="TrainJobs and JobSets; with an image set, a runtime for torchrun on Neuron nodes",
    component="trainer",
    namespace=NAMESPACE,
    nodes="core",
    settings=TrainerSettings,
    charts=(TRAINER,),
    kinds=(f"{API_VERSION} ClusterTrainingRuntime",),
    leaves=("the CRD jobsets.jobset.x-k8s.io",),
)
