"""What the API server and Helm refuse, and waits of the Kubernetes provider that time out."""

from collections.abc import Mapping
from typing import Any

from facts.resources.table import TYPES
from facts.typed import typed
from simulator.account import kinds, view
from simulator.account.charts import chart_of, cluster_objects, needs_node
from simulator.account.rule import Refusal, rule
from simulator.account.state import AccountState
from simulator.account.timeouts import HELM_S, KIND_RETRY_S
from simulator.account.webhooks import Guard, guards_of
from simulator.recording import Registration

_MEASURED = "measured with pulumi-kubernetes 4.34.2 and Kubernetes 1.35.4, 2026-11-21"


@rule("create", kinds.IN_KUBERNETES, source=_MEASURED)
def api_server_answers(state: AccountState, request: Registration) -> Refusal | None:
    """Nothing is made in Kubernetes while its API server cannot be reached."""
    if view.api_answers(state):
        return None
    return Refusal(
        "Unreachable",
        "configured Kubernetes cluster is unreachable: unable to load schema information from the API server: connect: connection timed out",
        "the control plane is not there, or its public endpoint does not let this machine in",
        f"check `controlPlane.publicAccessCidrs` against your own address, then `{typed('pulumi up')}`",
        remedy="again",
    )


@rule("create", kinds.IN_KUBERNETES, source=_MEASURED)
def namespace_is_there(state: AccountState, request: Registration) -> Refusal | None:
    """An object, or a release that does not make its own, needs its namespace."""
    release = request.type == kinds.RELEASE
    name = request.inputs.get("namespace") if release else request.inputs.get("metadata", {}).get("namespace")
    if not name or view.namespace_exists(state, name) or (release and request.inputs.get("createNamespace")):
        return None
    text = f'create: failed to create: namespaces "{name}" not found' if release else f'namespaces "{name}" not found'
    return Refusal(
        "NotFound",
        text,
        f"{request.name} is to live in {name}, which is not there yet",
        "let it depend on the namespace",
        retry_s=0 if release else KIND_RETRY_S,
    )


@rule("create", kinds.IN_KUBERNETES, source=_MEASURED)
def kind_is_known(state: AccountState, request: Registration) -> Refusal | None:
    """A custom resource needs its CustomResourceDefinition."""
    if not kinds.is_custom_resource(request.type) or view.knows_kind(state, kinds.object_kind(request.type)):
        return None
    kind = kinds.object_kind(request.type)
    return Refusal(
        "NotFound",
        f'the apiVersion for this resource does not exist. Verify that any required CRDs have been created: no matches for kind "{kind.split("/")[1]}"',
        f"no release or definition in the cluster brings {kind}",
        "let it depend on the release that brings its kind",
        retry_s=KIND_RETRY_S,
    )


@rule("create", kinds.IN_KUBERNETES, source=_MEASURED)
def webhook_answers(state: AccountState, request: Registration) -> Refusal | None:
    """A fail-closed webhook whose pods do not answer refuses the kinds that it guards; the provider does not try again."""
    return dead_webhook(state, request, "CREATE")


@rule("update", kinds.IN_KUBERNETES, source=_MEASURED)
def webhook_answers_on_update(state: AccountState, request: Registration) -> Refusal | None:
    """The same for changes."""
    return dead_webhook(state, request, "UPDATE")


def dead_webhook(state: AccountState, request: Registration, operation: str) -> Refusal | None:
    """The refusal of a webhook that guards the kind and has no pods; None where all answer."""
    touched = {"v1/Service", "batch/Job"} if request.type == kinds.RELEASE else {kinds.object_kind(request.type)}
    for kind in sorted(touched):
        for guard in guards_of(state, kind, operation):
            if not guard.answers and guard.owner.urn != request.urn:
                return webhook_failed(guard, kind)
    return None


def webhook_failed(guard: Guard, kind: str) -> Refusal:
    """What a call of a webhook without endpoints ends with."""
    return Refusal(
        "InternalError",
        f'Internal error occurred: failed calling webhook: failed to call webhook: Post "https://{guard.service}.{guard.namespace}.svc:443": '
        f'no endpoints available for service "{guard.service}"',
        f"the webhook of {guard.owner.name} guards {kind}, and its pods do not answer",
        f"`{typed('pulumi up')}` again once the pods in {guard.namespace} are ready",
        remedy="again",
    )


@rule("create", kinds.RELEASE, source="helm/helm pkg/action/validate.go: invalid ownership metadata")
def one_owner_of_kind(state: AccountState, request: Registration) -> Refusal | None:
    """Two releases do not bring the same CustomResourceDefinition in their templates."""
    chart = chart_of(request)
    for kind in chart.kinds if chart is not None else ():
        owners = [existing.registration for existing in view.owners_of_kind(state, kind) if existing.registration.urn != request.urn]
        if owners:
            return Refusal(
                "InvalidOwnership",
                f'rendered manifests contain a resource that already exists. Unable to continue with install: CustomResourceDefinition "{kind}"'
                f" exists and cannot be imported into the current release: invalid ownership metadata",
                f"{kind} belongs to {owners[0].name} already",
                "install one of the two",
            )
    return None


@rule(
    "create",
    kinds.RELEASE,
    source="helm/helm pkg/action/validate.go; kubeflow-trainer 2.3.0, values.yaml: jobset.install and fullnameOverride",
)
def one_owner_of_object(state: AccountState, request: Registration) -> Refusal | None:
    """Two releases do not bring the same cluster-wide object, as Trainer's bundled JobSet and another JobSet would."""
    for name in cluster_objects(request):
        owners = [existing.registration for existing in view.releases(state) if name in cluster_objects(existing.registration)]
        if owners and owners[0].urn != request.urn:
            kind, _, short = name.partition("/")
            return Refusal(
                "InvalidOwnership",
                f'Unable to continue with install: {kind} "{short}" in namespace "" exists and cannot be imported into the current release:'
                f' invalid ownership metadata; annotation validation error: key "meta.helm.sh/release-name" must equal'
                f' "{request.inputs["name"]}": current value is "{owners[0].inputs["name"]}"',
                f"{name} belongs to {owners[0].name} already: both bring JobSet",
                "install one of the two: `addons.trainer.jobSet: false` leaves it out of Trainer",
            )
    return None


@rule("settle", kinds.RELEASE, source=_MEASURED)
def release_needs_node(state: AccountState, request: Registration) -> Refusal | None:
    """Pods and hook Jobs of a chart wait for a node that they tolerate; a release that is atomic is then uninstalled."""
    chart = chart_of(request)
    if chart is None or not needs_node(request) or view.untainted_groups(state):
        return None
    atomic = bool(request.inputs.get("atomic"))
    ending = ", and has been uninstalled due to atomic being set" if atomic else ""
    hook = (
        "failed pre-install: 1 error occurred: * timed out waiting for the condition" if chart.install_jobs else "context deadline exceeded"
    )
    return Refusal(
        "DeadlineExceeded",
        f"release {request.inputs['name']} failed{ending}: {hook}",
        f"pods of {request.name} are Pending: no node without the Neuron taint is ready",
        f"let it depend on an untainted node group; then `{typed('pulumi up')}`",
        retry_s=float(request.inputs.get("timeout") or HELM_S),
        leaves="nothing" if atomic else "unready",
        remedy="again",
    )


@rule("settle", kinds.STATEFUL_SET, kinds.DEPLOYMENT, source=_MEASURED)
def workload_needs_node(state: AccountState, request: Registration) -> Refusal | None:
    """A Deployment or StatefulSet is awaited until its pods are ready, which needs a node that they tolerate."""
    spec = request.inputs["spec"]
    tolerated = any(item.get("key", "").startswith("aws.amazon.com/") for item in spec["template"]["spec"].get("tolerations") or [])
    if tolerated or int(spec.get("replicas", 1)) == 0 or view.untainted_groups(state):
        return None
    return Refusal(
        "DeadlineExceeded",
        f"'{request.inputs['metadata']['name']}' timed out waiting to be Ready; 0 out of {spec.get('replicas', 1)} replicas succeeded readiness checks",
        f"pods of {request.name} are Pending: no node without the Neuron taint is ready",
        f"let it depend on an untainted node group; then `{typed('pulumi up')}`",
        retry_s=600,
        leaves="unready",
        remedy="again",
    )


@rule("settle", kinds.CLAIM, source=_MEASURED)
def volume_for_claim(state: AccountState, request: Registration) -> Refusal | None:
    """A claim that names its volume is bound when the volume is there and belongs to no other claim."""
    name = request.inputs["spec"].get("volumeName")
    if not name:
        return None
    volumes = [volume for volume in state.ready(kinds.VOLUME) if volume.inputs["metadata"]["name"] == name]
    metadata = request.inputs["metadata"]
    for volume in volumes:
        holder = volume.inputs["spec"].get("claimRef")
        if holder is None or (holder.get("namespace"), holder.get("name")) == (metadata.get("namespace"), metadata["name"]):
            return None
    return Refusal(
        "DeadlineExceeded",
        f"PersistentVolumeClaim '{metadata['name']}' timed out waiting to be Bound",
        f"volume {name} is {'kept for another claim' if volumes else 'not there'}",
        f"let the claim depend on its volume; then `{typed('pulumi up')}`",
        retry_s=300,
        leaves="unready",
        remedy="again",
    )


@rule(
    "update",
    kinds.IN_KUBERNETES,
    source="the API server's own validation and that of each CRD, as facts/resources/kubernetes.py names them",
)
def fixed_inputs(state: AccountState, request: Registration) -> Refusal | None:
    """An input that an object keeps for life is not changed, and the provider does not replace the object for it."""
    existing = state.find(request.type, request.id)
    if existing is None:
        return None
    for path, fixed in TYPES[request.type].changes.fixed.items():
        old, new = (_value(inputs, path, fixed.default) for inputs in (existing.registration.inputs, request.inputs))
        if not fixed.allowed(old, new):
            kind = request.type.rpartition(":")[2]
            destroy = typed(f"pulumi destroy --target-dependents --target '{request.urn}'")
            return Refusal(
                "Invalid",
                f'{kind} "{request.inputs["metadata"]["name"]}" is invalid: {path}: Invalid value: {fixed.text}',
                f"{path} of {request.name} was {old} and would be {new}",
                f"take the change back; or `{destroy}`, then `{typed('pulumi up')}`",
            )
    return None


def _value(inputs: Mapping[str, Any], path: str, default: Any) -> Any:
    """What is at a dotted path."""
    value: Any = inputs
    for part in path.split("."):
        value = value.get(part) if isinstance(value, Mapping) else None
    return default if value is None else value
