"""Names and addresses: the hosts file of a pod, addresses that are given once, and what stands behind a service."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.kubernetes.kubelet.addresses import NETWORK, NoAddress, next_address
from tests.kubernetes.kubelet.backends import Backend, backends
from tests.kubernetes.kubelet.names import Names, hosts_file, services_seen


def pod(**spec):
    """A pod of the namespace team."""
    return {"metadata": {"name": "worker-0", "namespace": "team"}, "spec": {"containers": [], **spec}}


def service(name, address="None", namespace="team", ports=({"name": "web", "port": 80, "targetPort": 8080},), **spec):
    """A service, headless unless it has an address."""
    return {"metadata": {"name": name, "namespace": namespace}, "spec": {"clusterIP": address, "ports": list(ports), **spec}}


def part(name, *endpoints, namespace="team", ports=({"name": "web", "port": 8080},)):
    """An EndpointSlice of a service."""
    labels = {"kubernetes.io/service-name": name}
    return {"metadata": {"name": f"{name}-x", "namespace": namespace, "labels": labels}, "endpoints": list(endpoints), "ports": list(ports)}


def endpoint(address, hostname=None, ready=True):
    """A pod behind a service."""
    return {"addresses": [address], "conditions": {"ready": ready}} | ({"hostname": hostname} if hostname else {})


def names_of(text):
    """Addresses by name, in the order of the file."""
    found: dict[str, list[str]] = {}
    for line in text.splitlines():
        address, *names = line.split()
        for name in names:
            found.setdefault(name, []).append(address)
    return found


def test_a_pod_finds_itself_by_its_host_name():
    """gethostbyname(gethostname()) is what collective libraries bind to; under a subdomain its long name comes first."""
    line = next(line for line in hosts_file(pod(hostname="w0", subdomain="job"), "100.64.0.2", Names()).splitlines() if "100.64" in line)
    assert line == "100.64.0.2\tw0.job.team.svc.cluster.local w0"


def test_pods_of_a_headless_service_have_names_under_it():
    """In every form that a program may write, short ones only inside the namespace."""
    slices = (part("job", endpoint("100.64.0.2", "w-0"), endpoint("100.64.0.3", "w-1")),)
    found = names_of(hosts_file(pod(), "100.64.0.2", Names((service("job"),), slices)))
    for form in ("w-1.job", "w-1.job.team", "w-1.job.team.svc", "w-1.job.team.svc.cluster.local"):
        assert found[form] == ["100.64.0.3"]
    assert found["job"] == ["100.64.0.2", "100.64.0.3"]
    elsewhere = {"metadata": {"name": "other", "namespace": "else"}, "spec": {"containers": []}}
    foreign = names_of(hosts_file(elsewhere, "100.64.0.9", Names((service("job"),), slices)))
    assert "job" not in foreign
    assert foreign["job.team"] == ["100.64.0.2", "100.64.0.3"]


def test_an_endpoint_that_is_not_ready_has_no_name():
    """As the cluster's DNS does it; publishNotReadyAddresses makes the controller call it ready."""
    slices = (part("job", endpoint("100.64.0.2", "w-0", ready=False)),)
    assert "w-0.job" not in names_of(hosts_file(pod(), "100.64.0.9", Names((service("job"),), slices)))


def test_a_service_with_an_address_is_found_by_it():
    """Not by its pods' addresses: ports may differ."""
    found = names_of(hosts_file(pod(), "100.64.0.9", Names((service("etcd", "172.20.0.5"),), (part("etcd", endpoint("100.64.0.2")),))))
    assert found["etcd.team.svc"] == ["172.20.0.5"]


def test_host_aliases_are_in_it():
    """Of the pod's own."""
    assert names_of(hosts_file(pod(hostAliases=[{"ip": "1.2.3.4", "hostnames": ["a", "b"]}]), "100.64.0.2", Names()))["b"] == ["1.2.3.4"]


def test_variables_name_services_of_the_own_namespace_and_the_api_server():
    """No other namespace's."""
    all_of_them = (service("a", "172.20.0.2"), service("b", "172.20.0.3", "else"), service("kubernetes", "172.20.0.1", "default"))
    assert [each["metadata"]["name"] for each in services_seen(pod(), Names(all_of_them))] == ["a", "kubernetes"]


@given(st.lists(st.integers(2, 65_000), max_size=20, unique=True), st.integers(2, 65_000))
def test_an_address_in_use_is_never_given_again(numbers, last):
    """Wherever the last one was."""
    taken = {str(NETWORK[number]) for number in numbers}
    found = next_address(str(NETWORK[last]), taken)
    assert found not in taken
    assert found != str(NETWORK[1]), "the bridge has it"


def test_addresses_follow_each_other():
    """One that is free again is not given at once: names of a pod that is gone may still be looked up."""
    assert next_address(None, set()) == str(NETWORK[2])
    assert next_address(str(NETWORK[7]), set()) == str(NETWORK[8])


def test_a_full_network_says_so():
    """Rather than give an address twice."""
    with pytest.raises(NoAddress):
        next_address(None, {str(address) for address in NETWORK})


def test_behind_a_service_are_its_ready_endpoints_at_the_slices_port():
    """targetPort is resolved by the endpoint controller, by name and number."""
    slices = (part("web", endpoint("100.64.0.3"), endpoint("100.64.0.2"), endpoint("100.64.0.4", ready=False)),)
    found = backends(Names((service("web", "172.20.0.5"), service("job")), slices), "https://127.0.0.1:6443")
    assert found == {("172.20.0.5", 80): (Backend("100.64.0.2", 8080), Backend("100.64.0.3", 8080))}


def test_a_service_without_endpoints_is_not_served():
    """A connection to it is refused, as kube-proxy's rules refuse it."""
    assert backends(Names((service("web", "172.20.0.5"),)), "https://127.0.0.1:6443") == {}


def test_the_api_servers_own_service_leads_to_it():
    """It has no endpoints of its own here."""
    own = service("kubernetes", "172.20.0.1", "default", ({"name": "https", "port": 443},))
    assert backends(Names((own,)), "https://127.0.0.1:6443") == {("172.20.0.1", 443): (Backend("127.0.0.1", 6443, in_pods_network=False),)}
