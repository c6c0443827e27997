"""What all add-ons share: how a chart becomes a Helm release, and tolerations for Neuron nodes."""

from collections.abc import Mapping, Sequence
from typing import Any

import pulumi
import pulumi_kubernetes as k8s

from addons.versions import Chart
from components.hardware.names import NEURON_TAINT

TOLERATE_NEURON: dict[str, str] = {"key": NEURON_TAINT, "operator": "Exists", "effect": "NoSchedule"}
"""Lets a pod onto Neuron nodes that does not itself ask for a Neuron device."""

SHORT_DELETE = pulumi.CustomTimeouts(delete="3m")
"""For custom resources and namespaces: the provider's own limit of 10 minutes is the usual "destroy hangs"."""

Values = dict[str, Any]


class Addon(pulumi.ComponentResource):
    """Base of the add-ons. Subclasses say what they install; values come from pure functions.

    The Kubernetes provider is the component's own: children inherit it through their parent.
    """

    def __init__(self, token: str, name: str, opts: pulumi.ResourceOptions | None) -> None:
        super().__init__(f"trn:addons:{token}", name, None, opts)

    def child(self, *depends_on: pulumi.Resource) -> pulumi.ResourceOptions:
        """Options of a child."""
        return pulumi.ResourceOptions(parent=self, depends_on=list(depends_on) or None)

    def namespace(self, name: str) -> k8s.core.v1.Namespace:
        """A namespace of the add-on's own: one that Helm made would stay after destroy."""
        return k8s.core.v1.Namespace(
            f"{name}-namespace", metadata={"name": name}, opts=pulumi.ResourceOptions(parent=self, custom_timeouts=SHORT_DELETE)
        )

    def release(
        self, chart: Chart, *, namespace: str, values: Mapping[str, Any], timeout_s: int, after: Sequence[pulumi.Resource] = ()
    ) -> k8s.helm.v3.Release:
        """The chart as a real Helm release, hooks and all: Volcano's certificate comes from a hook.

        Atomic: a failed install leaves nothing in the state, a failed upgrade is rolled back. `values` is never empty:
        Helm keeps the old values of a release that is upgraded with none.
        """
        return k8s.helm.v3.Release(
            chart.name,
            name=chart.name,
            chart=chart.reference,
            version=chart.version,
            repository_opts={"repo": chart.repository} if chart.repository else None,
            namespace=namespace,
            values=values,
            atomic=True,
            timeout=timeout_s,
            opts=self.child(*after),
        )
