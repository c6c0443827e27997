"""The environment of a container's process: image, services of the namespace, `envFrom`, `env`, in the order in which each wins over the one before."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

from tests.kubernetes.kubelet import fields
from tests.kubernetes.kubelet.expansion import expand
from tests.kubernetes.kubelet.pods import Object, hostname

Reader = Callable[[str, str], Mapping[str, str] | None]
"""The values of (kind, name) in the pod's namespace as text, None for an object that is not there. Kinds: configmap, secret."""


class MissingReference(Exception):
    """A ConfigMap, Secret or key that the container cannot do without is not there: CreateContainerConfigError in the API."""


@dataclass(frozen=True)
class Surroundings:
    """What the environment is made from, beside the pod's own object."""

    addresses: Mapping[str, str]
    """`podIP` and `hostIP`."""
    read: Reader
    allocatable: Mapping[str, str] = field(default_factory=dict)
    """What the node can give, by resource."""
    image: Mapping[str, str] = field(default_factory=dict)
    """What the image sets, PATH among it."""
    services: tuple[Object, ...] = ()
    """Services of the pod's namespace, and `default/kubernetes`."""


def container_environment(pod: Object, container: Object, around: Surroundings) -> dict[str, str]:
    """Every variable of the container's process. Nothing of the kubelet's own environment is in it. Raises MissingReference, UnknownField."""
    values = {**around.image, "HOSTNAME": hostname(pod)}
    if pod["spec"].get("enableServiceLinks") is not False:
        values |= service_variables(around.services)
    else:
        values |= service_variables(service for service in around.services if service["metadata"]["name"] == "kubernetes")
    values.setdefault("HOME", "/root")
    for source in container.get("envFrom") or ():
        values |= _all_of(source, around.read)
    for entry in container.get("env") or ():
        found = _value(pod, container, entry, values, around)
        if found is not None:
            values[entry["name"]] = found
    return values


def service_variables(services: Iterable[Object]) -> dict[str, str]:
    """`NAME_SERVICE_HOST` and its like for services with an own address (Kubernetes documentation, Service, environment variables)."""
    values: dict[str, str] = {}
    for service in services:
        address, ports = service["spec"].get("clusterIP"), service["spec"].get("ports") or []
        if not address or address == "None" or not ports:
            continue
        name = service["metadata"]["name"].upper().replace("-", "_")
        values |= {f"{name}_SERVICE_HOST": address, f"{name}_SERVICE_PORT": str(ports[0]["port"])}
        for port in ports:
            if port.get("name"):
                values[f"{name}_SERVICE_PORT_{port['name'].upper().replace('-', '_')}"] = str(port["port"])
        protocol = ports[0].get("protocol", "TCP").lower()
        values[f"{name}_PORT"] = f"{protocol}://{address}:{ports[0]['port']}"
    return values


def _all_of(source: Object, read: Reader) -> dict[str, str]:
    """What an entry of `envFrom` gives."""
    for key, kind in (("configMapRef", "configmap"), ("secretRef", "secret")):
        if key in source:
            found = _read(kind, source[key], read)
            return {source.get("prefix", "") + name: value for name, value in (found or {}).items()}
    return {}


def _value(pod: Object, container: Object, entry: Object, values: Mapping[str, str], around: Surroundings) -> str | None:
    """The value of an entry of `env`; None for an optional reference to nothing, which leaves the variable unset."""
    source = entry.get("valueFrom")
    if not source:
        return expand(entry.get("value") or "", values)
    if "fieldRef" in source:
        return fields.field(pod, source["fieldRef"]["fieldPath"], around.addresses)
    if "resourceFieldRef" in source:
        wanted = source["resourceFieldRef"]
        named = next((each for each in pod["spec"]["containers"] if each["name"] == wanted.get("containerName")), container)
        return fields.resource(named, wanted["resource"], wanted.get("divisor"), around.allocatable)
    for key, kind in (("configMapKeyRef", "configmap"), ("secretKeyRef", "secret")):
        if key in source:
            return _key(kind, source[key], around.read)
    raise MissingReference(f"env {entry['name']}: unknown source {', '.join(source)}")


def _key(kind: str, reference: Object, read: Reader) -> str | None:
    found = _read(kind, reference, read)
    if found is not None and reference["key"] in found:
        return found[reference["key"]]
    if reference.get("optional"):
        return None
    raise MissingReference(f"couldn't find key {reference['key']} in {kind} {reference['name']}")


def _read(kind: str, reference: Object, read: Reader) -> Mapping[str, str] | None:
    found = read(kind, reference["name"])
    if found is None and not reference.get("optional"):
        raise MissingReference(f'{kind} "{reference["name"]}" not found')
    return found
