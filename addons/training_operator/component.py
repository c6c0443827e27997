"""Kubeflow training-operator as a component."""

from typing import Any

import pulumi
import pulumi_kubernetes as k8s

from addons.base import Addon
from addons.site import Site
from addons.training_operator import NAME, NAMESPACE, TrainingOperatorSettings
from addons.training_operator.kinds import KINDS, job_crd_spec
from addons.training_operator.manifests import CERTIFICATE, LABELS, RULES, SECRET_RULES, WEBHOOKS, training_operator_spec, webhooks
from addons.versions import TRAINING_OPERATOR_IMAGE


class TrainingOperator(Addon):
    """Starts when untainted nodes are there; is deleted before its CRDs, whose deletion deletes all jobs."""

    def __init__(self, name: str, site: Site) -> None:
        super().__init__("TrainingOperator", name, site)
        volcano = site.cluster.section(TrainingOperatorSettings).batch_scheduler == "volcano"
        # Where Volcano starts the gangs: without its kinds the operator ends at once.
        after = site.ready("volcano") if volcano else []
        namespace = self.namespace(NAMESPACE)
        crds = [self._crd(kind.plural, job_crd_spec(kind)) for kind in KINDS]
        metadata: Any = {"name": NAME, "namespace": NAMESPACE, "labels": LABELS}
        account = k8s.core.v1.ServiceAccount(self.named(name), metadata=metadata, opts=self.in_cluster(namespace))
        rights = self._rights(name, account)
        stored: Any = {**metadata, "name": CERTIFICATE}
        # Empty: the operator writes the certificate, and the program owns no field that it would overwrite.
        secret = k8s.core.v1.Secret(self.named(name), metadata=stored, opts=self.in_cluster(namespace))
        hooks: Any = webhooks()
        # Before the operator, which is ready only when it has written its certificate authority in there.
        configuration = k8s.admissionregistration.v1.ValidatingWebhookConfiguration(
            self.named(name), metadata={"name": WEBHOOKS, "labels": LABELS}, webhooks=hooks, opts=self.in_cluster()
        )
        spec: Any = training_operator_spec(self.image(TRAINING_OPERATOR_IMAGE), volcano=volcano)
        needed = [*crds, *rights, secret, configuration, *after]
        deployment = k8s.apps.v1.Deployment(self.named(name), metadata=metadata, spec=spec, opts=self.in_cluster(*needed))
        ports: Any = [{"name": "metrics", "port": 8080}, {"name": "webhook-server", "port": 443, "targetPort": 9443}]
        # Behind the pods: a Service is awaited until it has endpoints.
        service = k8s.core.v1.Service(
            self.named(name), metadata=metadata, spec={"selector": LABELS, "ports": ports}, opts=self.in_cluster(deployment)
        )
        self.ready += [deployment, service]
        self.register_outputs({})

    def _crd(self, plural: str, crd_spec: Any) -> pulumi.Resource:
        metadata: Any = {"name": f"{plural}.kubeflow.org", "labels": LABELS}
        return k8s.apiextensions.v1.CustomResourceDefinition(self.named(plural), metadata=metadata, spec=crd_spec, opts=self.in_cluster())

    def _rights(self, name: str, account: k8s.core.v1.ServiceAccount) -> list[pulumi.Resource]:
        subjects: Any = [{"kind": "ServiceAccount", "name": NAME, "namespace": NAMESPACE}]
        local: Any = {"name": NAME, "labels": LABELS, "namespace": NAMESPACE}
        secret_rules: Any = list(SECRET_RULES)
        role = k8s.rbac.v1.Role(self.named(name), metadata=local, rules=secret_rules, opts=self.in_cluster(account))
        binding = k8s.rbac.v1.RoleBinding(
            self.named(name),
            metadata=local,
            role_ref={"api_group": "rbac.authorization.k8s.io", "kind": "Role", "name": NAME},
            subjects=subjects,
            opts=self.in_cluster(role),
        )
        return [self.cluster_rights(NAME, NAMESPACE, RULES, account), binding]


def make(site: Site) -> Addon:
    """The add-on of a cluster."""
    return TrainingOperator("training-operator", site)
