"""The idle guard: a message when Neuron nodes run and no pod asks for them, and by choice their groups to zero nodes."""

from collections.abc import Collection
from typing import Annotated, Literal

from pydantic import Field

from addons.cluster import Cluster
from addons.declaration import Declaration
from addons.section import AddonSettings
from addons.versions import PYTHON_IMAGE
from facts import text_formats
from facts.section import Formed

NAME = "idle-guard"


class IdleGuardSettings(AddonSettings):
    """Idle guard: a message when Neuron nodes run and no pod asks for them."""

    enabled: bool = False
    """Look every five minutes whether Neuron nodes are used."""
    idle_hours: float = Field(default=6, ge=1, le=168)
    """Hours without any pod that asks for Neuron after which a message is sent; it is repeated every day."""
    action: Literal["message", "scale-to-zero"] = "message"
    """What else is done then. With `scale-to-zero` the group is set to no nodes, unless it is autoscaled, has a smallest size, is paid in advance or reserved, or belongs to AWS Batch."""
    emails: tuple[Annotated[str, Formed(text_formats.EMAIL)], ...] = ()
    """Addresses that get the messages, by a topic of the stack's own. Each must confirm the link in a first message from AWS."""
    sns_topic_arn: Annotated[str, Formed(text_formats.SNS_TOPIC_ARN)] | None = None
    """A topic that is there already, in place of `emails`. It is not changed."""


def _called(cluster: Cluster) -> Collection[str]:
    return ("eks", "sns") if cluster.section(IdleGuardSettings).action == "scale-to-zero" else ("sns",)


DECLARATION = Declaration(
    key="idleGuard",
    title="Idle guard",
    purpose="A message when Neuron nodes run and no pod asks for them, and by choice their groups to zero nodes",
    component="idle-guard",
    namespace=NAME,
    nodes="core",
    settings=IdleGuardSettings,
    applies=lambda cluster: bool(cluster.node_groups),
    images=(PYTHON_IMAGE,),
    identities=(f"{NAME}/{NAME}",),
    endpoints=("eks", "sns"),
    called_in=_called,
)
