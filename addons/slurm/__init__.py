"""Slurm on the same cluster: the Slinky operator with its CRDs, and a Slurm cluster with a partition of Neuron nodes."""

from addons.declaration import Declaration
from addons.section import AddonSettings
from addons.versions import SLURM, SLURM_OPERATOR, SLURM_OPERATOR_CRDS

NAMESPACE = "slinky"


class SlurmSettings(AddonSettings):
    """Slurm."""

    enabled: bool = False
    """Slurm in the training namespace, with a partition for each node group named."""
    node_groups: tuple[str, ...] = ()
    """Node groups whose nodes Slurm takes, whole: other jobs find no free devices there. At least one; the first is the default partition."""
    ssh_keys: tuple[str, ...] = ()
    """Public keys that may log in as root to the login pod, by `kubectl port-forward`. Without any, use `kubectl exec`."""


DECLARATION = Declaration(
    key="slurm",
    title="Slurm",
    purpose="sbatch and srun on Neuron nodes: the Slinky operator and a Slurm cluster in the training namespace",
    component="slurm",
    namespace=NAMESPACE,
    nodes="core",
    settings=SlurmSettings,
    charts=(SLURM_OPERATOR_CRDS, SLURM_OPERATOR, SLURM),
    needs=("neuron", "certManager"),
    after=("certManager",),
    leaves=("Secret slurm-operator-webhook-ca with the webhook's certificate, until its namespace is deleted",),
)
