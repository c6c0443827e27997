"""What pods claim and what drivers publish is counted as if it were asked of a plug-in."""

from decimal import Decimal
from typing import Any

from facts.catalogue import NEURON_TYPES
from facts.device_claims import Claimed, claim_template
from facts.resource_slices import efa_slice, neuron_slice
from tests.trn.kubernetes.fake_kubernetes import FakeCluster
from trn.kubernetes.claimed import CLAIM_TEMPLATES, RESOURCE_CLAIMS, SLICES, Claims, give_templates, is_neuron, with_claims, with_slices
from trn.kubernetes.job_pods import PODS
from trn.kubernetes.jobs.job import JOB_KINDS
from trn.kubernetes.jobs.look import EVENTS, POD_GROUPS, look
from trn.kubernetes.kinds import CLAIMS, JOBS, NODES
from trn.running.roll.others import holds_devices
from trn.running.top.rows import holders

TRN1 = NEURON_TYPES["trn1.32xlarge"]
NODE: dict[str, Any] = {"metadata": {"name": "node-1", "uid": "n", "labels": {}}, "spec": {}, "status": {"allocatable": {"cpu": "128"}}}
CLAIMING: dict[str, Any] = {
    "containers": [{"name": "work", "resources": {"limits": {"memory": "1Gi"}, "claims": [{"name": "devices"}]}}, {"name": "beside"}],
    "resourceClaims": [{"name": "devices", "resourceClaimTemplateName": "bert-devices"}],
}
TEMPLATE = claim_template("bert-devices", "training", {}, Claimed(16, 8), TRN1)
NEURON, EFA = "deviceclass/neuron.aws.com", "deviceclass/efa.networking.k8s.aws"


def cluster(*pods: dict[str, Any], kinds: bool = True) -> FakeCluster:
    """One node, whose drivers have published it, and pods that run."""
    made = FakeCluster()
    made.objects |= {PODS: [], NODES: [NODE], EVENTS: [], POD_GROUPS: [], CLAIMS: []}
    if kinds:
        slices = [neuron_slice(NODE, TRN1, "2.29.0.0"), efa_slice(NODE, TRN1, 8)]
        made.objects |= {CLAIM_TEMPLATES: [TEMPLATE], RESOURCE_CLAIMS: [], SLICES: slices}
    for number, spec in enumerate(pods):
        made.put(PODS, f"bert-{number}", spec=spec, status={"phase": "Running"})
    return made


def limits(pod: dict[str, Any]) -> dict[str, str]:
    """Of its first container."""
    return pod["spec"]["containers"][0]["resources"]["limits"]


def test_a_claim_is_read_as_a_limit():
    """Sixteen chips and eight interfaces, by the names under which Volcano's queues count them."""
    made = cluster(CLAIMING)
    (pod,) = with_claims(made.objects[PODS], made)
    assert limits(pod) == {"memory": "1Gi", NEURON: "16", EFA: "8"}
    assert limits(made.objects[PODS][0]) == {"memory": "1Gi"}, "the object that was read stays as it is"


def test_what_was_allocated_counts_also_when_its_template_is_gone():
    """A template can be deleted while pods run; so can one that asks for all devices say no number before."""
    made = cluster(CLAIMING)
    made.objects[CLAIM_TEMPLATES] = []
    result = {"driver": "neuron.aws.com", "pool": "node-1", "request": "neurons"}
    made.put(
        RESOURCE_CLAIMS,
        "bert-0-devices-x",
        status={"allocation": {"devices": {"results": [result | {"device": "a"}, result | {"device": "b"}]}}},
    )
    (pod,) = made.objects[PODS]
    pod["status"]["resourceClaimStatuses"] = [{"name": "devices", "resourceClaimName": "bert-0-devices-x"}]
    (pod,) = with_claims([pod], made)
    assert limits(pod) == {"memory": "1Gi", NEURON: "2"}


def test_a_claim_that_pods_share_is_found_by_its_name():
    """Without a template."""
    claims = Claims(claims=[{"metadata": {"name": "c", "namespace": "a"}, "spec": TEMPLATE["spec"]["spec"]}])
    spec = {"resourceClaims": [{"name": "devices", "resourceClaimName": "c"}]}
    assert claims.of("a", spec) == {NEURON: 16, EFA: 8}
    assert claims.of("b", spec) == {}


def test_a_node_offers_what_its_drivers_publish():
    """Beside what its plug-ins offer."""
    (node,) = with_slices([NODE], cluster())
    assert node["status"]["allocatable"] == {"cpu": "128", NEURON: "16", EFA: "8"}


def test_nothing_more_is_asked_where_nothing_is_claimed():
    """A role that was made for plug-ins may not list claims; nor does an old cluster know them."""

    class Refusing(FakeCluster):
        def list(self, resource: Any, *, namespace: str = "", label: str = "") -> Any:
            assert "resource.k8s.io" not in resource.path
            return super().list(resource, namespace=namespace, label=label)

    made = Refusing()
    made.objects = cluster({"containers": [{"name": "work"}]}, kinds=False).objects
    assert with_claims(made.objects[PODS], made) == made.objects[PODS]
    assert look(made, "training").nodes == (NODE,)


def test_pods_that_claim_chips_hold_them():
    """`trn top` shows them, a roll asks before it ends them, the calendar finds their group."""
    made = cluster(CLAIMING, {"containers": [{"name": "work"}]})
    for pod in made.objects[PODS]:
        pod["spec"] = {**pod["spec"], "nodeName": "node-1"}
    assert [pod["metadata"]["name"] for pod in holders(made, "training", None)["node-1"]] == ["bert-0"]
    assert [holds_devices(pod) for pod in with_claims(made.objects[PODS], made)] == [True, False]
    assert [is_neuron(name) for name in (NEURON, "aws.amazon.com/neuroncore", EFA)] == [True, True, False]


def test_a_job_that_waits_is_judged_by_what_it_claims():
    """Also before it has a pod: its template says what each pod will claim, and the node that it fits there is."""
    made = cluster()
    made.put(JOBS, "bert", spec={"parallelism": 1, "template": {"spec": {**CLAIMING, "nodeSelector": {}}}})
    view = look(made, "training")
    (job,) = view.jobs
    asks = view.situation(job).asks
    assert (asks[NEURON], asks[EFA]) == (Decimal(16), Decimal(8))
    assert view.nodes[0]["status"]["allocatable"][NEURON] == "16"
    assert JOB_KINDS


def test_templates_are_deleted_with_their_owner():
    """Nothing else would take them away: they bear its uid."""
    made = cluster()
    give_templates(made, [TEMPLATE], {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "shell", "uid": "u"}})
    kept = made.served["/apis/resource.k8s.io/v1/namespaces/training/resourceclaimtemplates/bert-devices"]
    assert kept["metadata"]["ownerReferences"] == [{"apiVersion": "v1", "kind": "Pod", "name": "shell", "uid": "u"}]
