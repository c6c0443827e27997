"""AWS Load Balancer Controller as a component."""

import json
from collections.abc import Mapping
from pathlib import Path

import pulumi

from addons.base import Addon
from addons.cluster import Cluster
from addons.images import Values
from addons.load_balancer_controller import ISOLATED, NAMESPACE, SERVICE_ACCOUNT
from addons.site import Site
from addons.versions import LOAD_BALANCER_CONTROLLER
from components.identity import ServiceAccount
from facts import regions
from facts.endpoints import called_services
from facts.iam import Document, document

POLICY = Path(__file__).parent / "policy.json"
"""Upstream's document for the partition aws, docs/install/iam_policy.json of v3.5.0; other partitions differ in ARNs alone."""


def load_balancer_controller_values(cluster: Cluster, vpc_id: pulumi.Input[str], owner_tags: Mapping[str, str]) -> Values:
    """Helm values; keys as in `values.yaml` of the pinned chart."""
    # On by default; the controller would wait for services that nothing reaches.
    isolated = {"enableShield": False, "enableWafv2": False} if cluster.isolated else {}
    return {
        "clusterName": cluster.name,
        "region": cluster.region,
        # Else it asks the instance metadata, which pods of one hop do not reach.
        "vpcId": vpc_id,
        "serviceAccount": {"name": SERVICE_ACCOUNT},
        # On, every Service of the cluster fails while its pods start or stop; a Service then names its class.
        "enableServiceMutatorWebhook": False,
        "webhookConfig": {"disableIngressValidation": True},
        # Each upgrade would make new certificates otherwise.
        "keepTLSSecret": True,
        "defaultTags": dict(owner_tags),
        "resources": {"requests": {"cpu": "50m", "memory": "128Mi"}},
        **isolated,
    }


def load_balancer_controller_policy(partition: str, *, isolated: bool = False) -> Document:
    """What the controller may do, in a region's partition; where it is isolated, nothing with services that it does not reach."""
    policy = json.loads(POLICY.read_text().replace("arn:aws:", f"arn:{partition}:"))
    return policy if not isolated else document(*(item for item in policy["Statement"] if called_services([document(item)]) <= {*ISOLATED}))


class LoadBalancerController(Addon):
    """Installed before the training namespace and deleted after it, so that it can delete what Services there made."""

    def __init__(self, name: str, site: Site) -> None:
        super().__init__("LoadBalancerController", name, site)
        cluster = site.cluster
        policy = load_balancer_controller_policy(regions.partition(cluster.region), isolated=cluster.isolated)
        account = ServiceAccount(cluster.name, cluster.region, NAMESPACE, SERVICE_ACCOUNT, "load-balancers", policy=policy)
        after = [self.identity(account, site.control_plane_name).association]
        values = load_balancer_controller_values(cluster, site.vpc_id, site.owner_tags)
        self.release(LOAD_BALANCER_CONTROLLER, namespace=NAMESPACE, values=values, timeout_s=300, after=after)
        self.register_outputs({})


def make(site: Site) -> Addon:
    """The add-on of a cluster."""
    return LoadBalancerController("load-balancer-controller", site)
