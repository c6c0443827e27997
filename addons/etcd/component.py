"""etcd as a component."""

from typing import Any

import pulumi
import pulumi_kubernetes as k8s

from addons.base import Addon
from addons.etcd import EtcdSettings
from addons.etcd.manifests import CLIENT, LABELS, PEER_PORT, PORT, SERVER, stateful_set_spec
from addons.site import Site
from addons.versions import ETCD_IMAGE


class Etcd(Addon):
    """Starts when untainted nodes are there."""

    def __init__(self, name: str, site: Site) -> None:
        super().__init__("Etcd", name, site)
        persistent, namespace = site.cluster.section(EtcdSettings).persistent, site.cluster.training_namespace
        after: list[pulumi.Resource] = [site.namespace, site.default_class] if persistent else [site.namespace]
        server = k8s.core.v1.Service(
            self.named(SERVER),
            metadata={"name": SERVER, "namespace": namespace, "labels": LABELS},
            # Headless: the provider waits 10 s for the endpoints of any other Service, and the set needs this one first.
            spec={
                "cluster_ip": "None",
                "publish_not_ready_addresses": True,
                "selector": LABELS,
                "ports": [{"name": "client", "port": PORT}, {"name": "peer", "port": PEER_PORT}],
            },
            opts=self.in_cluster(*after),
        )
        spec: Any = stateful_set_spec(persistent=persistent, image=self.image(ETCD_IMAGE))
        stateful_set = k8s.apps.v1.StatefulSet(
            self.named(SERVER),
            metadata={"name": SERVER, "namespace": namespace, "labels": LABELS},
            spec=spec,
            opts=self.in_cluster(server),
        )
        client = k8s.core.v1.Service(
            self.named(CLIENT),
            metadata={"name": CLIENT, "namespace": namespace, "labels": LABELS},
            spec={"selector": LABELS, "ports": [{"name": "client", "port": PORT}]},
            opts=self.in_cluster(stateful_set),
        )
        self.ready += [stateful_set, client]
        self.register_outputs({})


def make(site: Site) -> Addon:
    """The add-on of a cluster."""
    return Etcd("etcd", site)
