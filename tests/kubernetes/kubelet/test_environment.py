"""The environment of a container: what wins over what, and what stops it from being made."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.kubernetes.kubelet.environment import MissingReference, Surroundings, container_environment, service_variables
from tests.kubernetes.kubelet.expansion import expand
from tests.kubernetes.kubelet.fields import UnknownField, field, resource

ADDRESSES = {"podIP": "100.64.0.2", "hostIP": "10.0.3.7"}
OBJECTS = {("configmap", "training"): {"STEPS": "12", "RATE": "0.1"}, ("secret", "token"): {"key": "hidden"}}


def pod(**spec):
    """A pod with one container."""
    metadata = {"name": "worker-0", "namespace": "team", "uid": "u-1", "labels": {"rank": "0"}, "annotations": {"a": 'x"y'}}
    return {"metadata": metadata, "spec": {"nodeName": "node-1", "containers": [{"name": "main", "image": "busybox"}], **spec}}


def around(**more):
    """Surroundings with two objects to refer to."""
    return Surroundings(ADDRESSES, lambda kind, name: OBJECTS.get((kind, name)), **more)


def environment(container, whole=None, **more):
    """The environment of one container."""
    return container_environment(whole or pod(), {"name": "main", **container}, around(**more))


def test_nothing_of_the_machines_own_environment_is_in_it(monkeypatch):
    """A worker that works only with a variable of the developer's shell would fail on the cluster."""
    monkeypatch.setenv("FI_PROVIDER", "efa")
    assert environment({}) == {"HOSTNAME": "worker-0", "HOME": "/root"}


def test_env_wins_over_env_from_over_services_over_image():
    """The order of the kubelet."""
    service = {"metadata": {"name": "steps"}, "spec": {"clusterIP": "172.20.0.9", "ports": [{"port": 80}]}}
    sources = {"envFrom": [{"configMapRef": {"name": "training"}}], "env": [{"name": "RATE", "value": "0.5"}]}
    found = environment(sources, image={"STEPS": "0", "PATH": "/bin"}, services=(service,))
    assert (found["PATH"], found["STEPS"], found["RATE"], found["STEPS_SERVICE_HOST"]) == ("/bin", "12", "0.5", "172.20.0.9")


def test_values_refer_to_variables_before_them():
    """`$(NAME)` of an unknown or later variable stays as it is."""
    entries = [{"name": "A", "value": "1"}, {"name": "B", "value": "$(A)-$(C)"}, {"name": "C", "value": "3"}]
    assert environment({"env": entries})["B"] == "1-$(C)"


def test_references_to_fields_keys_and_resources():
    """Each kind of `valueFrom`."""
    sources = {
        "NAME": {"fieldRef": {"fieldPath": "metadata.name"}},
        "RANK": {"fieldRef": {"fieldPath": "metadata.labels['rank']"}},
        "IP": {"fieldRef": {"fieldPath": "status.podIP"}},
        "STEPS": {"configMapKeyRef": {"name": "training", "key": "STEPS"}},
        "KEY": {"secretKeyRef": {"name": "token", "key": "key"}},
        "CPU": {"resourceFieldRef": {"resource": "limits.cpu"}},
        "MEMORY": {"resourceFieldRef": {"resource": "requests.memory", "divisor": "1Mi"}},
    }
    limits = {"resources": {"limits": {"cpu": "1500m", "memory": "2Gi"}}}
    found = environment({"env": [{"name": name, "valueFrom": source} for name, source in sources.items()], **limits})
    assert {name: found[name] for name in sources} == {
        "NAME": "worker-0", "RANK": "0", "IP": "100.64.0.2", "STEPS": "12", "KEY": "hidden", "CPU": "2", "MEMORY": "2048",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ({"configMapKeyRef": {"name": "none", "key": "a"}}, 'configmap "none" not found'),
        ({"secretKeyRef": {"name": "token", "key": "none"}}, "couldn't find key none in secret token"),
    ],
)
def test_a_missing_reference_stops_the_container(source, message):
    """In the kubelet's words; CreateContainerConfigError in the API."""
    with pytest.raises(MissingReference, match=message):
        environment({"env": [{"name": "X", "valueFrom": source}]})


def test_an_optional_reference_to_nothing_leaves_the_variable_unset():
    """Also a whole object of `envFrom`."""
    optional = {"configMapKeyRef": {"name": "none", "key": "a", "optional": True}}
    container = {"env": [{"name": "X", "valueFrom": optional}], "envFrom": [{"secretRef": {"name": "none", "optional": True}}]}
    assert "X" not in environment(container)


def test_a_prefix_is_put_before_each_name():
    """Of `envFrom`."""
    assert environment({"envFrom": [{"prefix": "T_", "configMapRef": {"name": "training"}}]})["T_STEPS"] == "12"


def test_services_are_left_out_where_the_pod_does_not_want_them():
    """All but the API server's."""
    services = tuple(
        {"metadata": {"name": name}, "spec": {"clusterIP": "172.20.0.1", "ports": [{"name": "https", "port": 443}]}}
        for name in ("kubernetes", "other")
    )
    found = environment({}, pod(enableServiceLinks=False), services=services)
    assert found["KUBERNETES_SERVICE_PORT_HTTPS"] == "443"
    assert "OTHER_SERVICE_HOST" not in found


def test_a_headless_service_has_no_variables():
    """There is no address to put into one."""
    assert service_variables([{"metadata": {"name": "workers"}, "spec": {"clusterIP": "None", "ports": [{"port": 1}]}}]) == {}


def test_a_limit_that_is_not_set_is_what_the_node_can_give():
    """In units of the divisor, rounded up."""
    assert resource({}, "limits.memory", "1Gi", {"memory": "2500Mi"}) == "3"


def test_an_unknown_field_is_refused():
    """The API server's validation knows the same list."""
    with pytest.raises(UnknownField, match=r"no field spec\.image"):
        field(pod(), "spec.image", ADDRESSES)


def test_annotations_as_a_file_are_quoted():
    """As the downward API writes them."""
    assert field(pod(), "metadata.annotations", ADDRESSES) == 'a="x\\"y"'


@pytest.mark.parametrize(
    ("text", "expanded"),
    [("$(A)", "1"), ("$$(A)", "$(A)"), ("$$$(A)", "$1"), ("$(B)", "$(B)"), ("$A $", "$A $"), ("$(A", "$(A"), ("a$(A)b$(A)", "a1b1")],
)
def test_expansion(text, expanded):
    """Kubernetes's own cases (third_party/forked/golang/expansion)."""
    assert expand(text, {"A": "1"}) == expanded


@given(st.text(alphabet=st.characters(exclude_characters="$")))
def test_text_without_a_dollar_is_never_changed(text):
    """Whatever it is."""
    assert expand(text, {"A": "1"}) == text
