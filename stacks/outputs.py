"""What the stack tells its users when it is up."""

from collections.abc import Mapping
from typing import Any

from addons.batch import BatchSettings
from addons.grafana import NAMESPACE as GRAFANA_NAMESPACE
from addons.grafana import GrafanaSettings
from addons.registry import SWITCHED
from addons.volcano import VolcanoSettings
from components.control_plane import ControlPlane
from components.file_system import SharedFileSystem
from components.place import Place
from facts.toolchains import TOOLCHAINS, Framework
from stacks.cluster import cluster_of
from stacks.node_groups import CORE_GROUP
from stacks.settings import Settings

KUBE_SYSTEM = "kube-system"
FIRST_JOBS: Mapping[Framework, str] = {
    "torch-xla": "training/recipes/bert/job.yaml",
    "jax": "training/recipes/bert/job-jax.yaml",
    "torch": "training/recipes/llama/job.yaml",
}
"""Job files of this repository: the recipe to begin with, by the framework of the stack's toolchain."""


def exports(
    settings: Settings, stack: str, place: Place, control_plane: ControlPlane, file_system: SharedFileSystem | None
) -> dict[str, Any]:
    """Stack outputs by name; nothing in them is secret.

    `stack`: organization, project and stack. With the ARN, the creation time and the VPC it says which cluster this is.
    """
    addons = settings.addons
    volcano, grafana = addons.of(VolcanoSettings), addons.of(GrafanaSettings)
    values: dict[str, Any] = {
        "clusterName": control_plane.name,
        "clusterArn": control_plane.arn,
        "clusterCreatedAt": control_plane.created_at,
        "vpcId": place.vpc_id,
        "stack": stack,
        "region": settings.region,
        "kubeconfig": control_plane.kubeconfig,
        "nodeGroups": [CORE_GROUP, *sorted(settings.node_groups)],
        "namespaces": _namespaces(settings),
        "queues": sorted(volcano.queues) if volcano.enabled else [],
        "nextCommand": next_command(settings, stack),
    }
    if grafana.enabled and grafana.admin_secret is None:
        # The command, not the password: it is made in the cluster and stays there.
        values["grafanaPassword"] = f"kubectl -n {GRAFANA_NAMESPACE} get secret grafana -o jsonpath='{{.data.admin-password}}' | base64 -d"
    if addons.of(BatchSettings).enabled:
        values["batchComputeEnvironmentId"] = (
            f"aws batch describe-compute-environments --region {settings.region} --compute-environments {settings.name}"
            " --query 'computeEnvironments[0].uuid' --output text"
        )
    if file_system is not None:
        values["fileSystemId"] = file_system.file_system_id
        values["fileSystemDnsName"] = file_system.dns_name
        values["fileSystemMountName"] = file_system.mount_name
        values["claim"] = settings.storage.lustre.claim_name
    return values


def next_command(settings: Settings, stack: str) -> str:
    """What a user types next: kubectl's entry, whether all is there, and the first job of the stack's toolchain, if it has one."""
    name = stack.rpartition("/")[2]
    commands = [f"aws eks update-kubeconfig --name {settings.name} --region {settings.region}", f"trn status {name}"]
    toolchain = settings.training.toolchain
    if toolchain is not None:
        commands.append(f"trn submit {name} {FIRST_JOBS[TOOLCHAINS[toolchain].framework]}")
    return " && ".join(commands)


def _namespaces(settings: Settings) -> list[str | None]:
    """Namespaces that the stack makes, the jobs' own first."""
    cluster = cluster_of(settings)
    on = [item for item in SWITCHED.values() if item.is_on(cluster) and (item.charts or item.images)]
    own = [item.namespace for item in on if item.namespace not in (KUBE_SYSTEM, None)]
    return [settings.training.namespace, *dict.fromkeys(own)]
