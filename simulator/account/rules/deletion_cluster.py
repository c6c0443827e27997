"""What EKS and Kubernetes do not let go, or let go only by force."""

from collections.abc import Iterator, Mapping
from typing import Any

from facts.typed import typed
from simulator.account import kinds, view
from simulator.account.charts import chart_of, kinds_with_finalizers, runs_delete_jobs
from simulator.account.objects import CloudObject
from simulator.account.rule import Refusal, rule
from simulator.account.rules.kubernetes import webhook_failed
from simulator.account.state import AccountState
from simulator.account.timeouts import HELM_S, KUBERNETES_DELETE_S
from simulator.account.webhooks import answers, guards_of
from simulator.recording import Registration

_WITH_PODS = (kinds.DEPLOYMENT, kinds.STATEFUL_SET, kinds.DAEMON_SET, kinds.RELEASE)
_MEASURED = "measured with pulumi-kubernetes 4.34.2 and Kubernetes 1.35.4, 2026-11-21"


def delete_timeout_s(registration: Registration) -> float:
    """How long the provider waits for a Kubernetes deletion: the program's own limit, or ten minutes."""
    text = str((registration.options.get("customTimeouts") or {}).get("delete", ""))
    units = {"s": 1, "m": 60, "h": 3600}
    return float(text[:-1]) * units[text[-1]] if text and text[-1] in units else KUBERNETES_DELETE_S


@rule("delete", kinds.CLUSTER, source="EKS API, DeleteCluster, ResourceInUseException")
def cluster_has_node_groups(state: AccountState, request: Registration) -> Refusal | None:
    """A control plane stays while it has node groups, failed ones included."""
    groups = view.node_groups(state)
    if not groups:
        return None
    return Refusal(
        "ResourceInUseException",
        "Cluster has nodegroups attached",
        f"{', '.join(str(group.inputs['nodeGroupName']) for group in groups)} still there",
        "delete the groups first: a group that the state does not know with `aws eks delete-nodegroup`",
    )


@rule("delete", kinds.CLUSTER, source="EKS API, DeleteCluster, deletionProtection; the code is in the service model, the text is ours")
def deletion_protection(state: AccountState, request: Registration) -> Refusal | None:
    """A control plane with deletion protection stays."""
    if not request.inputs.get("deletionProtection"):
        return None
    return Refusal(
        "InvalidRequestException",
        f"cluster {request.id} has deletion protection",
        "`controlPlane.deletionProtection` is true",
        f"set `controlPlane.deletionProtection: false` and run `{typed('pulumi up')}` first",
    )


@rule("verify", kinds.NODE_GROUP, source="EKS API, NodegroupIssueCode Ec2LaunchTemplateNotFound")
def template_is_there(state: AccountState, request: Registration) -> Refusal | None:
    """EC2 deletes a launch template that a group uses without a word, and the group can then neither grow nor replace a node."""
    wanted = request.inputs.get("launchTemplate", {}).get("id")
    if not wanted or state.find(kinds.LAUNCH_TEMPLATE, wanted) is not None:
        return None
    return Refusal(
        "Ec2LaunchTemplateNotFound",
        "We couldn't find the Amazon EC2 launch template for your managed node group",
        f"{request.inputs['nodeGroupName']} was made from {wanted}, which is gone",
        f"replace the group: `{typed('pulumi up --replace')}`, and let it depend on its template",
    )


@rule("delete", kinds.IN_KUBERNETES, source=_MEASURED)
def api_server_is_gone(state: AccountState, request: Registration) -> Refusal | None:
    """Without its API server no Kubernetes object is deleted, and a release not even with the unreachable switch."""
    if view.api_answers(state):
        return None
    # What went with a cluster that was replaced: the engine deletes it before its cluster (pulumi/pulumi step_generator.go,
    # calculateDependentReplacements), the plan of a rehearsal may have it after.
    if state.of(request) is None and view.api_answers(state.whole):
        return None
    return Refusal(
        "Unreachable",
        "configured Kubernetes cluster is unreachable. If the cluster was deleted, you can remove this resource from Pulumi state by rerunning"
        ' the operation with the PULUMI_K8S_DELETE_UNREACHABLE environment variable set to "true"',
        "the control plane is gone, or cannot be reached from here",
        f"`{typed('PULUMI_K8S_DELETE_UNREACHABLE=true pulumi refresh')}`, which drops releases too, then `{typed('pulumi destroy')}`",
        remedy="forget",
    )


@rule("delete", kinds.IN_KUBERNETES, source="volcano-sh/volcano#2191; measured with pulumi-kubernetes 4.34.2")
def webhook_outlives_pods(state: AccountState, request: Registration) -> Refusal | None:
    """A webhook that guards deletions refuses them when its pods are gone and its configuration is not."""
    if state.find(request.type, request.id) is None or request.type == kinds.RELEASE:
        return None
    kind = kinds.object_kind(request.type)
    return next((webhook_failed(guard, kind) for guard in guards_of(state, kind, "DELETE") if not guard.answers), None)


@rule("delete", kinds.IN_KUBERNETES, source=_MEASURED)
def finalizer_needs_controller(state: AccountState, request: Registration) -> Refusal | None:
    """An object with a finalizer can be deleted only while the controller that set it is there to remove it."""
    if not kinds.is_custom_resource(request.type) or state.find(request.type, request.id) is None:
        return None
    kind = kinds.object_kind(request.type)
    keepers = [existing for existing in view.releases(state) if _lets_go(existing, kind)]
    if kind not in kinds_with_finalizers() or any(answers(state, existing) for existing in keepers):
        return None
    return Refusal(
        "DeadlineExceeded",
        f"finalizers might be preventing deletion ({kind}); timed out waiting for the condition",
        f"no controller is left to take the finalizer off {request.name}",
        f'`kubectl patch {kind.split("/")[1].lower()} {request.id} --type=merge -p \'{{"metadata":{{"finalizers":null}}}}\'`, then `{typed("pulumi destroy")}`',
        retry_s=delete_timeout_s(request),
    )


def _lets_go(existing: CloudObject, kind: str) -> bool:
    chart = chart_of(existing.registration)
    return chart is not None and kind in chart.finalizers


@rule("delete", kinds.RELEASE, source=_MEASURED)
def kinds_are_unused(state: AccountState, request: Registration) -> Refusal | None:
    """A release that brings kinds is not uninstalled while objects of them wait for a finalizer that it alone takes off."""
    chart = chart_of(request)
    if chart is None:
        return None
    held = [existing for kind in chart.kinds for existing in view.objects_of_kind(state, kind) if kind in kinds_with_finalizers()]
    if not held:
        return None
    return Refusal(
        "DeadlineExceeded",
        "uninstallation completed with 1 error(s): context deadline exceeded",
        f"{held[0].registration.name} and {len(held) - 1} more objects of its kinds are there, with finalizers",
        f"delete these objects first; now `{typed('pulumi refresh')}`, then `{typed('pulumi destroy')}`: Helm's own record is gone",
        retry_s=float(request.inputs.get("timeout") or HELM_S),
    )


@rule("delete", kinds.RELEASE, source="volcano and kubeflow-trainer charts rendered with Helm 4.3.1: pre-delete hooks")
def delete_jobs_need_node(state: AccountState, request: Registration) -> Refusal | None:
    """A release whose deletion runs a hook Job needs a node for it."""
    if not runs_delete_jobs(request) or view.untainted_groups(state):
        return None
    return Refusal(
        "DeadlineExceeded",
        f"uninstall: Failed to purge the release: failed pre-delete: timed out waiting for the condition ({request.inputs['name']})",
        "its hook Job is Pending: no node without the Neuron taint is left",
        f"delete releases while nodes are there; now `helm uninstall --no-hooks`, `{typed('pulumi refresh')}`, `{typed('pulumi destroy')}`",
        retry_s=float(request.inputs.get("timeout") or HELM_S),
    )


@rule("delete", kinds.CLAIM, kinds.VOLUME, source="Kubernetes storage protection finalizers; kubernetes-csi/external-provisioner#1217")
def storage_in_use(state: AccountState, request: Registration) -> Refusal | None:
    """A claim stays while a pod mounts it, a volume while a claim is bound to it."""
    name, own = request.inputs["metadata"]["name"], list[str]()
    if request.type == kinds.CLAIM:
        holders = [stray.what for stray in state.strays.values() if stray.name.startswith(f"pod on {name}")]
        own = [f"pods of {workload.name}" for workload in _mounting(state, name, request.inputs["metadata"].get("namespace"))]
        finalizer = "kubernetes.io/pvc-protection"
    else:
        bound = (existing.registration for existing in state.existing(kinds.CLAIM))
        holders = [claim.name for claim in bound if claim.inputs["spec"].get("volumeName") == name]
        finalizer = "kubernetes.io/pv-protection"
    if not holders and not own:
        return None
    # The program's own pods are deleted by the program: a drain leaves them.
    drain, switch_off = (
        f"`{typed('trn drain')}` ends the jobs that mount it; then `{typed('pulumi destroy')}` again",
        "switch off the add-on that mounts it first",
    )
    return Refusal(
        "DeadlineExceeded",
        f"finalizers might be preventing deletion ({finalizer}); timed out waiting for the condition",
        f"{name} is used by {', '.join([*holders, *own])}",
        drain if holders else switch_off,
        retry_s=delete_timeout_s(request),
        remedy="drain" if holders else "configure",
    )


def _mounting(state: AccountState, claim: str, namespace: str | None) -> list[Registration]:
    """What the program made whose pods mount a claim."""
    workloads = [item.registration for kind in _WITH_PODS for item in state.existing(kind)]
    return [
        workload
        for workload in workloads
        if namespace in (workload.inputs.get("namespace"), workload.inputs.get("metadata", {}).get("namespace"))
        and claim in _claims(workload.inputs)
    ]


def _claims(value: Any) -> Iterator[Any]:
    """Every `claimName` at any depth: in a pod's volumes, and in a chart's values."""
    if isinstance(value, Mapping):
        yield from (item for key, item in value.items() if key == "claimName")
    inside = value.values() if isinstance(value, Mapping) else value if isinstance(value, list) else ()
    for item in inside:
        yield from _claims(item)


@rule("delete", kinds.NAMESPACE, source="kubernetes/kubernetes NamespaceContentRemaining; measured with Kubernetes 1.35.4")
def namespace_with_finalizers(state: AccountState, request: Registration) -> Refusal | None:
    """A namespace stays while anything in it waits for a finalizer."""
    name = request.inputs["metadata"]["name"]
    holders = [stray.what for stray in state.strays.values() if stray.name.startswith("pod on") and f"{name}/" in stray.name]
    if not holders:
        return None
    return Refusal(
        "DeadlineExceeded",
        "finalizers might be preventing deletion (); timed out waiting for the condition",
        f"namespace {name} holds {', '.join(holders)}",
        f"`{typed('trn drain')}` ends them; the namespace's status conditions name other blockers",
        retry_s=delete_timeout_s(request),
        remedy="drain",
    )
