"""Devices by dynamic resource allocation beside those of device plug-ins: what pods claim and what drivers publish, under Volcano's names.

A pod that claims 16 devices of `neuron.aws.com` is read as one that is limited to 16 of `deviceclass/neuron.aws.com`, and a node whose
driver publishes 16 as one that has 16 of it: whoever counts resources counts claims too.
"""

from collections.abc import Iterable, Mapping, Sequence

from facts.device_claims import EFA_COUNTED, NEURON_COUNTED, counted
from facts.kubernetes_kinds import Resource
from facts.names import EFA_RESOURCE, NEURON_RESOURCE
from facts.resource_slices import of_class, offered
from trn.kubernetes.client import Kubernetes, Object

CLAIM_TEMPLATES = Resource("ResourceClaimTemplate", "/apis/resource.k8s.io/v1", "resourceclaimtemplates")
RESOURCE_CLAIMS = Resource("ResourceClaim", "/apis/resource.k8s.io/v1", "resourceclaims")
SLICES = Resource("ResourceSlice", "/apis/resource.k8s.io/v1", "resourceslices")
CHIPS, INTERFACES = (NEURON_RESOURCE, NEURON_COUNTED), (EFA_RESOURCE, EFA_COUNTED)
"""Names under which chips, and interfaces, are asked for: of a device plug-in, and of a driver's class."""


def is_neuron(resource: str) -> bool:
    """Whether a resource of a pod is Neuron devices or cores, in whatever way they are handed out."""
    return resource.startswith(NEURON_RESOURCE) or resource == NEURON_COUNTED


class Claims:
    """ResourceClaims and their templates of a cluster, or of one namespace."""

    def __init__(self, templates: Iterable[Object] = (), claims: Iterable[Object] = ()) -> None:
        self._templates = {_key(item): item for item in templates}
        self._claims = {_key(item): item for item in claims}

    def of(self, namespace: str, spec: Mapping[str, object], status: Mapping[str, object] | None = None) -> dict[str, int]:
        """Devices that a pod claims, by Volcano's name of their class."""
        named = {entry["name"]: entry.get("resourceClaimName") for entry in _entries((status or {}).get("resourceClaimStatuses"))}
        found: dict[str, int] = {}
        for entry in _entries(spec.get("resourceClaims")):
            claim = self._claims.get((namespace, str(entry.get("resourceClaimName") or named.get(entry["name"]))))
            template = self._templates.get((namespace, str(entry.get("resourceClaimTemplateName"))))
            for name, count in _devices(claim, template).items():
                found[name] = found.get(name, 0) + count
        return found


def _devices(claim: Object | None, template: Object | None) -> dict[str, int]:
    """What was allocated; before that, what is asked for."""
    results = (((claim or {}).get("status") or {}).get("allocation") or {}).get("devices", {}).get("results") or ()
    if results:
        found: dict[str, int] = {}
        for result in results:
            name = of_class(result.get("driver", ""))
            found[name] = found.get(name, 0) + 1
        return found
    if claim is not None:
        return counted(claim.get("spec") or {})
    return counted((template or {}).get("spec", {}).get("spec") or {})


def with_claims(pods: Sequence[Object], kubernetes: Kubernetes, namespace: str = "") -> list[Object]:
    """Pods, with what they claim among the limits of their first container. Asks for nothing more where no pod claims anything."""
    if not any(pod.get("spec", {}).get("resourceClaims") for pod in pods):
        return list(pods)
    claims = read_claims(kubernetes, namespace)
    return [_with(pod, claims.of(str(pod["metadata"].get("namespace", "")), pod["spec"], pod.get("status"))) for pod in pods]


def read_claims(kubernetes: Kubernetes, namespace: str = "") -> Claims:
    """Those of a namespace, or of all."""
    templates = kubernetes.list(CLAIM_TEMPLATES, namespace=namespace) or ()
    return Claims(templates, kubernetes.list(RESOURCE_CLAIMS, namespace=namespace) or ())


def _with(pod: Object, devices: Mapping[str, int]) -> Object:
    if not devices:
        return pod
    first, *others = pod["spec"]["containers"]
    resources = first.get("resources") or {}
    limits = {**(resources.get("limits") or {}), **{name: str(count) for name, count in devices.items()}}
    return {**pod, "spec": {**pod["spec"], "containers": [{**first, "resources": {**resources, "limits": limits}}, *others]}}


def give_templates(kubernetes: Kubernetes, templates: Iterable[Object], owner: Object) -> None:
    """Make templates that are deleted with an object that is there: its pods wait for their claims until then. `owner`: as the server keeps it."""
    metadata = owner["metadata"]
    reference = {"apiVersion": owner["apiVersion"], "kind": owner["kind"], "name": metadata["name"], "uid": metadata["uid"]}
    for body in templates:
        owned = {**body, "metadata": {**body["metadata"], "ownerReferences": [reference]}}
        kubernetes.apply(CLAIM_TEMPLATES, body["metadata"]["namespace"], owned)


def with_slices(nodes: Sequence[Object], kubernetes: Kubernetes) -> list[Object]:
    """Nodes, with what DRA drivers publish of them among what they offer."""
    slices = kubernetes.list(SLICES) or []
    return [_offering(node, offered(slices, node["metadata"]["name"])) for node in nodes]


def _offering(node: Object, devices: Mapping[str, int]) -> Object:
    if not devices:
        return node
    status = node.get("status") or {}
    more = {name: str(count) for name, count in devices.items()}
    return {**node, "status": {**status, "allocatable": {**(status.get("allocatable") or {}), **more}}}


def _key(item: Object) -> tuple[str, str]:
    return str(item["metadata"].get("namespace", "")), str(item["metadata"]["name"])


def _entries(value: object) -> list[Object]:
    return [entry for entry in value if isinstance(entry, dict) and "name" in entry] if isinstance(value, list) else []
