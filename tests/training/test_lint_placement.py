"""Where a manifest's pods may be placed in a stack: by labels of their own, of EKS, of Karpenter, and by affinity."""

from dataclasses import replace
from typing import Any

import pytest
import yaml

from facts.kind_operators import BUILT_IN, OPERATORS, operators_of
from facts.node_labels import of_karpenter, of_managed_group, well_known
from tests.support import ROOT
from tests.training.sites import NEWEST, SITE, group
from training.lint import lint
from training.lint.finding import Document, Finding
from training.site import Nodes, Site


def labelled(nodes: Nodes, capacity: str = "ON_DEMAND") -> Nodes:
    """With the labels that a node in us-west-2 has."""
    known = well_known(nodes.instance, "us-west-2", ["usw2-az4"])
    own = of_karpenter(nodes.name, nodes.instance, capacity) if nodes.is_pool else of_managed_group(nodes.name, capacity)
    return replace(nodes, labels={"team": ("speech",), **known, **own})


OLD, NEW = labelled(group("old", "trn1.32xlarge")), labelled(group("new", "trn1.32xlarge", release_version=NEWEST), "CAPACITY_BLOCK")
POOL = labelled(group("pool", "trn2.48xlarge", is_pool=True), "SPOT")
MIXED = replace(SITE, node_groups={"old": OLD, "new": NEW}, pools={"pool": POOL})
IMAGE = "public.ecr.aws/neuron/pytorch-training-neuronx:2.9.0-neuronx-py312-sdk2.30.0-ubuntu24.04"


def found(site: Site | None = MIXED, *, version: str = "v1", **pod: Any) -> list[Finding]:
    """Findings of a pod on one chip whose image the newest driver refuses."""
    container = {"name": "work", "image": IMAGE, "resources": {"limits": {"aws.amazon.com/neuron": 1}}}
    manifest = {"apiVersion": version, "kind": "Pod", "metadata": {"name": "p"}, "spec": {**pod, "containers": [container]}}
    return lint([Document(0, manifest)], site)


def required(*expressions: dict[str, Any]) -> dict[str, Any]:
    """An affinity of one term for each expression: any of them is enough."""
    terms = [{"matchExpressions": [each]} for each in expressions]
    return {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": terms}}}


@pytest.mark.parametrize(
    ("selector", "on"),
    [
        ({"eks.amazonaws.com/nodegroup": "old"}, []),
        ({"eks.amazonaws.com/nodegroup": "new"}, ["new"]),
        ({"eks.amazonaws.com/capacityType": "CAPACITY_BLOCK"}, ["new"]),
        ({"node.kubernetes.io/instance-type": "trn1.32xlarge"}, ["new"]),
        ({"node.kubernetes.io/instance-type": "trn2.48xlarge"}, []),
        ({"topology.k8s.aws/zone-id": "usw2-az4", "team": "speech", "trn/node-group": "new"}, ["new"]),
        ({"topology.kubernetes.io/zone": "us-west-2d"}, ["new"]),
        ({"karpenter.sh/nodepool": "pool"}, []),
        ({"karpenter.k8s.aws/instance-family": "trn2", "karpenter.sh/capacity-type": "spot"}, []),
        ({"feature.node.kubernetes.io/cpu-model.id": "85"}, ["new"]),
        ({"team": "${TEAM}"}, ["new"]),
    ],
)
def test_a_selector_leads_to_nodes_and_their_driver(selector: dict[str, str], on: list[str]):
    """What other software labels is not judged: nothing is said of its value."""
    assert [finding.wrong.split("nodes of ")[1].split(":")[0] for finding in found(nodeSelector=selector)] == on


@pytest.mark.parametrize(
    ("selector", "says"),
    [
        ({"eks.amazonaws.com/nodegroup": "other"}, "the label `eks.amazonaws.com/nodegroup: other`"),
        ({"karpenter.sh/nodepool": "inf2"}, "the label `karpenter.sh/nodepool: inf2`"),
        ({"aws.amazon.com/neuron.present": "true"}, "neuron.present: true"),
        ({"node.kubernetes.io/instance-type": "trn1n.32xlarge"}, "trn1n.32xlarge"),
        ({"topology.k8s.aws/zone-id": "usw2-az1"}, "usw2-az1"),
        ({"trn/node-group": "old", "karpenter.sh/capacity-type": "spot"}, "`trn/node-group: old`, the label `karpenter.sh/capacity-type: spot`"),
    ],
)  # fmt: skip
def test_a_selector_that_no_node_can_meet_is_a_finding(selector: dict[str, str], says: str):
    """It names the label, and the groups that there are."""
    (finding,) = found(nodeSelector=selector)
    assert (finding.rule, says in finding.wrong) == ("selector-without-nodes", True)
    assert "`trn/node-group: old` (trn1.32xlarge)" in finding.fix
    assert "stack dev" in finding.wrong


@pytest.mark.parametrize(
    ("expressions", "rules"),
    [
        ([{"key": "team", "operator": "In", "values": ["speech", "vision"]}, {"key": "never", "operator": "Exists"}], ["image-and-driver"]),
        ([{"key": "team", "operator": "NotIn", "values": ["speech"]}], ["selector-without-nodes"]),
        ([{"key": "absent", "operator": "NotIn", "values": ["speech"]}], ["image-and-driver"]),
        ([{"key": "team", "operator": "DoesNotExist"}], ["selector-without-nodes"]),
        ([{"key": "karpenter.k8s.aws/instance-accelerator-count", "operator": "Gt", "values": ["15"]}], []),
        ([{"key": "karpenter.k8s.aws/instance-accelerator-count", "operator": "Gt", "values": ["16"]}], ["selector-without-nodes"]),
        ([{"key": "team", "operator": "Lt", "values": ["5"]}], ["selector-without-nodes"]),
        (["no expression", 7], ["image-and-driver"]),
    ],
)
def test_required_affinity_is_read_as_the_scheduler_reads_it(expressions: list[Any], rules: list[str]):
    """Terms are alternatives; each operator of the Kubernetes API."""
    assert [finding.rule for finding in found(affinity=required(*expressions))] == rules


def test_a_node_of_hyperpod_is_in_no_stack():
    """Its type is read, and its absence is no fault."""
    assert not found(nodeSelector={"node.kubernetes.io/instance-type": "ml.trn1.32xlarge"})


def test_a_kind_whose_operator_the_stack_lacks_is_a_finding():
    """With the key that brings it, where one does."""
    (ray,) = found(nodeSelector={"trn/node-group": "old"}, version="ray.io/v1")
    assert (ray.rule, "addons.kubeRay.enabled: true" in ray.fix) == ("kind-without-operator", True)
    (unknown,) = found(nodeSelector={"trn/node-group": "old"}, version="argoproj.io/v1alpha1")
    assert "no add-on of stack dev serves `Pod` of `argoproj.io/v1alpha1`" in unknown.wrong
    assert not found(nodeSelector={"trn/node-group": "old"}, version="jobset.x-k8s.io/v1alpha2")


def test_every_group_that_a_chart_defines_has_its_operator():
    """The definitions of each add-on's contract: a group that is served is not said to be absent."""
    for contract in ROOT.glob("addons/*/contracts/*.yaml"):
        for definition in yaml.safe_load(contract.read_text()).get("crds") or ():
            name = definition["name"].partition(".")[2]
            assert name in BUILT_IN or operators_of(f"{name}/v1") or operators_of(f"{name}/v2beta1"), (contract.name, name)
    assert {key for keys in OPERATORS.values() for key in keys} <= set(_switches())


def _switches() -> list[str]:
    from addons.registry import SWITCHED

    return list(SWITCHED)
