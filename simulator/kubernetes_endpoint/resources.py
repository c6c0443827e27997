"""Kinds that the API server serves, by where it serves them: built in, and custom ones that a chart has brought."""

from collections.abc import Iterator
from dataclasses import dataclass

from simulator.account import kinds
from simulator.account.charts import kinds_brought
from simulator.account.state import AccountState

_BUILT_IN = {
    "": ("ConfigMap", "Namespace", "Node", "PersistentVolume", "PersistentVolumeClaim", "Pod", "Secret", "Service", "ServiceAccount"),
    "apps": ("DaemonSet", "Deployment", "StatefulSet"),
    "batch": ("CronJob", "Job"),
    "coordination.k8s.io": ("Lease",),
    "networking.k8s.io": ("Ingress",),
    "policy": ("PodDisruptionBudget",),
    "resource.k8s.io": ("DeviceClass", "ResourceClaim", "ResourceClaimTemplate", "ResourceSlice"),
    "storage.k8s.io": ("StorageClass",),
    "rbac.authorization.k8s.io": ("ClusterRole", "ClusterRoleBinding", "Role", "RoleBinding"),
    "apiextensions.k8s.io": ("CustomResourceDefinition",),
    "admissionregistration.k8s.io": ("MutatingWebhookConfiguration", "ValidatingWebhookConfiguration"),
}
_CLUSTER_WIDE = frozenset(
    {
        "Namespace", "Node", "PersistentVolume", "StorageClass", "ClusterRole", "ClusterRoleBinding", "CustomResourceDefinition",
        "MutatingWebhookConfiguration", "ValidatingWebhookConfiguration", "Queue", "HyperNode", "NodePool", "NodeClaim", "EC2NodeClass",
        "ClusterQueue", "ResourceFlavor", "ClusterTrainingRuntime", "Topology", "AdmissionCheck", "DeviceClass", "ResourceSlice", "WorkloadPriorityClass", "IngressClassParams",
    }
)  # fmt: skip
"""Kinds without a namespace (their definitions in Kubernetes 1.35, Volcano, Karpenter, Kueue, Kubeflow Trainer)."""
_BROUGHT_ALONG = {"batch.volcano.sh/Job": "bus.volcano.sh/Command", "karpenter.sh/NodePool": "karpenter.sh/NodeClaim"}
"""Kinds that a chart brings together with another one."""


@dataclass(frozen=True)
class ServedKind:
    """One kind that the API server knows."""

    group: str
    """Empty for the core group."""
    kind: str

    @property
    def plural(self) -> str:
        """Its name in paths, as Kubernetes' own rule forms it."""
        word = self.kind.lower()
        if word.endswith("y"):
            return f"{word[:-1]}ies"
        return f"{word}es" if word.endswith(("s", "x", "ch", "sh")) else f"{word}s"

    @property
    def is_namespaced(self) -> bool:
        """Whether its objects live in a namespace."""
        return self.kind not in _CLUSTER_WIDE

    def type_token(self, version: str) -> str:
        """Pulumi's token, under which the account keeps such objects."""
        return f"kubernetes:{self.group or 'core'}/{version}:{self.kind}"


def served_kinds(state: AccountState) -> Iterator[ServedKind]:
    """Every kind that the cluster knows at this moment."""
    for group, names in _BUILT_IN.items():
        yield from (ServedKind(group, name) for name in names)
    for kind in sorted(_custom_kinds(state)):
        yield ServedKind(*kind.split("/", 1))


def _custom_kinds(state: AccountState) -> set[str]:
    found: set[str] = set()
    for item in (*state.existing(kinds.RELEASE), *state.existing(kinds.ADDON)):
        found |= {*kinds_brought(item.registration)}
    for item in state.existing(kinds.CUSTOM_RESOURCE_DEFINITION):
        spec = item.registration.inputs["spec"]
        found.add(f"{spec['group']}/{spec['names']['kind']}")
    found |= {name.removeprefix("crd ") for name in state.strays if name.startswith("crd ")}
    return found | {along for kind, along in _BROUGHT_ALONG.items() if kind in found}
