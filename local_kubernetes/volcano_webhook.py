"""Volcano's admission webhook beside a control plane: the program, and what tells the API server to ask it.

The chart's configurations name a Service, whose pods are fake here: these name the program's port. While it does not answer, what it
would judge is let through; from then on it is fail-closed, as the chart's is.

Source: volcano-sh/volcano v1.15, installer/helm/chart/volcano/templates/webhooks.yaml and values.yaml (custom.enabled_admissions),
cmd/webhook-manager/app/util.go (names of the configurations, which it asks for).
"""

from base64 import b64encode
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from local_kubernetes.api import Object

PROGRAM = "vc-webhook-manager"
HOST = "127.0.0.1"
NOT_JUDGED = "kube-system"
"""Besides the release's own namespace."""


@dataclass(frozen=True)
class Hook:
    """One path of the webhook."""

    path: str
    group: str
    version: str
    resource: str
    operations: Sequence[str]

    @property
    def is_mutating(self) -> bool:
        """Whether it may change what it judges."""
        return self.path.endswith("/mutate")


HOOKS: Sequence[Hook] = (
    Hook("/jobs/mutate", "batch.volcano.sh", "v1alpha1", "jobs", ("CREATE",)),
    Hook("/jobs/validate", "batch.volcano.sh", "v1alpha1", "jobs", ("CREATE", "UPDATE")),
    Hook("/cronjobs/validate", "batch.volcano.sh", "v1alpha1", "cronjobs", ("CREATE", "UPDATE")),
    Hook("/podgroups/validate", "scheduling.volcano.sh", "v1beta1", "podgroups", ("CREATE",)),
    Hook("/queues/mutate", "scheduling.volcano.sh", "v1beta1", "queues", ("CREATE",)),
    Hook("/queues/validate", "scheduling.volcano.sh", "v1beta1", "queues", ("CREATE", "UPDATE", "DELETE")),
    Hook("/hypernodes/validate", "topology.volcano.sh", "v1alpha1", "hypernodes", ("CREATE", "UPDATE")),
)
"""Those that the chart has on by default."""


def arguments(tools: Mapping[str, Path], kubeconfig: Path, pki: Path, port: int, health_port: int) -> tuple[str, ...]:
    """The command line. `pki`: folder of ca.crt, tls.crt and tls.key."""
    return (
        str(tools[PROGRAM]), "--logtostderr", f"--kubeconfig={kubeconfig}", f"--webhook-url=https://{HOST}:{port}",
        f"--ca-cert-file={pki / 'ca.crt'}", f"--tls-cert-file={pki / 'tls.crt'}", f"--tls-private-key-file={pki / 'tls.key'}",
        f"--enabled-admission={','.join(hook.path for hook in HOOKS)}", f"--listen-address={HOST}", f"--port={port}",
        "--enable-healthz=true", f"--healthz-address={HOST}:{health_port}",
    )  # fmt: skip


def configurations(namespace: str, port: int, authority: bytes, *, answers: bool) -> Iterator[Object]:
    """What makes an API server ask it. `authority`: PEM; `answers`: whether it does already."""
    for hook in HOOKS:
        verb = "mutate" if hook.is_mutating else "validate"
        webhook = {
            "name": f"{verb}{hook.resource.rstrip('s')}.volcano.sh",
            "clientConfig": {"url": f"https://{HOST}:{port}{hook.path}", "caBundle": b64encode(authority).decode()},
            "rules": [
                {
                    "apiGroups": [hook.group],
                    "apiVersions": [hook.version],
                    "operations": list(hook.operations),
                    "resources": [hook.resource],
                }
            ],
            "failurePolicy": "Fail" if answers else "Ignore",
            "sideEffects": "NoneOnDryRun",
            "admissionReviewVersions": ["v1"],
            "namespaceSelector": {
                "matchExpressions": [{"key": "kubernetes.io/metadata.name", "operator": "NotIn", "values": [namespace, NOT_JUDGED]}]
            },
        }
        yield {
            "apiVersion": "admissionregistration.k8s.io/v1",
            "kind": f"{'Mutating' if hook.is_mutating else 'Validating'}WebhookConfiguration",
            "metadata": {"name": f"volcano-admission-service{hook.path.replace('/', '-')}"},
            "webhooks": [webhook],
        }
