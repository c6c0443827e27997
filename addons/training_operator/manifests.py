"""The operator's rights, Deployment and webhooks, as plain data."""

from addons.images import Values
from addons.manifests import ALL_VERBS, own_labels
from addons.training_operator import NAME, NAMESPACE
from addons.training_operator.kinds import KINDS

LABELS = own_labels(NAME)
CERTIFICATE = "training-operator-webhook-cert"
"""Secret that the operator fills, by the name it looks for."""
WEBHOOKS = "validator.training-operator.kubeflow.org"
"""The name is fixed in the operator's code, which puts its certificate authority in there."""
_PLURALS = [kind.plural for kind in KINDS]
RULES: tuple[Values, ...] = (
    {"apiGroups": [""], "resources": ["events", "pods"], "verbs": ALL_VERBS},
    {"apiGroups": [""], "resources": ["services"], "verbs": ["create", "delete", "get", "list", "watch"]},
    {"apiGroups": ["admissionregistration.k8s.io"], "resources": ["validatingwebhookconfigurations"], "verbs": ["get", "list", "watch"]},
    {
        "apiGroups": ["admissionregistration.k8s.io"],
        "resources": ["validatingwebhookconfigurations"],
        "resourceNames": [WEBHOOKS],
        "verbs": ["update"],
    },
    {"apiGroups": ["autoscaling"], "resources": ["horizontalpodautoscalers"], "verbs": ALL_VERBS},
    {"apiGroups": ["kubeflow.org"], "resources": _PLURALS, "verbs": ALL_VERBS},
    {"apiGroups": ["kubeflow.org"], "resources": [f"{plural}/finalizers" for plural in _PLURALS], "verbs": ["update"]},
    {"apiGroups": ["kubeflow.org"], "resources": [f"{plural}/status" for plural in _PLURALS], "verbs": ["get", "patch", "update"]},
    {"apiGroups": ["scheduling.volcano.sh"], "resources": ["podgroups"], "verbs": ALL_VERBS},
)
"""What the operator may do in the cluster (kubeflow/training-operator v1.9.0 manifests/base/rbac/role.yaml).

Without what only MPIJobs need: ConfigMaps, exec into pods, Roles of their launchers' own. Secrets it may write in its own
namespace only: upstream lets it read, and change, all of the cluster's.
"""
SECRET_RULES: tuple[Values, ...] = ({"apiGroups": [""], "resources": ["secrets"], "verbs": ["get", "list", "update", "watch"]},)


def training_operator_spec(image: str, *, volcano: bool) -> Values:
    """`spec` of the Deployment."""
    schemes = [f"--enable-scheme={kind.kind.lower()}" for kind in KINDS]
    field: list[Values] = [
        {"name": name, "valueFrom": {"fieldRef": {"fieldPath": path}}}
        for name, path in (("MY_POD_NAMESPACE", "metadata.namespace"), ("MY_POD_NAME", "metadata.name"))
    ]
    container = {
        "name": NAME,
        "image": image,
        "command": ["/manager", *schemes, *(["--gang-scheduler-name=volcano"] if volcano else [])],
        "env": field,
        "ports": [{"containerPort": 8080, "name": "metrics"}, {"containerPort": 9443, "name": "webhook-server"}],
        "livenessProbe": {"httpGet": {"path": "/healthz", "port": 8081}, "initialDelaySeconds": 15, "periodSeconds": 20},
        # Answers when the webhooks do: certificates written, authority in the webhook configuration.
        "readinessProbe": {"httpGet": {"path": "/readyz", "port": 8081}, "initialDelaySeconds": 10, "periodSeconds": 15},
        # Upstream asks for nothing.
        "resources": {"requests": {"cpu": "50m", "memory": "128Mi"}, "limits": {"memory": "512Mi"}},
        "securityContext": {"allowPrivilegeEscalation": False, "capabilities": {"drop": ["ALL"]}},
        "volumeMounts": [{"name": "cert", "mountPath": "/tmp/k8s-webhook-server/serving-certs", "readOnly": True}],
    }
    pod = {
        "serviceAccountName": NAME,
        "terminationGracePeriodSeconds": 10,
        "containers": [container],
        "volumes": [{"name": "cert", "secret": {"secretName": CERTIFICATE}}],
    }
    return {"replicas": 1, "selector": {"matchLabels": LABELS}, "template": {"metadata": {"labels": LABELS}, "spec": pod}}


def webhooks() -> list[Values]:
    """The operator's checks of its own kinds, which fail closed as upstream's do. Nothing else is asked."""
    return [
        {
            "name": f"validator.{kind.kind.lower()}.training-operator.kubeflow.org",
            "admissionReviewVersions": ["v1"],
            "clientConfig": {"service": {"name": NAME, "namespace": NAMESPACE, "path": f"/validate-kubeflow-org-v1-{kind.kind.lower()}"}},
            "failurePolicy": "Fail",
            "rules": [
                {"apiGroups": ["kubeflow.org"], "apiVersions": ["v1"], "operations": ["CREATE", "UPDATE"], "resources": [kind.plural]}
            ],
            "sideEffects": "None",
        }
        for kind in KINDS
    ]
