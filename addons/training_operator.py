"""Kubeflow training-operator 1.9: PyTorchJobs and TFJobs, from manifests of our own, since it has no chart.

It is the frozen predecessor of Kubeflow Trainer. Upstream's manifests also bring `mpijobs.kubeflow.org` v1, the same CRD as
the MPI operator's v2beta1; ours leaves MPIJobs out of controller, role and CRDs, so that both operators may be on.
"""

from dataclasses import dataclass
from typing import Any

import pulumi
import pulumi_kubernetes as k8s

from addons.base import ALL_VERBS, Addon, AddonArgs, own_labels
from addons.declaration import Declaration
from addons.images import Values
from addons.training_operator_kinds import KINDS, job_crd_spec
from addons.versions import TRAINING_OPERATOR_IMAGE

NAME = "training-operator"
NAMESPACE = "kubeflow"
LABELS = own_labels(NAME)
CERTIFICATE = "training-operator-webhook-cert"
"""Secret that the operator fills, by the name it looks for."""
WEBHOOKS = "validator.training-operator.kubeflow.org"
"""The name is fixed in the operator's code, which puts its certificate authority in there."""
DECLARATION = Declaration(
    key="trainingOperator",
    title="Kubeflow training-operator",
    purpose="PyTorchJobs and TFJobs of training-operator 1.9, the frozen predecessor of Trainer",
    component=NAME,
    namespace=NAMESPACE,
    nodes="core",
    images=(TRAINING_OPERATOR_IMAGE,),
)
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


@dataclass(frozen=True)
class TrainingOperatorArgs(AddonArgs):
    """What the operator is made from."""

    volcano: bool = False
    """Whether Volcano starts the pods of a job as a gang."""


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


class TrainingOperator(Addon):
    """Starts when untainted nodes are there; goes before its CRDs, which take all jobs along."""

    def __init__(
        self,
        name: str,
        args: TrainingOperatorArgs,
        opts: pulumi.ResourceOptions | None = None,
        *,
        after: list[pulumi.Resource] | None = None,
    ) -> None:
        """`after`: Volcano, where it starts the gangs: without its kinds the operator ends at once."""
        super().__init__("TrainingOperator", name, args, opts)
        namespace = self.namespace(NAMESPACE)
        crds = [self._crd(kind.plural, job_crd_spec(kind)) for kind in KINDS]
        metadata: Any = {"name": NAME, "namespace": NAMESPACE, "labels": LABELS}
        account = k8s.core.v1.ServiceAccount(name, metadata=metadata, opts=self.in_cluster(namespace))
        rights = self._rights(name, account)
        stored: Any = {**metadata, "name": CERTIFICATE}
        # Empty: the operator writes the certificate, and no field of ours stands in its way.
        secret = k8s.core.v1.Secret(name, metadata=stored, opts=self.in_cluster(namespace))
        hooks: Any = webhooks()
        # Before the operator, which is ready only when it has written its certificate authority in there.
        configuration = k8s.admissionregistration.v1.ValidatingWebhookConfiguration(
            name, metadata={"name": WEBHOOKS, "labels": LABELS}, webhooks=hooks, opts=self.in_cluster()
        )
        spec: Any = training_operator_spec(self.image(TRAINING_OPERATOR_IMAGE), volcano=args.volcano)
        needed = [*crds, *rights, secret, configuration, *(after or [])]
        deployment = k8s.apps.v1.Deployment(name, metadata=metadata, spec=spec, opts=self.in_cluster(*needed))
        ports: Any = [{"name": "metrics", "port": 8080}, {"name": "webhook-server", "port": 443, "targetPort": 9443}]
        # Behind the pods: a Service is awaited until it has endpoints.
        service = k8s.core.v1.Service(name, metadata=metadata, spec={"selector": LABELS, "ports": ports}, opts=self.in_cluster(deployment))
        self.ready += [deployment, service]
        self.register_outputs({})

    def _crd(self, plural: str, crd_spec: Any) -> pulumi.Resource:
        metadata: Any = {"name": f"{plural}.kubeflow.org", "labels": LABELS}
        return k8s.apiextensions.v1.CustomResourceDefinition(plural, metadata=metadata, spec=crd_spec, opts=self.in_cluster())

    def _rights(self, name: str, account: k8s.core.v1.ServiceAccount) -> list[pulumi.Resource]:
        subjects: Any = [{"kind": "ServiceAccount", "name": NAME, "namespace": NAMESPACE}]
        local: Any = {"name": NAME, "labels": LABELS, "namespace": NAMESPACE}
        secret_rules: Any = list(SECRET_RULES)
        role = k8s.rbac.v1.Role(name, metadata=local, rules=secret_rules, opts=self.in_cluster(account))
        binding = k8s.rbac.v1.RoleBinding(
            name,
            metadata=local,
            role_ref={"api_group": "rbac.authorization.k8s.io", "kind": "Role", "name": NAME},
            subjects=subjects,
            opts=self.in_cluster(role),
        )
        return [self.cluster_rights(NAME, NAMESPACE, RULES, account), binding]
