"""The name files of a pod: what the cluster's DNS would answer, as a hosts file. Pure.

A hosts file has every name at once, so no search list is needed: each service is in it under its short and its long names.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from tests.kubernetes.kubelet.pods import Object, domain, hostname

SERVICE_LABEL = "kubernetes.io/service-name"
CLUSTER_DOMAIN = "cluster.local"

SWITCH_FILE = "hosts: files\n"
"""`/etc/nsswitch.conf`: a name that is not in the hosts file does not exist. There is no DNS server to ask."""


@dataclass(frozen=True)
class Names:
    """What the API server holds that has a name."""

    services: tuple[Object, ...] = ()
    slices: tuple[Object, ...] = ()
    """EndpointSlices, as the endpoint controller makes them."""


def services_seen(pod: Object, names: Names) -> tuple[Object, ...]:
    """Services that a pod's variables name: those of its namespace, and the API server's."""
    seen = ((each["metadata"]["namespace"], each["metadata"]["name"], each) for each in names.services)
    return tuple(each for home, name, each in seen if home == pod["metadata"]["namespace"] or (home, name) == ("default", "kubernetes"))


def hosts_file(pod: Object, address: str, names: Names) -> str:
    """`/etc/hosts` of the pod, as the kubelet writes it, and after it what the cluster's DNS knows."""
    own = [domain(pod), hostname(pod)] if domain(pod) else [hostname(pod)]
    lines = ["127.0.0.1\tlocalhost", "::1\tlocalhost ip6-localhost ip6-loopback", f"{address}\t{' '.join(each for each in own if each)}"]
    lines += [f"{alias['ip']}\t{' '.join(alias.get('hostnames') or ())}" for alias in pod["spec"].get("hostAliases") or ()]
    namespace = pod["metadata"]["namespace"]
    for service in sorted(names.services, key=lambda each: (each["metadata"]["namespace"], each["metadata"]["name"])):
        lines += _service_lines(service, namespace, names.slices)
    return "\n".join(lines) + "\n"


def resolver_file(pod: Object) -> str:
    """`/etc/resolv.conf`: only for programs that read the search list from it."""
    domains = (f"{pod['metadata']['namespace']}.svc.{CLUSTER_DOMAIN}", f"svc.{CLUSTER_DOMAIN}", CLUSTER_DOMAIN)
    return f"search {' '.join(domains)}\nnameserver 127.0.0.1\noptions ndots:5\n"


def _service_lines(service: Object, namespace: str, slices: Iterable[Object]) -> list[str]:
    """A service's own address; without one (headless), an address for each endpoint, and the name of each that has a hostname."""
    name, home = service["metadata"]["name"], service["metadata"]["namespace"]
    address = service["spec"].get("clusterIP")
    if service["spec"].get("type") == "ExternalName":
        return []
    if address and address != "None":
        return [f"{address}\t{' '.join(_forms(name, home, namespace))}"]
    lines = []
    for endpoint in endpoints(service, slices):
        for found in endpoint["addresses"]:
            forms = _forms(name, home, namespace)
            if endpoint.get("hostname"):
                forms = [*_forms(f"{endpoint['hostname']}.{name}", home, namespace), *forms]
            lines.append(f"{found}\t{' '.join(forms)}")
    return sorted(set(lines))


def endpoints(service: Object, slices: Iterable[Object]) -> list[Object]:
    """Endpoints of a service that are to get requests: ready, or all where the service says so (the controller marks them ready then)."""
    name, home = service["metadata"]["name"], service["metadata"]["namespace"]
    return [
        endpoint
        for each in slices
        if each["metadata"]["namespace"] == home and (each["metadata"].get("labels") or {}).get(SERVICE_LABEL) == name
        for endpoint in each.get("endpoints") or ()
        if (endpoint.get("conditions") or {}).get("ready") is not False
    ]


def _forms(name: str, home: str, namespace: str) -> list[str]:
    """Every way in which a pod of a namespace may write a service's name."""
    forms = [f"{name}.{home}.svc.{CLUSTER_DOMAIN}", f"{name}.{home}.svc", f"{name}.{home}"]
    return [*forms, name] if home == namespace else forms
