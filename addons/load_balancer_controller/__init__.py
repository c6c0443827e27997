"""AWS Load Balancer Controller: load balancers for Services and Ingresses. Off by default: what it makes holds the VPC."""

from addons.declaration import Declaration
from addons.section import AddonSettings
from addons.versions import LOAD_BALANCER_CONTROLLER

NAMESPACE = "kube-system"
SERVICE_ACCOUNT = "aws-load-balancer-controller"


class LoadBalancerControllerSettings(AddonSettings):
    """AWS Load Balancer Controller."""

    enabled: bool = False
    """Load balancers for Services and Ingresses. Those outside the training namespace must be deleted before the stack."""


DECLARATION = Declaration(
    key="loadBalancerController",
    title="AWS Load Balancer Controller",
    purpose="Load balancers for Services and Ingresses; those of the training namespace go with it",
    component="load-balancer-controller",
    namespace=NAMESPACE,
    nodes="core",
    settings=LoadBalancerControllerSettings,
    charts=(LOAD_BALANCER_CONTROLLER,),
    identities=(f"{NAMESPACE}/{SERVICE_ACCOUNT}",),
    tamed="the webhook on every Service and the one on every Ingress are switched off",
    early=True,
    leaves=(
        "7 CRDs of elbv2.k8s.aws and gateway.k8s.aws",
        "load balancers of Services and Ingresses outside the training namespace: delete those first, they hold the VPC",
    ),
)
