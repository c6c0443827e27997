"""MPI operator as a component."""

from typing import Any

import pulumi_kubernetes as k8s

from addons.base import Addon
from addons.mpi_operator import NAME, MpiOperatorSettings
from addons.mpi_operator.manifests import LABELS, RULES, mpi_job_crd_spec, mpi_operator_spec
from addons.site import Site
from addons.versions import MPI_OPERATOR_IMAGE


class MpiOperator(Addon):
    """Starts when untainted nodes are there; is deleted before its CRD, whose deletion deletes all MPIJobs."""

    def __init__(self, name: str, site: Site) -> None:
        super().__init__("MpiOperator", name, site)
        volcano = site.cluster.section(MpiOperatorSettings).batch_scheduler == "volcano"
        namespace = self.namespace(NAME)
        crd_spec: Any = mpi_job_crd_spec()
        crd = k8s.apiextensions.v1.CustomResourceDefinition(
            self.named("mpijobs"), metadata={"name": "mpijobs.kubeflow.org", "labels": LABELS}, spec=crd_spec, opts=self.in_cluster()
        )
        metadata: Any = {"name": NAME, "namespace": NAME, "labels": LABELS}
        account = k8s.core.v1.ServiceAccount(self.named(name), metadata=metadata, opts=self.in_cluster(namespace))
        rights = self.cluster_rights(NAME, NAME, RULES, account)
        spec: Any = mpi_operator_spec(self.image(MPI_OPERATOR_IMAGE), volcano=volcano)
        deployment = k8s.apps.v1.Deployment(self.named(name), metadata=metadata, spec=spec, opts=self.in_cluster(crd, rights))
        self.ready.append(deployment)
        self.register_outputs({})


def make(site: Site) -> Addon:
    """The add-on of a cluster."""
    return MpiOperator("mpi-operator", site)
