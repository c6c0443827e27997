"""Slurm on the same cluster: the Slinky operator with its CRDs, and a Slurm cluster with a partition of Neuron nodes."""

from dataclasses import dataclass

import pulumi
import pulumi_kubernetes as k8s

from addons.base import SHORT_DELETE, Addon, AddonArgs
from addons.declaration import Declaration
from addons.managed import DEFAULT_STORAGE_CLASS
from addons.slurm_values import SlurmValuesArgs, slurm_operator_values, slurm_values
from addons.versions import SLURM, SLURM_OPERATOR, SLURM_OPERATOR_CRDS
from addons.webhook_retry import retry_on_webhook

NAMESPACE = "slinky"
STATE = "slurm-state"
"""Claim of the controller's job queue."""
DECLARATION = Declaration(
    key="slurm",
    title="Slurm",
    purpose="sbatch and srun on Neuron nodes: the Slinky operator and a Slurm cluster in the training namespace",
    component="slurm",
    namespace=NAMESPACE,
    nodes="core",
    charts=(SLURM_OPERATOR_CRDS, SLURM_OPERATOR, SLURM),
    needs=("neuron", "certManager"),
    leaves=("Secret slurm-operator-webhook-ca with the webhook's certificate, until its namespace goes",),
)


@dataclass(frozen=True)
class SlurmArgs(AddonArgs):
    """What Slurm is made from."""

    namespace: str
    """Of the Slurm cluster: that of the file system's claim."""
    cluster: SlurmValuesArgs


class Slurm(Addon):
    """The Slurm cluster goes before the operator, the operator before its kinds, and all of them before cert-manager.

    With the operator gone nothing ends slurmd, and with its webhooks dead nothing changes a Slurm object.
    """

    def __init__(
        self,
        name: str,
        args: SlurmArgs,
        opts: pulumi.ResourceOptions | None = None,
        *,
        certificates: list[pulumi.Resource],
        after: list[pulumi.Resource],
    ) -> None:
        """`certificates`: cert-manager; `after`: the namespace of the Slurm cluster, the default class, the file system's claim."""
        super().__init__("Slurm", name, args, opts)
        namespace = self.namespace(NAMESPACE)
        crds = self.release(SLURM_OPERATOR_CRDS, namespace=NAMESPACE, values={"global": {}}, timeout_s=300, after=[namespace])
        operator = self.release(
            SLURM_OPERATOR, namespace=NAMESPACE, values=slurm_operator_values(), timeout_s=300, after=[crds, *certificates]
        )
        # Ours, not the chart's: the claim of its StatefulSet would stay, and with it a volume that costs money.
        state = k8s.core.v1.PersistentVolumeClaim(
            STATE,
            metadata={"name": STATE, "namespace": args.namespace},
            spec={
                "access_modes": ["ReadWriteOnce"],
                "storage_class_name": DEFAULT_STORAGE_CLASS,
                "resources": {"requests": {"storage": "4Gi"}},
            },
            opts=self.in_cluster(*after, custom_timeouts=SHORT_DELETE),
        )
        self.release(
            SLURM,
            namespace=args.namespace,
            values=slurm_values(args.cluster, STATE),
            timeout_s=300,
            after=[operator, state],
            # Atomic, so that what the webhook refused is gone when it is tried again.
            hooks=retry_on_webhook(f"{name}-webhook"),
        )
        self.register_outputs({})
