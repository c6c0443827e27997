"""Volcano, the gang scheduler, and its queues."""

from typing import Annotated

from pydantic import Field

from addons.declaration import Declaration
from addons.section import AddonSettings
from addons.versions import VOLCANO
from facts import text_formats
from facts.kubernetes_kinds import DrainedKind, DrainStage, Resource, job_kind
from facts.section import KUBERNETES_NAME, Formed, Section

NAMESPACE = "volcano-system"
"""Exempt from Volcano's own webhooks: no job may run here."""
QUEUE, HYPER_NODE = "scheduling.volcano.sh/v1beta1 Queue", "topology.volcano.sh/v1alpha1 HyperNode"


class Queue(Section):
    """One Volcano queue."""

    weight: int = Field(default=1, ge=1, le=65535)
    """Share among queues that compete."""
    reclaimable: bool = False
    """Whether other queues may take resources back from running jobs."""
    capability: dict[str, int | str] = Field(default_factory=dict)
    """Most that the queue may use, by resource name; claimed devices are `deviceclass/neuron.aws.com`. Empty means all there is."""
    parent: str | None = None
    """Queue above this one. One parent anywhere makes all queues a hierarchy, shared by `deserved` in place of `weight`."""
    deserved: dict[str, int | str] = Field(default_factory=dict)
    """What the queue may claim back from its siblings, by resource name; in a hierarchy, or where devices are claimed (`addons.neuron.devices: dra`)."""


def _default_queues() -> dict[str, Queue]:
    return {"training": Queue()}


class VolcanoSettings(AddonSettings):
    """Volcano, the gang scheduler."""

    enabled: bool = True
    """TorchX submits Volcano jobs, so without it the BERT example cannot start."""
    replicas: int = Field(default=2, ge=1, le=3)
    """Replicas of scheduler, controller and admission; above 1 they elect a leader."""
    image_registry: Annotated[str, Formed(text_formats.REGISTRY)] = "docker.io"
    """Registry of the images. Docker Hub limits anonymous pulls."""
    topology: bool = False
    """A HyperNode for each group with EFA: jobs with `networkTopology: {mode: hard, highestTierAllowed: 1}` stay within one, and so on one EFA network."""
    queues: dict[Annotated[str, Field(pattern=f"^{KUBERNETES_NAME}$")], Queue] = Field(default_factory=_default_queues)
    """Queues by name."""


QUEUES = Resource("Queue", "/apis/scheduling.volcano.sh/v1beta1", "queues")
COMMANDS = Resource("Command", "/apis/bus.volcano.sh/v1alpha1", "commands")
CRON_JOBS = Resource("Volcano CronJob", "/apis/batch.volcano.sh/v1alpha1", "cronjobs")
JOB_FLOWS = Resource("JobFlow", "/apis/flow.volcano.sh/v1alpha1", "jobflows")
JOBS = Resource("Volcano Job", "/apis/batch.volcano.sh/v1alpha1", "jobs")
DRAINED = (
    DrainedKind(
        QUEUES, DrainStage.QUEUES, "close", "a job in it would start again", "open queues", command=COMMANDS,
        asked={"status": ("list",), "verify": ("list",)},
    ),
    job_kind(CRON_JOBS, DrainStage.SCHEDULES, "makes Volcano Jobs"),
    job_kind(JOB_FLOWS, DrainStage.SCHEDULES, "makes Volcano Jobs"),
    job_kind(
        JOBS, DrainStage.GANGS, "its pods hold nodes and claims", pod_label="volcano.sh/job-name",
        asked={"verify": ("create", "delete", "list")},
    ),
)  # fmt: skip

DECLARATION = Declaration(
    key="volcano",
    title="Volcano",
    purpose="Gang scheduling: all pods of a job start together, or none",
    component="volcano",
    namespace=NAMESPACE,
    nodes="core",
    settings=VolcanoSettings,
    charts=(VOLCANO,),
    kinds=(QUEUE, HYPER_NODE),
    changes=("trainer",),
    drained=DRAINED,
)
