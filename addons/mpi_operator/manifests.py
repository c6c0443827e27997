"""The operator's rights, CRD and Deployment, as plain data: manifests of our own, since it has no chart."""

from addons.images import Values
from addons.manifests import ALL_VERBS, own_labels
from addons.mpi_operator import NAME

LABELS = own_labels(NAME)
RULES: tuple[Values, ...] = (
    {"apiGroups": [""], "resources": ["configmaps", "secrets", "services"], "verbs": ["create", "list", "update", "watch"]},
    {"apiGroups": [""], "resources": ["pods"], "verbs": ALL_VERBS},
    # The launcher's own Role has it, and Kubernetes refuses a Role with more rights than its creator has.
    {"apiGroups": [""], "resources": ["pods/exec"], "verbs": ["create"]},
    {"apiGroups": [""], "resources": ["events"], "verbs": ["create", "patch"]},
    {"apiGroups": ["batch"], "resources": ["jobs"], "verbs": ["create", "list", "update", "watch"]},
    {"apiGroups": ["kubeflow.org"], "resources": ["mpijobs", "mpijobs/finalizers", "mpijobs/status"], "verbs": ["*"]},
    {"apiGroups": ["coordination.k8s.io"], "resources": ["leases"], "verbs": ALL_VERBS},
    {"apiGroups": ["scheduling.volcano.sh"], "resources": ["queues", "podgroups"], "verbs": ALL_VERBS},
    {"apiGroups": ["scheduling.k8s.io"], "resources": ["priorityclasses"], "verbs": ["get", "list", "watch"]},
)
"""What the operator may do in the cluster (kubeflow/mpi-operator manifests/base/cluster-role.yaml, without the right to make CRDs)."""


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
