"""What the stack tells its users when it is up."""

from typing import Any

from addons import volcano
from components.control_plane import ControlPlane
from components.lustre import Lustre
from stacks.node_groups import CORE_GROUP
from stacks.settings import Settings


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
    if lustre is not None:
        values["fileSystemId"] = lustre.file_system_id
        values["fileSystemDnsName"] = lustre.dns_name
        values["fileSystemMountName"] = lustre.mount_name
        values["claim"] = settings.storage.lustre.claim_name
    return values


def _namespaces(settings: Settings) -> list[str]:
    """Namespaces that the stack makes, the jobs' own first."""
    found = [settings.training.namespace]
    return [*found, volcano.NAMESPACE] if settings.addons.volcano.enabled else found
