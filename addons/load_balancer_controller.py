"""AWS Load Balancer Controller: load balancers for Services and Ingresses. Off by default: what it makes holds the VPC."""

import json
from dataclasses import dataclass
from pathlib import Path

import pulumi

from addons.base import Addon, AddonArgs
from addons.declaration import Declaration
from addons.images import Values
from addons.versions import LOAD_BALANCER_CONTROLLER
from components.identity import ServiceAccount
from facts import regions
from facts.iam import Document
from facts.names import cluster_tags

NAMESPACE = "kube-system"
SERVICE_ACCOUNT = "aws-load-balancer-controller"
POLICY = Path(__file__).parent / "policies" / "aws-load-balancer-controller.json"
"""Upstream's document for the partition aws, docs/install/iam_policy.json of v3.5.0; other partitions differ in ARNs alone."""
DECLARATION = Declaration(
    key="loadBalancerController",
    title="AWS Load Balancer Controller",
    purpose="Load balancers for Services and Ingresses; those of the training namespace go with it",
    component="load-balancer-controller",
    namespace=NAMESPACE,
    nodes="core",
    charts=(LOAD_BALANCER_CONTROLLER,),
    identities=(f"{NAMESPACE}/{SERVICE_ACCOUNT}",),
    tamed="the webhook on every Service and the one on every Ingress are switched off",
    early=True,
    leaves=(
        "7 CRDs of elbv2.k8s.aws and gateway.k8s.aws",
        "load balancers of Services and Ingresses outside the training namespace: delete those first, they hold the VPC",
    ),
)


@dataclass(frozen=True)
class LoadBalancerControllerArgs(AddonArgs):
    """What the controller is made from."""

    cluster_name: str
    region: str
    vpc_id: pulumi.Input[str]


def load_balancer_controller_values(args: LoadBalancerControllerArgs) -> Values:
    """Helm values; keys as in `values.yaml` of the pinned chart."""
    return {
        "clusterName": args.cluster_name,
        "region": args.region,
        # Else it asks the instance metadata, which pods of one hop do not reach.
        "vpcId": args.vpc_id,
        "serviceAccount": {"name": SERVICE_ACCOUNT},
        # On, every Service of the cluster fails while its pods start or stop; a Service then names its class.
        "enableServiceMutatorWebhook": False,
        "webhookConfig": {"disableIngressValidation": True},
        # Each upgrade would make new certificates otherwise.
        "keepTLSSecret": True,
        "defaultTags": cluster_tags(args.cluster_name),
        "resources": {"requests": {"cpu": "50m", "memory": "128Mi"}},
    }


def load_balancer_controller_policy(partition: str) -> Document:
    """What the controller may do, in a region's partition."""
    return json.loads(POLICY.read_text().replace("arn:aws:", f"arn:{partition}:"))


class LoadBalancerController(Addon):
    """Comes before the training namespace and goes after it, so that it can take away what Services there made."""

    def __init__(
        self,
        name: str,
        args: LoadBalancerControllerArgs,
        control_plane_name: pulumi.Input[str],
        opts: pulumi.ResourceOptions | None = None,
    ) -> None:
        super().__init__("LoadBalancerController", name, args, opts)
        policy = load_balancer_controller_policy(regions.partition(args.region))
        account = ServiceAccount(args.cluster_name, args.region, NAMESPACE, SERVICE_ACCOUNT, "load-balancers", policy=policy)
        identity = self.identity(account, control_plane_name)
        values = load_balancer_controller_values(args)
        self.release(LOAD_BALANCER_CONTROLLER, namespace=NAMESPACE, values=values, timeout_s=300, after=[identity.association])
        self.register_outputs({})
