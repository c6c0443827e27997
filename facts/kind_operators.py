"""Which add-on brings the operator of a kind of Kubernetes object, by API group."""

from collections.abc import Mapping

BUILT_IN = frozenset({
    "", "admissionregistration.k8s.io", "apiextensions.k8s.io", "apiregistration.k8s.io", "apps", "authentication.k8s.io",
    "authorization.k8s.io", "autoscaling", "batch", "certificates.k8s.io", "coordination.k8s.io", "discovery.k8s.io", "events.k8s.io",
    "flowcontrol.apiserver.k8s.io", "networking.k8s.io", "node.k8s.io", "policy", "rbac.authorization.k8s.io", "resource.k8s.io",
    "scheduling.k8s.io", "storage.k8s.io", "crd.k8s.amazonaws.com", "networking.k8s.aws", "vpcresources.k8s.aws",
})  # fmt: skip
"""Groups that every EKS cluster serves: Kubernetes 1.35 API reference; the last three by the VPC CNI and EKS's own controllers."""
OPERATORS: Mapping[str, tuple[str, ...]] = {
    **dict.fromkeys(
        (f"{part}.volcano.sh" for part in ("batch", "bus", "config", "flow", "nodeinfo", "scheduling", "shard", "topology")), ("volcano",)
    ),
    "kubeflow.org/v1": ("trainingOperator",),
    "kubeflow.org/v2beta1": ("mpiOperator",),
    "trainer.kubeflow.org": ("trainer",),
    "jobset.x-k8s.io": ("trainer",),
    "ray.io": ("kubeRay",),
    "leaderworkerset.x-k8s.io": ("leaderWorkerSet",),
    "disaggregatedset.x-k8s.io": ("leaderWorkerSet",),
    "kueue.x-k8s.io": ("kueue",),
    "autoscaling.x-k8s.io": ("karpenter",),
    "karpenter.sh": ("karpenter",),
    "karpenter.k8s.aws": ("karpenter",),
    "slinky.slurm.net": ("slurm",),
    "cert-manager.io": ("certManager",),
    "acme.cert-manager.io": ("certManager",),
    "cloudwatch.aws.amazon.com": ("cloudWatch",),
    "eks.amazonaws.com": ("nodeMonitoring",),
    "aga.k8s.aws": ("loadBalancerController",),
    "elbv2.k8s.aws": ("loadBalancerController",),
    "gateway.k8s.aws": ("loadBalancerController",),
    "s3.csi.aws.com": ("mountpointS3",),
    "monitoring.coreos.com": ("prometheus",),
}
"""Keys of the add-ons whose operator serves a group, any of them; by group and version where versions have operators of their own."""


def operators_of(api_version: str) -> tuple[str, ...] | None:
    """Add-ons that serve objects of an `apiVersion`: none where no add-on does, None where every cluster does."""
    group = api_version.partition("/")[0] if "/" in api_version else ""
    if group in BUILT_IN:
        return None
    return OPERATORS.get(api_version) or OPERATORS.get(group) or ()
