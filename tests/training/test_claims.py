"""Jobs by dynamic resource allocation: the same job file gives claims where the stack's devices are claimed, by every launcher."""

from dataclasses import replace
from typing import Any

import pytest

from facts.device_claims import Claimed, claim_spec, counted
from facts.node_resources import CHIP_SUBSETS
from tests.training.objects import errors, pods
from tests.training.sites import EVERYTHING, NEEDED, NEWEST, group, job, site_of_type
from tests.training.sites import site as shipped
from training import launchers
from training.check import problems
from training.plan import plan
from training.site import Site

BY_CLAIMS: Site = replace(EVERYTHING, devices="dra", efa_devices="dra")
KUBERNETES = [found.name for found in launchers.launchers() if found.resource is not None]


def trn2(**changes: Any) -> Site:
    """A stack with a group of trn2.48xlarge, devices by claims."""
    on = site_of_type("trn2.48xlarge", release_version=NEWEST, **changes)
    return replace(on, devices="dra", efa_devices="dra", toolchain="torch-2.33")


def on_trn2(**keys: Any) -> Any:
    """A job that trn2 takes."""
    return job(image="r.example/t:1", **keys)


def rendered(name: str, on: Site = BY_CLAIMS, **keys: Any) -> list[dict[str, Any]]:
    """Objects of a job by one launcher."""
    return launchers.launcher(name).render(job(launcher=name, **NEEDED.get(name, {}), **keys), on)


def template(objects: list[dict[str, Any]]) -> dict[str, Any]:
    """Its one ResourceClaimTemplate."""
    (found,) = [body for body in objects if body["kind"] == "ResourceClaimTemplate"]
    return found


def devices(found: dict[str, Any]) -> dict[str, Any]:
    """What each claim of a template asks for."""
    return found["spec"]["spec"]["devices"]


@pytest.mark.parametrize("name", KUBERNETES)
def test_every_launcher_claims_whole_nodes(name: str):
    """The same job that asks the plug-ins for 16 chips and 8 interfaces of each node claims them; counts, since queues count no `All`."""
    objects = rendered(name)
    assert counted(template(objects)["spec"]["spec"]) == {"deviceclass/neuron.aws.com": 16, "deviceclass/efa.networking.k8s.aws": 8}
    assert "constraints" not in devices(template(objects))
    assert {request["exactly"]["allocationMode"] for request in devices(template(objects))["requests"]} == {"ExactCount"}
    holding = [pod["spec"] for pod in pods(objects) if pod["spec"].get("resourceClaims")]
    assert holding
    for spec in holding:
        (claim,) = spec["resourceClaims"]
        assert claim["resourceClaimTemplateName"] == template(objects)["metadata"]["name"] == "bert-devices"
        (container,) = spec["containers"]
        assert container["resources"]["claims"] == [{"name": claim["name"]}]
        assert spec["tolerations"], "EKS adds the toleration for a plug-in's resource only"
    asked = [container["resources"] for pod in pods(objects) for container in pod["spec"]["containers"]]
    assert not [key for entry in asked for part in ("requests", "limits") for key in entry.get(part, {}) if "/" in key]


@pytest.mark.parametrize("name", KUBERNETES)
def test_claims_satisfy_their_schemas(name: str):
    """A field that a kind's CRD does not know is dropped in silence, and the pod would train on no device."""
    assert [error for body in rendered(name) for error in errors(body)] == []
    assert [error for body in rendered(name, devices=4, efa=True) for error in errors(body)] == []


@pytest.mark.parametrize("name", KUBERNETES)
def test_nothing_is_claimed_where_the_plug_ins_are(name: str):
    """A template would be one more object that nothing uses."""
    assert not [body for body in rendered(name, on=EVERYTHING) if body["kind"] == "ResourceClaimTemplate"]


@pytest.mark.parametrize("name", ["mpijob", "rayjob"])
def test_what_starts_the_workers_claims_nothing(name: str):
    """Launcher and head stay off the Neuron nodes: a claim of theirs would take a whole one."""
    without = [pod for pod in pods(rendered(name)) if "resourceClaims" not in pod["spec"]]
    assert without
    assert not [pod for pod in without if "claims" in pod["spec"]["containers"][0].get("resources", {})]


def test_one_driver_alone_can_hand_out_by_claims():
    """Neuron's driver and EFA's are separate charts: what stays with a plug-in is asked of it."""
    objects = rendered("volcano", replace(EVERYTHING, devices="dra"))
    assert counted(template(objects)["spec"]["spec"]) == {"deviceclass/neuron.aws.com": 16}
    (pod,) = pods(objects)
    assert pod["spec"]["containers"][0]["resources"]["limits"]["vpc.amazonaws.com/efa"] == "8"
    objects = rendered("volcano", replace(EVERYTHING, efa_devices="dra"))
    assert counted(template(objects)["spec"]["spec"]) == {"deviceclass/efa.networking.k8s.aws": 8}
    (pod,) = pods(objects)
    assert pod["spec"]["containers"][0]["resources"]["limits"]["aws.amazon.com/neuron"] == "16"


@pytest.mark.parametrize("count", [count for count in CHIP_SUBSETS if count < 16])
def test_a_part_of_a_node_is_connected_and_near_its_interfaces(count: int):
    """Chips of one group, and the interfaces of the same: the attribute is the driver's for so many chips."""
    found = devices(template(rendered("volcano", devices=count, nodes=1, efa=True)))
    assert found["constraints"] == [
        {"requests": ["neurons", "interfaces"], "matchAttribute": f"resource.aws.com/devicegroup{count}_id"},
    ]
    amounts = [request["exactly"]["count"] for request in found["requests"]]
    assert amounts == [count, max(1, 8 * count // 16)]


def test_a_part_of_a_node_without_efa_claims_no_interface():
    """The default of a part of a node."""
    assert counted(template(rendered("volcano", devices=4, nodes=1))["spec"]["spec"]) == {"deviceclass/neuron.aws.com": 4}


def test_a_claim_sets_the_size_of_logical_cores():
    """By claims one job has LNC 1 and the next LNC 2 on the same node; the entry script and the worker count follow."""
    made = launchers.launcher("volcano").render(on_trn2(launcher="volcano", logicalCoreSize=1), trn2())
    (config,) = devices(template(made))["config"]
    assert config == {
        "requests": ["neurons"],
        "opaque": {
            "driver": "neuron.aws.com",
            "parameters": {"apiVersion": "neuron.aws.com/v1", "kind": "NeuronConfig", "logicalNeuronCore": 1},
        },
    }
    assert plan(on_trn2(logicalCoreSize=1), trn2()).core_count == 128
    assert plan(on_trn2(), trn2()).core_count == 64


def test_the_groups_size_is_set_by_the_claim_too():
    """A group of LNC 1 whose claims said nothing would leave it to the driver's default."""
    made = launchers.launcher("volcano").render(on_trn2(launcher="volcano"), trn2(logical_core_size=1))
    assert devices(template(made))["config"][0]["opaque"]["parameters"]["logicalNeuronCore"] == 1


def test_chips_without_a_choice_have_no_configuration():
    """The driver refuses it on trn1: the pod would not start."""
    assert "config" not in devices(template(rendered("volcano")))


WRONG: dict[str, tuple[Site, dict[str, Any], str]] = {
    "another size than the group's by the plug-in": (
        replace(trn2(), devices="device-plugin"), {"logicalCoreSize": 1}, "nodes of g have logical cores of 2",
    ),
    "a size on a chip without a choice": (shipped(), {"logicalCoreSize": 2}, "no size of a logical core of trn1.32xlarge"),
    "a node of an UltraServer": (
        replace(site_of_type("trn2u.48xlarge", release_version=NEWEST), devices="dra", toolchain="torch-2.33"), {}, "nodes of an UltraServer",
    ),
    "no add-on": (shipped(devices=None), {}, "cannot ask for Neuron devices"),
}  # fmt: skip


@pytest.mark.parametrize("case", WRONG)
def test_what_no_claim_can_say_is_refused(case: str):
    """Before a pod waits for it for ever."""
    on, keys, says = WRONG[case]
    image = {} if "trn1" in str(on.node_groups) else {"image": "r.example/t:1"}
    (found,) = problems(job(**keys, **image), on)
    assert says in str(found)
    assert found.hint


@pytest.mark.parametrize("name", ["volcano", "jobset", "indexed-job", "trainjob", "pytorchjob", "mpijob"])
def test_a_job_by_claims_is_accepted(name: str):
    """What a stack with `devices: dra` refused before it knew claims."""
    toolchain = {"toolchain": "jax-2.32"} if name == "mpijob" else {}
    assert problems(job(launcher=name, **toolchain), BY_CLAIMS) == []


def test_a_devices_count_is_of_all_requests():
    """Two requests of one class add up; one of `All` has no number."""
    spec = {"devices": {"requests": [
        {"name": "a", "exactly": {"deviceClassName": "neuron.aws.com", "count": 4}},
        {"name": "b", "exactly": {"deviceClassName": "neuron.aws.com"}},
        {"name": "c", "exactly": {"deviceClassName": "neuron.aws.com", "allocationMode": "All"}},
    ]}}  # fmt: skip
    assert counted(spec) == {"deviceclass/neuron.aws.com": 5}
    assert counted({}) == {}
    assert claim_spec(Claimed(interface_count=8), group("g", "trn1.32xlarge").instance)["devices"].keys() == {"requests"}
