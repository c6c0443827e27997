"""Kinds of objects behind the cluster's API server, and Helm releases. A kind that is not here is refused, never guessed."""

from collections.abc import Mapping
from dataclasses import replace

from facts.resources.identity import by, kubernetes_object
from facts.resources.latency import Latencies, Latency, Lifetime, both
from facts.resources.outputs import Answer, Draw, Inputs
from facts.resources.resource_type import ByInstances, Changes, Conflict, Fixed, NameLimit, ResourceType, Without

_NO_AWS_CALL = Without("the API server of the cluster makes it, not AWS")
_BY_NAME = Without("it is found by kind, name and namespace behind the API server")
_NO_RIGHT = Without("Kubernetes' own access control grants it, not IAM")
_FREE = Without("Kubernetes objects have no price")
_GONE = Without("it is deleted with the control plane")
_OBJECT = ("metadata.name", "metadata.namespace")
_USUAL = both(0.1, 0.3, 0.6, "measured: Kubernetes provider against an API server of 1.35, 2026-11-21")
_GRACE = "inferred: grace period 30 s"


def _make_object(draw: Draw, inputs: Inputs) -> Answer:
    """`namespace/name` as the id."""
    metadata = inputs["metadata"]
    name, namespace = metadata["name"], metadata.get("namespace")
    return f"{namespace}/{name}" if namespace else name, {"metadata": {**metadata, "uid": draw.uuid()}}


def _make_claim(draw: Draw, inputs: Inputs) -> Answer:
    """With the status that awaiting leaves."""
    resource_id, computed = _make_object(draw, inputs)
    return resource_id, {**computed, "status": {"phase": "Bound"}}


def _make_release(draw: Draw, inputs: Inputs) -> Answer:
    name, namespace = inputs["name"], inputs["namespace"]
    status = {"name": name, "namespace": namespace, "revision": 1, "status": "deployed", "version": inputs["version"]}
    return f"{namespace}/{name}", {"status": status}


def _kind(
    token: str, *replacing: str, plural: str = "", create: Latency | None = None, delete: Latency | None = None, update: Latency | None = None,
    fixed: Mapping[str, Fixed] | None = None, **more: object,
) -> ResourceType:  # fmt: skip
    """A kind that is one object. `plural`: as the API server words a conflict, which was seen for these only."""
    lifetime = Lifetime(create or _USUAL.create, delete or _USUAL.delete)
    # Kubernetes apimachinery, api/errors NewAlreadyExists; measured against 1.35.
    conflict = Conflict(_OBJECT if plural else (), "AlreadyExists", f'{plural} "{{name}}" already exists' if plural else "")
    kind = ResourceType(
        f"kubernetes:{token}",
        make=_make_object,
        latencies=Latencies(lifetime, updates={"": update} if update else {}),
        changes=Changes(replacing=(*_OBJECT, *replacing), fixed=fixed or {}),
        identity=kubernetes_object,
        creation=_NO_AWS_CALL,
        lookup=_BY_NAME,
        tagging=Without("Kubernetes objects have labels, not tags"),
        deletion=_NO_AWS_CALL,
        rights=_NO_RIGHT,
        costs=_FREE,
        leftover=_GONE,
        conflict=conflict,
    )
    return replace(kind, **more)


def _service_lifetime(inputs: Inputs) -> Lifetime | None:
    """A service with endpoints of its own waits for them."""
    spec = inputs["spec"]
    if spec.get("selector") and spec.get("clusterIP") != "None":
        return Lifetime(Latency(10, 10, 10, "measured: 10 s always, endpoints must settle"), _USUAL.delete)
    return None


def _grows(old: str, new: str) -> bool:
    """Whether a storage request, in Gi, stays or grows."""
    return int(new.removesuffix("Gi")) >= int(old.removesuffix("Gi"))


_DEFINITION_RULES = "kubernetes/apiextensions-apiserver pkg/apis/apiextensions/validation/validation.go"
_CORE_RULES = "kubernetes/kubernetes pkg/apis/core/validation/validation.go"
_STORAGE_RULES = "Kubernetes API, storage.k8s.io/v1 validation"
_POOL_RULES = "aws/karpenter-provider-aws pkg/apis/crds/karpenter.sh_nodepools.yaml 1.14.1, x-kubernetes-validations"
_QUEUE_RULES = "kubernetes-sigs/kueue charts/kueue/templates/crd/kueue.x-k8s.io_localqueues.yaml, x-kubernetes-validations"

VALIDATING_WEBHOOKS = _kind("admissionregistration.k8s.io/v1:ValidatingWebhookConfiguration")
DEFINITION = _kind(
    "apiextensions.k8s.io/v1:CustomResourceDefinition",
    fixed=dict.fromkeys(("spec.group", "spec.names.kind", "spec.names.plural", "spec.scope"), Fixed(_DEFINITION_RULES)),
)
DAEMON_SET = _kind(
    "apps/v1:DaemonSet",
    "spec.selector",
    create=Latency(0.3, 0.3, 2, "measured: 0.3 s with no node that wants it; those that boot meanwhile are not waited for"),
    delete=Latency(1, 5, 35, _GRACE),
)
DEPLOYMENT = _kind(
    "apps/v1:Deployment",
    "spec.selector",
    create=Latency(8, 20, 45, "inferred: one image pull of 50-150 MB and readiness"),
    delete=Latency(1, 5, 35, _GRACE),
)
STATEFUL_SET = _kind(
    "apps/v1:StatefulSet",
    "spec.selector",
    "spec.serviceName",
    "spec.volumeClaimTemplates",
    plural="statefulsets.apps",
    create=Latency(8, 15, 40, "inferred: one image pull of 60 MB, readiness at 10 s"),
    delete=Latency(2, 10, 35, _GRACE),
    update=Latency(10, 20, 60, "inferred: one pod after the other"),
)
CONFIG_MAP = _kind("core/v1:ConfigMap")
NAMESPACE = _kind("core/v1:Namespace", plural="namespaces", delete=Latency(5, 6, 10, "measured: a clean namespace takes 5 s"))
VOLUME = _kind(
    "core/v1:PersistentVolume",
    "spec.csi",
    plural="persistentvolumes",
    create=Latency(0.5, 0.6, 1, "measured: 0.6 s"),
    fixed={"spec.volumeMode": Fixed(_CORE_RULES, default="Filesystem")},
)
CLAIM = _kind(
    "core/v1:PersistentVolumeClaim",
    "spec.accessModes",
    "spec.storageClassName",
    "spec.volumeName",
    plural="persistentvolumeclaims",
    create=Latency(0.5, 0.6, 2, "measured: static volume, 0.6 s"),
    delete=Latency(0.5, 1, 3, "measured"),
    fixed={"spec.resources.requests.storage": Fixed(_CORE_RULES, "field can not be less than status.capacity", allowed=_grows)},
    make=_make_claim,
)
# Data of a Secret, as of a ConfigMap, changes in place: an option of the provider makes them mutable.
SECRET = _kind("core/v1:Secret", "type")
SERVICE = _kind("core/v1:Service", "spec.clusterIP", plural="services", latencies=Latencies(_USUAL, _service_lifetime))
SERVICE_ACCOUNT = _kind("core/v1:ServiceAccount")
NODE_CLASS = _kind("karpenter.k8s.aws/v1:EC2NodeClass", delete=Latency(2, 5, 20, "inferred: its finalizer removes launch templates"))
NODE_POOL = _kind(
    "karpenter.sh/v1:NodePool",
    delete=Latency(1, 5, 20, "inferred: a pool without instances"),
    fixed={
        "spec.replicas": Fixed(
            _POOL_RULES,
            "Cannot transition NodePool between static (replicas set) and dynamic (replicas unset) provisioning modes",
            allowed=lambda old, new: (old is None) == (new is None),
        ),
        "spec.template.spec.nodeClassRef.group": Fixed(_POOL_RULES, "nodeClassRef.group is immutable"),
        "spec.template.spec.nodeClassRef.kind": Fixed(_POOL_RULES, "nodeClassRef.kind is immutable"),
    },
    costs=ByInstances(),
)
CLUSTER_QUEUE = _kind("kueue.x-k8s.io/v1beta2:ClusterQueue")
LOCAL_QUEUE = _kind("kueue.x-k8s.io/v1beta2:LocalQueue", fixed={"spec.clusterQueue": Fixed(_QUEUE_RULES)})
FLAVOR = _kind("kueue.x-k8s.io/v1beta2:ResourceFlavor")
POD_MONITOR = _kind("monitoring.coreos.com/v1:PodMonitor")
PROMETHEUS_RULE = _kind("monitoring.coreos.com/v1:PrometheusRule")
SERVICE_MONITOR = _kind("monitoring.coreos.com/v1:ServiceMonitor")
CLUSTER_ROLE = _kind("rbac.authorization.k8s.io/v1:ClusterRole")
# The API refuses to change the role of a binding (RBAC, roleRef).
CLUSTER_ROLE_BINDING = _kind("rbac.authorization.k8s.io/v1:ClusterRoleBinding", "roleRef")
ROLE = _kind("rbac.authorization.k8s.io/v1:Role")
ROLE_BINDING = _kind("rbac.authorization.k8s.io/v1:RoleBinding", "roleRef")
QUEUE = _kind("scheduling.volcano.sh/v1beta1:Queue", plural="queues.scheduling.volcano.sh")
STORAGE_CLASS = _kind(
    "storage.k8s.io/v1:StorageClass",
    "provisioner",
    "parameters",
    plural="storageclasses.storage.k8s.io",
    fixed={
        "reclaimPolicy": Fixed(_STORAGE_RULES, "updates to reclaimPolicy are forbidden.", default="Delete"),
        "volumeBindingMode": Fixed(_STORAGE_RULES, default="Immediate"),
    },
)
HYPER_NODE = _kind("topology.volcano.sh/v1alpha1:HyperNode")
RUNTIME = _kind("trainer.kubeflow.org/v1alpha1:ClusterTrainingRuntime")

RELEASE = ResourceType(
    "kubernetes:helm.sh/v3:Release",
    make=_make_release,
    # Of a small chart; the contract of a chart has its own.
    latencies=Latencies(
        Lifetime(
            Latency(8, 12, 20, "published: public Terraform and Pulumi logs, 2022-2026: Neuron 15 s, EFA 10 s"),
            Latency(5, 10, 20, "measured and inferred: 0.2-4 s without image pulls"),
        ),
        updates={"": Latency(6, 30, 90, "inferred: measured 2-6 s without containers")},
    ),
    changes=Changes(replacing=("name", "namespace")),
    identity=by("namespace", "name"),
    creation=_NO_AWS_CALL,
    lookup=Without("it is found by Helm's own Secret behind the API server"),
    tagging=Without("Helm releases have no tags"),
    deletion=_NO_AWS_CALL,
    rights=_NO_RIGHT,
    costs=_FREE,
    leftover=_GONE,
    # Helm, pkg/action/install.go availableName
    conflict=Conflict(("namespace", "name"), "AlreadyExists", "release {name} failed: cannot re-use a name that is still in use"),
    name_limit=NameLimit("name", 53, "helm/helm pkg/action/install.go"),
)

OBJECTS = (
    VALIDATING_WEBHOOKS, DEFINITION, DAEMON_SET, DEPLOYMENT, STATEFUL_SET, CONFIG_MAP, NAMESPACE, VOLUME, CLAIM, SECRET, SERVICE,
    SERVICE_ACCOUNT, NODE_CLASS, NODE_POOL, CLUSTER_QUEUE, LOCAL_QUEUE, FLAVOR, POD_MONITOR, PROMETHEUS_RULE, SERVICE_MONITOR,
    CLUSTER_ROLE, CLUSTER_ROLE_BINDING, ROLE, ROLE_BINDING, QUEUE, STORAGE_CLASS, HYPER_NODE, RUNTIME,
)  # fmt: skip
"""Everything that is one object behind the API server; a Helm release is many."""
TYPES = (*OBJECTS, RELEASE)
