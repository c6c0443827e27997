"""Slurm as a component: CRDs, operator, and the Slurm cluster in the training namespace."""

import pulumi_kubernetes as k8s

from addons.base import SHORT_DELETE, Addon
from addons.core import DEFAULT_STORAGE_CLASS
from addons.site import Site
from addons.slurm import NAMESPACE
from addons.slurm.values import slurm_operator_values, slurm_values
from addons.versions import SLURM, SLURM_OPERATOR, SLURM_OPERATOR_CRDS

STATE = "slurm-state"
"""Claim of the controller's job queue."""


class Slurm(Addon):
    """The Slurm cluster is deleted before the operator, the operator before its kinds, and all of them before cert-manager.

    With the operator gone nothing ends slurmd, and with its webhooks dead nothing changes a Slurm object.
    """

    def __init__(self, name: str, site: Site) -> None:
        super().__init__("Slurm", name, site)
        jobs = site.cluster.training_namespace
        namespace = self.namespace(NAMESPACE)
        crds = self.release(SLURM_OPERATOR_CRDS, namespace=NAMESPACE, values={"global": {}}, timeout_s=300, after=[namespace])
        operator = self.release(
            SLURM_OPERATOR, namespace=NAMESPACE, values=slurm_operator_values(), timeout_s=300, after=[crds, *site.ready("certManager")]
        )
        # Ours, not the chart's: the claim of its StatefulSet would stay, and with it a volume that costs money.
        state = k8s.core.v1.PersistentVolumeClaim(
            self.named(STATE),
            metadata={"name": STATE, "namespace": jobs},
            spec={
                "access_modes": ["ReadWriteOnce"],
                "storage_class_name": DEFAULT_STORAGE_CLASS,
                "resources": {"requests": {"storage": "4Gi"}},
            },
            opts=self.in_cluster(site.namespace, site.default_class, *site.claim, custom_timeouts=SHORT_DELETE),
        )
        self.release(
            SLURM,
            namespace=jobs,
            values=slurm_values(site.cluster, STATE),
            timeout_s=300,
            after=[operator, state],
            # Atomic, so that what the webhook refused is gone when it is tried again.
            hooks=self.retry_on_webhook(name),
            # Its pods mount the file system's claim, which cannot be deleted while one does.
            replace_with=site.volume,
        )
        self.register_outputs({})


def make(site: Site) -> Addon:
    """The add-on of a cluster."""
    return Slurm("slurm", site)
