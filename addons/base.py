"""What all components of add-ons share: how a chart becomes a Helm release, identities, custom resources."""

from collections.abc import Mapping, Sequence
from typing import Any

import pulumi
import pulumi_kubernetes as k8s

from addons.contract import load
from addons.images import Values, mirror_values, mirrored, overlaid
from addons.manifests import own_labels
from addons.site import Site
from addons.versions import Chart
from addons.webhook_retry import retry_on_webhook
from components.component import Component
from components.identity import PodIdentity, ServiceAccount

SHORT_DELETE = pulumi.CustomTimeouts(delete="3m")
"""For custom resources and namespaces: the provider's own limit of 10 minutes is the usual "destroy hangs"."""


class Addon(Component):
    """Base of the add-ons. Subclasses say what they install; values come from pure functions.

    The Kubernetes provider waits for nodes. The component itself is not given it, so that what the add-on makes in AWS is
    there by then.
    """

    ready: list[pulumi.Resource]
    """What an add-on that needs this one waits for."""

    def __init__(self, token: str, name: str, site: Site) -> None:
        super().__init__(f"trn:addons:{token}", name, pulumi.ResourceOptions(parent=site.parent, providers=[site.aws_provider]))
        self._kubernetes, self._mirror = site.kubernetes_provider, site.cluster.addons.mirror
        self.ready = []

    def child(self, *depends_on: pulumi.Resource) -> pulumi.ResourceOptions:
        """Options of a child in AWS."""
        return pulumi.ResourceOptions(parent=self, depends_on=list(depends_on) or None)

    def in_cluster(self, *depends_on: pulumi.Resource, **options: Any) -> pulumi.ResourceOptions:
        """Options of a child in Kubernetes."""
        return pulumi.ResourceOptions(parent=self, provider=self._kubernetes, depends_on=list(depends_on) or None, **options)

    def namespace(self, name: str, *, after: Sequence[pulumi.Resource] = ()) -> k8s.core.v1.Namespace:
        """A namespace of the add-on's own: one that Helm made would stay after destroy."""
        opts = self.in_cluster(*after, custom_timeouts=SHORT_DELETE)
        return k8s.core.v1.Namespace(self.named(f"{name}-namespace"), metadata={"name": name}, opts=opts)

    def release(
        self,
        chart: Chart,
        *,
        namespace: str,
        values: Mapping[str, Any],
        timeout_s: int,
        after: Sequence[pulumi.Resource] = (),
        hooks: pulumi.ResourceHookBinding | None = None,
        **options: Any,
    ) -> k8s.helm.v3.Release:
        """The chart as a real Helm release, hooks and all: Volcano's certificate comes from a hook.

        Atomic: a failed install leaves nothing in the state, a failed upgrade is rolled back. `values` is never empty:
        Helm keeps the old values of a release that is upgraded with none.
        """
        release = k8s.helm.v3.Release(
            self.named(chart.name),
            name=chart.name,
            chart=chart.reference,
            version=chart.version,
            repository_opts={"repo": chart.repository} if chart.repository else None,
            namespace=namespace,
            values=overlaid(values, mirror_values(load(chart), self._mirror)) if self._mirror else values,
            atomic=True,
            timeout=timeout_s,
            # The CRDs come with a chart of their own where there is one: Helm never upgrades those in `crds/`.
            skip_crds=True if chart.crds_apart else None,
            opts=self.in_cluster(*after, hooks=hooks, **options),
        )
        self.ready.append(release)
        return release

    def image(self, name: str) -> str:
        """An image of our own manifests, from the mirror where there is one."""
        return mirrored(name, self._mirror)

    def retry_on_webhook(self, name: str) -> pulumi.ResourceHookBinding:
        """Hooks of what meets a webhook of this add-on, which may not answer at first; `name` is the component's."""
        return retry_on_webhook(self.named(f"{name}-webhook"))

    def identity(self, account: ServiceAccount, cluster_name: pulumi.Input[str]) -> PodIdentity:
        """A role for one service account. Pods that start before its association have no rights until they start again."""
        return PodIdentity(f"{account.purpose}-identity", account, cluster_name=cluster_name, opts=pulumi.ResourceOptions(parent=self))

    def cluster_rights(self, name: str, namespace: str, rules: Sequence[Values], account: k8s.core.v1.ServiceAccount) -> pulumi.Resource:
        """What the service account of this name may do in the whole cluster: the last of the objects that give it the right."""
        labels: Any = {"name": name, "labels": own_labels(name)}
        given: Any = list(rules)
        role = k8s.rbac.v1.ClusterRole(self.named(name), metadata=labels, rules=given, opts=self.in_cluster())
        return k8s.rbac.v1.ClusterRoleBinding(
            self.named(name),
            metadata=labels,
            role_ref={"api_group": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": name},
            subjects=[{"kind": "ServiceAccount", "name": name, "namespace": namespace}],
            opts=self.in_cluster(role, account),
        )

    def custom_resource(
        self,
        name: str,
        api_version: str,
        kind: str,
        *,
        metadata: Mapping[str, Any],
        spec: Any,
        after: Sequence[pulumi.Resource],
        hooks: pulumi.ResourceHookBinding | None = None,
        delete_timeout: str = "3m",
        **options: Any,
    ) -> k8s.apiextensions.CustomResource:
        """An object of a kind that a chart brings, made after the chart and deleted before it."""
        return k8s.apiextensions.CustomResource(
            self.named(name),
            api_version=api_version,
            kind=kind,
            metadata=dict(metadata),
            spec=spec,
            opts=self.in_cluster(*after, hooks=hooks, custom_timeouts=pulumi.CustomTimeouts(delete=delete_timeout), **options),
        )
