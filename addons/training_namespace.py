"""The namespace in which training jobs, their claim and etcd live."""

import pulumi
import pulumi_kubernetes as k8s

from addons.base import Addon, AddonArgs


class TrainingNamespace(Addon):
    """Goes after everything in it."""

    resource: k8s.core.v1.Namespace

    def __init__(
        self, name: str, namespace: str, opts: pulumi.ResourceOptions | None = None, *, after: list[pulumi.Resource] | None = None
    ) -> None:
        """`after`: what cleans up after objects in it, and so must outlive it."""
        super().__init__("TrainingNamespace", name, AddonArgs(), opts)
        self.resource = self.namespace(namespace, after=after or [])
        self.register_outputs({})
