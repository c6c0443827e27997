"""The kinds of Kubernetes objects that the simulated cloud knows. One that is not here is refused, never guessed.

Tables elsewhere say of a few how they differ: in answer, latency, or what replaces them.
"""

OBJECTS: frozenset[str] = frozenset(
    {
        "kubernetes:admissionregistration.k8s.io/v1:ValidatingWebhookConfiguration",
        "kubernetes:apiextensions.k8s.io/v1:CustomResourceDefinition",
        "kubernetes:apps/v1:DaemonSet",
        "kubernetes:apps/v1:Deployment",
        "kubernetes:apps/v1:StatefulSet",
        "kubernetes:core/v1:ConfigMap",
        "kubernetes:core/v1:Namespace",
        "kubernetes:core/v1:PersistentVolume",
        "kubernetes:core/v1:PersistentVolumeClaim",
        "kubernetes:core/v1:Secret",
        "kubernetes:core/v1:Service",
        "kubernetes:core/v1:ServiceAccount",
        "kubernetes:karpenter.k8s.aws/v1:EC2NodeClass",
        "kubernetes:karpenter.sh/v1:NodePool",
        "kubernetes:kueue.x-k8s.io/v1beta2:ClusterQueue",
        "kubernetes:kueue.x-k8s.io/v1beta2:LocalQueue",
        "kubernetes:kueue.x-k8s.io/v1beta2:ResourceFlavor",
        "kubernetes:monitoring.coreos.com/v1:PodMonitor",
        "kubernetes:monitoring.coreos.com/v1:PrometheusRule",
        "kubernetes:monitoring.coreos.com/v1:ServiceMonitor",
        "kubernetes:rbac.authorization.k8s.io/v1:ClusterRole",
        "kubernetes:rbac.authorization.k8s.io/v1:ClusterRoleBinding",
        "kubernetes:rbac.authorization.k8s.io/v1:Role",
        "kubernetes:rbac.authorization.k8s.io/v1:RoleBinding",
        "kubernetes:scheduling.volcano.sh/v1beta1:Queue",
        "kubernetes:storage.k8s.io/v1:StorageClass",
        "kubernetes:topology.volcano.sh/v1alpha1:HyperNode",
        "kubernetes:trainer.kubeflow.org/v1alpha1:ClusterTrainingRuntime",
    }
)
"""Pulumi type tokens of everything that is one object behind the API server; a Helm release is many."""
