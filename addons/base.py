"""What all add-ons share: how a chart becomes a Helm release, identities, custom resources, tolerations for Neuron nodes."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pulumi
import pulumi_kubernetes as k8s

from addons.contract import load
from addons.images import Values, mirror_values, mirrored, overlaid
from addons.versions import Chart
from components.identity import PodIdentity, ServiceAccount
from facts.names import NEURON_TAINT

TOLERATE_NEURON: dict[str, str] = {"key": NEURON_TAINT, "operator": "Exists", "effect": "NoSchedule"}
"""Lets a pod onto Neuron nodes that does not itself ask for a Neuron device."""

NODE_SHARE = 0.86
"""Part of a node's CPUs and memory that a pod gets which takes the whole node; the rest is kubelet's and the DaemonSets'."""

ALL_VERBS = ["create", "delete", "get", "list", "patch", "update", "watch"]
"""All that may be done with objects, for rules of our own manifests."""


def own_labels(name: str) -> dict[str, str]:
    """Labels of the objects of our own manifests."""
    return {"app.kubernetes.io/name": name, "app.kubernetes.io/part-of": "trn"}


SHORT_DELETE = pulumi.CustomTimeouts(delete="3m")
"""For custom resources and namespaces: the provider's own limit of 10 minutes is the usual "destroy hangs"."""


@dataclass(frozen=True, kw_only=True)
class AddonArgs:
    """What every add-on is made from."""

    mirror: str | None = None
    """Registry that holds all images; without it they come from where their makers publish them."""


class Addon(pulumi.ComponentResource):
    """Base of the add-ons. Subclasses say what they install; values come from pure functions.

    The Kubernetes provider waits for nodes. The component itself is not given it, so that what the add-on makes in AWS is
    there by then.
    """

    ready: list[pulumi.Resource]
    """What an add-on that needs this one waits for."""

    def __init__(self, token: str, name: str, args: AddonArgs, opts: pulumi.ResourceOptions | None) -> None:
        given = list(opts.providers or []) if opts is not None and isinstance(opts.providers, list) else []
        self._cluster = next((provider for provider in given if isinstance(provider, k8s.Provider)), None)
        own = [provider for provider in given if provider is not self._cluster]
        parent = opts.parent if opts is not None else None
        super().__init__(f"trn:addons:{token}", name, None, pulumi.ResourceOptions(parent=parent, providers=own))
        self._mirror = args.mirror
        self.ready = []

    def child(self, *depends_on: pulumi.Resource) -> pulumi.ResourceOptions:
        """Options of a child in AWS."""
        return pulumi.ResourceOptions(parent=self, depends_on=list(depends_on) or None)

    def in_cluster(self, *depends_on: pulumi.Resource, **options: Any) -> pulumi.ResourceOptions:
        """Options of a child in Kubernetes."""
        return pulumi.ResourceOptions(parent=self, provider=self._cluster, depends_on=list(depends_on) or None, **options)

    def namespace(self, name: str, *, after: Sequence[pulumi.Resource] = ()) -> k8s.core.v1.Namespace:
        """A namespace of the add-on's own: one that Helm made would stay after destroy."""
        opts = self.in_cluster(*after, custom_timeouts=SHORT_DELETE)
        return k8s.core.v1.Namespace(f"{name}-namespace", metadata={"name": name}, opts=opts)

    def release(
        self,
        chart: Chart,
        *,
        namespace: str,
        values: Mapping[str, Any],
        timeout_s: int,
        after: Sequence[pulumi.Resource] = (),
        hooks: pulumi.ResourceHookBinding | None = None,
    ) -> k8s.helm.v3.Release:
        """The chart as a real Helm release, hooks and all: Volcano's certificate comes from a hook.

        Atomic: a failed install leaves nothing in the state, a failed upgrade is rolled back. `values` is never empty:
        Helm keeps the old values of a release that is upgraded with none.
        """
        release = k8s.helm.v3.Release(
            chart.name,
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
            opts=self.in_cluster(*after, hooks=hooks),
        )
        self.ready.append(release)
        return release

    def image(self, name: str) -> str:
        """An image of our own manifests, from the mirror where there is one."""
        return mirrored(name, self._mirror)

    def identity(self, account: ServiceAccount, cluster_name: pulumi.Input[str]) -> PodIdentity:
        """A role for one service account. Pods that start before its association have no rights until they start again."""
        return PodIdentity(f"{account.purpose}-identity", account, cluster_name=cluster_name, opts=pulumi.ResourceOptions(parent=self))

    def cluster_rights(self, name: str, namespace: str, rules: Sequence[Values], account: k8s.core.v1.ServiceAccount) -> pulumi.Resource:
        """What the service account of this name may do in the whole cluster: the last of the objects that give it the right."""
        labels: Any = {"name": name, "labels": own_labels(name)}
        given: Any = list(rules)
        role = k8s.rbac.v1.ClusterRole(name, metadata=labels, rules=given, opts=self.in_cluster())
        return k8s.rbac.v1.ClusterRoleBinding(
            name,
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
            name,
            api_version=api_version,
            kind=kind,
            metadata=dict(metadata),
            spec=spec,
            opts=self.in_cluster(*after, hooks=hooks, custom_timeouts=pulumi.CustomTimeouts(delete=delete_timeout), **options),
        )
