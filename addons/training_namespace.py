"""The namespace in which training jobs, their claim and etcd live."""

import pulumi_kubernetes as k8s

from addons.base import Addon
from addons.site import Site


class TrainingNamespace(Addon):
    """Deleted after everything in it, and before the add-ons made before it: those clean up after objects in it."""

    resource: k8s.core.v1.Namespace

    def __init__(self, name: str, site: Site) -> None:
        super().__init__("TrainingNamespace", name, site)
        self.resource = self.namespace(site.cluster.training_namespace, after=site.ready(*site.made))
        self.register_outputs({})
