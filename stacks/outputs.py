"""What the stack tells its users when it is up."""

from typing import Any

from addons import etcd, prometheus_values
from addons.registry import SWITCHED
from components.control_plane import ControlPlane
from components.lustre import Lustre
from stacks.addons import is_on
from stacks.node_groups import CORE_GROUP
from stacks.settings import Settings

KUBE_SYSTEM = "kube-system"


def exports(settings: Settings, control_plane: ControlPlane, lustre: Lustre | None) -> dict[str, Any]:
    """Stack outputs by name; nothing in them is secret."""
    values: dict[str, Any] = {
        "clusterName": control_plane.name,
        "clusterArn": control_plane.arn,
        "region": settings.region,
        "kubeconfig": control_plane.kubeconfig,
        "nodeGroups": [CORE_GROUP, *sorted(settings.node_groups)],
        "namespaces": _namespaces(settings),
        "queues": sorted(settings.addons.volcano.queues) if settings.addons.volcano.enabled else [],
        "nextCommand": f"aws eks update-kubeconfig --name {settings.name} --region {settings.region} && kubectl get nodes -L trn/node-group",
    }
    if settings.addons.grafana.enabled and settings.addons.grafana.admin_secret is None:
        # The command, not the password: it is made in the cluster and stays there.
        values["grafanaPassword"] = (
            f"kubectl -n {prometheus_values.NAMESPACE} get secret grafana -o jsonpath='{{.data.admin-password}}' | base64 -d"
        )
    if settings.addons.batch.enabled:
        values["batchComputeEnvironmentId"] = (
            f"aws batch describe-compute-environments --region {settings.region} --compute-environments {settings.name}"
            " --query 'computeEnvironments[0].uuid' --output text"
        )
    if lustre is not None:
        values["fileSystemId"] = lustre.file_system_id
        values["fileSystemDnsName"] = lustre.dns_name
        values["fileSystemMountName"] = lustre.mount_name
        values["claim"] = settings.storage.lustre.claim_name
    return values


def _namespaces(settings: Settings) -> list[str]:
    """Namespaces that the stack makes, the jobs' own first."""
    made = [item.namespace for key, item in SWITCHED.items() if is_on(settings, key) and (item.charts or item.images)]
    own = [name for name in made if name not in (KUBE_SYSTEM, etcd.DECLARATION.namespace)]
    return [settings.training.namespace, *dict.fromkeys(own)]
