"""AWS Load Balancer Controller: load balancers for Services and Ingresses. Off by default: what it makes holds the VPC."""

from addons.declaration import Declaration
from addons.section import AddonSettings
from addons.versions import LOAD_BALANCER_CONTROLLER
from facts.kubernetes_kinds import DrainedKind, DrainStage, Resource

NAMESPACE = "kube-system"
SERVICE_ACCOUNT = "aws-load-balancer-controller"
ISOLATED = ("ec2", "elasticloadbalancing")
"""Services that it calls without a NAT gateway: no firewalls, and certificates by their ARN only (EKS user guide, private clusters)."""


class LoadBalancerControllerSettings(AddonSettings):
    """AWS Load Balancer Controller."""

    enabled: bool = False
    """Load balancers for Services and Ingresses. Those outside the training namespace must be deleted before the stack."""


GATEWAYS = Resource("Gateway", "/apis/gateway.networking.k8s.io/v1", "gateways")
TARGET_GROUP_BINDINGS = Resource("TargetGroupBinding", "/apis/elbv2.k8s.aws/v1beta1", "targetgroupbindings")
GLOBAL_ACCELERATORS = Resource("GlobalAccelerator", "/apis/aga.k8s.aws/v1beta1", "globalaccelerators")
_WHY_BOUND = "without its controller its finalizer holds the namespace"
DRAINED = (
    DrainedKind(GATEWAYS, DrainStage.ROUTES, "delete", "its load balancer holds the VPC"),
    DrainedKind(TARGET_GROUP_BINDINGS, DrainStage.BALANCERS, "delete", _WHY_BOUND, "bound by hand"),
    DrainedKind(GLOBAL_ACCELERATORS, DrainStage.BALANCERS, "delete", "its accelerator bills, outside the VPC"),
)

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
    endpoints=("acm", "cognito-idp", "ec2", "elasticloadbalancing", "iam", "shield", "waf-regional", "wafv2"),
    called_in=lambda cluster: ISOLATED if cluster.isolated else DECLARATION.endpoints,
    tamed="the webhook on every Service and the one on every Ingress are switched off",
    early=True,
    leaves=(
        "7 CRDs of elbv2.k8s.aws, gateway.k8s.aws and aga.k8s.aws",
        "load balancers of Services and Ingresses outside the training namespace: delete those first, they hold the VPC",
    ),
    drained=DRAINED,
)
