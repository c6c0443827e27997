"""Which endpoints stand behind each service's own address and port: what kube-proxy would write as rules. Pure."""

from collections.abc import Iterable
from dataclasses import dataclass
from urllib.parse import urlsplit

from tests.kubernetes.kubelet.names import SERVICE_LABEL, Names
from tests.kubernetes.kubelet.pods import Object

Front = tuple[str, int]
"""A service's own address and port."""


@dataclass(frozen=True, order=True)
class Backend:
    """Where a connection goes."""

    address: str
    port: int
    in_pods_network: bool = True
    """The API server is on the machine's own network."""


def backends(names: Names, api_address: str) -> dict[Front, tuple[Backend, ...]]:
    """Every TCP port of every service with an own address, and its ready endpoints; ports without any are left out."""
    found: dict[Front, tuple[Backend, ...]] = {}
    for service in names.services:
        metadata, spec = service["metadata"], service["spec"]
        address = spec.get("clusterIP")
        if not address or address == "None":
            continue
        if (metadata["namespace"], metadata["name"]) == ("default", "kubernetes"):
            server = urlsplit(api_address)
            assert server.hostname is not None
            found[address, spec["ports"][0]["port"]] = (Backend(server.hostname, server.port or 443, in_pods_network=False),)
            continue
        own = [
            each
            for each in names.slices
            if each["metadata"]["namespace"] == metadata["namespace"]
            and (each["metadata"].get("labels") or {}).get(SERVICE_LABEL) == metadata["name"]
        ]
        for port in spec.get("ports") or ():
            behind = _behind(own, port.get("name") or "")
            if behind and port.get("protocol", "TCP") == "TCP":
                found[address, port["port"]] = tuple(sorted(behind))
    return found


def _behind(slices: Iterable[Object], port_name: str) -> set[Backend]:
    return {
        Backend(address, port["port"])
        for each in slices
        for port in each.get("ports") or ()
        if (port.get("name") or "") == port_name and port.get("port")
        for endpoint in each.get("endpoints") or ()
        if (endpoint.get("conditions") or {}).get("ready") is not False
        for address in endpoint["addresses"]
    }
