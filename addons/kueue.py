"""Kueue: queues with quotas for jobs of all kinds but Volcano's."""

from collections.abc import Mapping
from dataclasses import dataclass

import pulumi

from addons.base import Addon, AddonArgs
from addons.declaration import Declaration
from addons.images import Values
from addons.kueue_objects import FlavorArgs, cluster_queue_spec, flavor_spec, kueue_configuration
from addons.versions import KUEUE
from addons.webhook_retry import retry_on_webhook

NAMESPACE = "kueue-system"
API_VERSION = "kueue.x-k8s.io/v1beta2"
QUEUE = "training"
DECLARATION = Declaration(
    key="kueue",
    title="Kueue",
    purpose="Admits whole jobs when their quota is free: Jobs, JobSets, TrainJobs, MPIJobs, Ray, LeaderWorkerSets",
    component="kueue",
    namespace=NAMESPACE,
    nodes="core",
    charts=(KUEUE,),
    kinds=tuple(f"{API_VERSION} {kind}" for kind in ("ResourceFlavor", "ClusterQueue", "LocalQueue")),
    fenced="its webhooks fail closed on Jobs: a release with a hook Job beside it fails while Kueue's pods start or stop",
    leaves=("suspended jobs stay suspended",),
)


@dataclass(frozen=True)
class KueueArgs(AddonArgs):
    """What Kueue is made from."""

    namespace: str
    """Where the jobs are."""
    own_namespace: bool
    """Whether the namespace is Kueue's to make."""
    flavors: Mapping[str, FlavorArgs]
    """By node group."""


def kueue_values(namespace: str) -> Values:
    """Helm values; keys as in `values.yaml` of the pinned chart."""
    resources = {"requests": {"cpu": "200m", "memory": "512Mi"}, "limits": {"memory": "1Gi"}}
    return {
        "controllerManager": {"replicas": 2, "podDisruptionBudget": {"enabled": True}, "manager": {"resources": resources}},
        "managerConfig": {"controllerManagerConfigYaml": kueue_configuration(namespace)},
    }


class Kueue(Addon):
    """Comes after all other releases and goes before them. Queues go before flavors, and both before the release: it holds their finalizers."""

    def __init__(self, name: str, args: KueueArgs, opts: pulumi.ResourceOptions | None = None, *, after: list[pulumi.Resource]) -> None:
        """`after`: all other releases, and the training namespace where the jobs are there."""
        super().__init__("Kueue", name, args, opts)
        system = self.namespace(NAMESPACE)
        jobs = [self.namespace(args.namespace)] if args.own_namespace else []
        release = self.release(KUEUE, namespace=NAMESPACE, values=kueue_values(args.namespace), timeout_s=600, after=[system, *after])
        hooks = retry_on_webhook(f"{name}-webhook")
        flavors = [
            self.custom_resource(
                f"flavor-{group}",
                API_VERSION,
                "ResourceFlavor",
                metadata={"name": group},
                spec=flavor_spec(group),
                after=[release],
                hooks=hooks,
            )
            for group in args.flavors
        ]
        if flavors:
            queue = self.custom_resource(
                "cluster-queue",
                API_VERSION,
                "ClusterQueue",
                metadata={"name": QUEUE},
                spec=cluster_queue_spec(args.namespace, args.flavors),
                after=flavors,
                hooks=hooks,
            )
            self.custom_resource(
                "local-queue",
                API_VERSION,
                "LocalQueue",
                metadata={"name": QUEUE, "namespace": args.namespace},
                spec={"clusterQueue": QUEUE},
                after=[queue, *jobs],
                hooks=hooks,
            )
        self.register_outputs({})
