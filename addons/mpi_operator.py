"""MPI operator v2beta1, for Horovod and other jobs started by mpirun: manifests of our own, since it has no chart."""

from dataclasses import dataclass
from typing import Any

import pulumi
import pulumi_kubernetes as k8s

from addons.base import ALL_VERBS, Addon, AddonArgs, own_labels
from addons.declaration import Declaration
from addons.images import Values
from addons.versions import MPI_OPERATOR_IMAGE

NAME = "mpi-operator"
LABELS = own_labels(NAME)
DECLARATION = Declaration(
    key="mpiOperator",
    title="MPI operator",
    purpose="MPIJobs v2beta1: mpirun over pods, for Horovod",
    component=NAME,
    namespace=NAME,
    nodes="core",
    images=(MPI_OPERATOR_IMAGE,),
)
RULES: tuple[Values, ...] = (
    {"apiGroups": [""], "resources": ["configmaps", "secrets", "services"], "verbs": ["create", "list", "update", "watch"]},
    {"apiGroups": [""], "resources": ["pods"], "verbs": ALL_VERBS},
    # The launcher's own Role has it, and nobody may hand out more than they have.
    {"apiGroups": [""], "resources": ["pods/exec"], "verbs": ["create"]},
    {"apiGroups": [""], "resources": ["events"], "verbs": ["create", "patch"]},
    {"apiGroups": ["batch"], "resources": ["jobs"], "verbs": ["create", "list", "update", "watch"]},
    {"apiGroups": ["kubeflow.org"], "resources": ["mpijobs", "mpijobs/finalizers", "mpijobs/status"], "verbs": ["*"]},
    {"apiGroups": ["coordination.k8s.io"], "resources": ["leases"], "verbs": ALL_VERBS},
    {"apiGroups": ["scheduling.volcano.sh"], "resources": ["queues", "podgroups"], "verbs": ALL_VERBS},
    {"apiGroups": ["scheduling.k8s.io"], "resources": ["priorityclasses"], "verbs": ["get", "list", "watch"]},
)
"""What the operator may do in the cluster (kubeflow/mpi-operator manifests/base/cluster-role.yaml, without the right to make CRDs)."""


@dataclass(frozen=True)
class MpiOperatorArgs(AddonArgs):
    """What the operator is made from."""

    volcano: bool = False
    """Whether Volcano starts launcher and workers as a gang."""


def mpi_job_crd_spec() -> Values:
    """`spec` of the CRD, a short one of our own.

    Upstream's has 313 kB, nearly all of it the schema of pods, which the API server checks when the pods are made.
    """
    anything = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    spec = {
        "type": "object",
        "required": ["mpiReplicaSpecs"],
        "properties": {
            "slotsPerWorker": {"type": "integer", "format": "int32", "default": 1, "minimum": 1},
            "mpiImplementation": {"type": "string", "default": "OpenMPI", "enum": ["OpenMPI", "Intel", "MPICH"]},
            "launcherCreationPolicy": {"type": "string", "default": "AtStartup", "enum": ["AtStartup", "WaitForWorkersReady"]},
            "runLauncherAsWorker": {"type": "boolean", "default": False},
            "sshAuthMountPath": {"type": "string"},
            "runPolicy": anything,
            "mpiReplicaSpecs": {"type": "object", "additionalProperties": anything},
        },
    }
    version = {
        "name": "v2beta1",
        "served": True,
        "storage": True,
        "subresources": {"status": {}},
        "schema": {"openAPIV3Schema": {"type": "object", "properties": {"spec": spec, "status": anything}}},
    }
    names = {"kind": "MPIJob", "listKind": "MPIJobList", "plural": "mpijobs", "singular": "mpijob"}
    return {"group": "kubeflow.org", "scope": "Namespaced", "names": names, "versions": [version]}


def mpi_operator_spec(image: str, *, volcano: bool) -> Values:
    """`spec` of the Deployment."""
    arguments = ["-alsologtostderr", f"--lock-namespace={NAME}", *(["--gang-scheduling=volcano"] if volcano else [])]
    container = {
        "name": NAME,
        "image": image,
        "args": arguments,
        # Upstream asks for nothing.
        "resources": {"requests": {"cpu": "50m", "memory": "128Mi"}, "limits": {"memory": "512Mi"}},
        "securityContext": {"allowPrivilegeEscalation": False, "capabilities": {"drop": ["ALL"]}},
    }
    pod = {"serviceAccountName": NAME, "containers": [container]}
    return {"replicas": 1, "selector": {"matchLabels": LABELS}, "template": {"metadata": {"labels": LABELS}, "spec": pod}}


class MpiOperator(Addon):
    """Starts when untainted nodes are there; goes before its CRD, which takes all MPIJobs along."""

    def __init__(self, name: str, args: MpiOperatorArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("MpiOperator", name, args, opts)
        namespace = self.namespace(NAME)
        crd_spec: Any = mpi_job_crd_spec()
        crd = k8s.apiextensions.v1.CustomResourceDefinition(
            "mpijobs", metadata={"name": "mpijobs.kubeflow.org", "labels": LABELS}, spec=crd_spec, opts=self.in_cluster()
        )
        metadata: Any = {"name": NAME, "namespace": NAME, "labels": LABELS}
        account = k8s.core.v1.ServiceAccount(name, metadata=metadata, opts=self.in_cluster(namespace))
        rights = self.cluster_rights(NAME, NAME, RULES, account)
        spec: Any = mpi_operator_spec(self.image(MPI_OPERATOR_IMAGE), volcano=args.volcano)
        deployment = k8s.apps.v1.Deployment(name, metadata=metadata, spec=spec, opts=self.in_cluster(crd, rights))
        self.ready.append(deployment)
        self.register_outputs({})
