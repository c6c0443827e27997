"""AWS Batch on the stack's own Neuron nodes: a compute environment, a queue, and a job definition for each node group.

The environment is unmanaged. Of one that launches instances itself Batch picks the image, from standard and NVIDIA ones
(Batch API, Ec2Configuration); a Neuron image would need `userdataType: EKS_NODEADM`, which pulumi-aws 7.51 does not have.
"""

from typing import Annotated

from pydantic import Field

from addons.declaration import Declaration
from addons.section import AddonSettings
from facts import text_formats
from facts.section import Formed

NODE_LABEL = "batch.amazonaws.com/compute-environment-uuid"
"""By which an unmanaged environment knows its nodes (Batch user guide, create-compute-environment-unmanaged-eks)."""


class BatchSettings(AddonSettings):
    """AWS Batch."""

    enabled: bool = False
    """A compute environment over the node groups named, with a queue; both bear the cluster's name. The account needs Batch's service-linked role: `aws iam create-service-linked-role --aws-service-name batch.amazonaws.com`."""
    node_groups: tuple[str, ...] = ()
    """Node groups whose nodes Batch may use. At least one. Their nodes stay the stack's: Batch starts and ends none."""
    compute_environment_id: str | None = Field(default=None, pattern=r"^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$")
    """The environment's UUID, which labels the groups' nodes as its own. Batch makes it up: set it after the first `pulumi up`, with what the output `batchComputeEnvironmentId` prints. Without it jobs stay RUNNABLE."""
    image: Annotated[str, Formed(text_formats.IMAGE)] | None = None
    """Image of the job definitions, one for each group, each over a whole node. Without it none is made, and jobs need definitions of yours."""


DECLARATION = Declaration(
    key="batch",
    title="AWS Batch",
    purpose="Batch's queue on the stack's own Neuron nodes, with a job definition for each node group",
    component="batch",
    namespace=None,
    nodes="neuron",
    settings=BatchSettings,
    needs=("neuron",),
    leaves=("the access entry of AWSServiceRoleForBatch, which Batch made: it may still look at the cluster, at no namespace",),
)
