"""`trn lint` on claims of dynamic resource allocation: each trap is named on its line, and what launchers make has none."""

from dataclasses import replace

import pytest

from tests.training.sites import EVERYTHING, job, site_of_type
from training.launchers import launcher
from training.lint import lint
from training.lint.finding import Document, Finding
from training.site import Site
from trn.jobs.lint.reader import read_manifest

BY_CLAIMS: Site = replace(EVERYTHING, devices="dra", efa_devices="dra")


def manifest(
    request: str, constraints: str = "", *, device_class: str = "neuron.aws.com", tolerations: str = "[{operator: Exists}]"
) -> str:
    """A pod, and the template of what it claims."""
    return f"""
apiVersion: resource.k8s.io/v1
kind: ResourceClaimTemplate
metadata: {{name: chips}}
spec:
  spec:
    devices:
      requests:
        - name: neurons
          exactly: {{deviceClassName: {device_class}, {request}}}
      {constraints}
---
kind: Pod
metadata: {{name: bert}}
spec:
  tolerations: {tolerations}
  resourceClaims: [{{name: devices, resourceClaimTemplateName: chips}}]
  containers:
    - name: work
      image: registry.example/bert:1
      env: [{{name: FI_PROVIDER, value: efa}}]
      volumeMounts: [{{name: memory, mountPath: /dev/shm}}]
      resources: {{claims: [{{name: devices}}]}}
"""


def found(text: str, site: Site | None = BY_CLAIMS) -> list[Finding]:
    """Findings of a manifest."""
    return lint(read_manifest(text, "job.yaml").documents, site)


CONNECTED = "constraints: [{requests: [neurons], matchAttribute: resource.aws.com/devicegroup4_id}]"
WRONG = {
    "all devices": (manifest("allocationMode: All"), "claim-of-all", 0),
    "chips that nothing connects": (manifest("count: 4"), "chips-not-connected", 0),
    "the group of another number": (manifest("count: 8", CONNECTED), "chips-not-connected", 0),
    "a number that no group has": (manifest("count: 3"), "chips-not-connected", 0),
    "no toleration": (manifest("count: 16", tolerations="[]"), "missing-toleration", 1),
}


@pytest.mark.parametrize("case", WRONG)
def test_each_trap_of_a_claim_is_named(case: str):
    """In the document in which it stands: the template's, or the pod's."""
    text, rule, document = WRONG[case]
    assert [(finding.rule, finding.document) for finding in found(text)] == [(rule, document)]


@pytest.mark.parametrize("text", [manifest("count: 16"), manifest("count: 4", CONNECTED), manifest("count: 1")])
def test_a_sound_claim_has_no_finding(text: str):
    """One chip needs no connection, and a whole node has no other chips."""
    assert found(text) == []


def test_each_mechanism_is_told_from_the_other():
    """On a cluster of claims nobody offers the resource, and on one of plug-ins nobody publishes devices."""
    by_plugin = """
kind: Pod
metadata: {name: bert}
spec:
  tolerations: [{operator: Exists}]
  containers:
    - name: work
      image: registry.example/bert:1
      env: [{name: FI_PROVIDER, value: efa}]
      volumeMounts: [{name: memory, mountPath: /dev/shm}]
      resources: {limits: {aws.amazon.com/neuron: 16}}
"""
    assert [finding.rule for finding in found(by_plugin)] == ["other-mechanism"]
    assert [finding.rule for finding in found(manifest("count: 16"), EVERYTHING)] == ["other-mechanism"]
    assert found(by_plugin, EVERYTHING) == []


def test_nothing_is_said_of_other_classes():
    """A claim of another maker's devices is no claim of chips."""
    assert found(manifest("count: 3", device_class="gpu.example.com")) == []


def test_several_whole_nodes_without_interfaces_are_found_by_their_claims():
    """As those of the plug-in."""
    objects = launcher("indexed-job").render(job(launcher="indexed-job", efa=False), BY_CLAIMS)
    assert [item.rule for item in lint([Document(index, item) for index, item in enumerate(objects)], BY_CLAIMS)] == ["missing-efa"]


@pytest.mark.parametrize("name", ["volcano", "jobset", "indexed-job", "trainjob", "pytorchjob", "mpijob"])
def test_what_a_launcher_makes_by_claims_has_no_finding(name: str):
    """Whole nodes, and a connected part of one."""
    for keys in ({}, {"devices": 4, "efa": True, "nodes": 1}):
        objects = launcher(name).render(job(launcher=name, **keys), BY_CLAIMS)
        assert lint([Document(index, item) for index, item in enumerate(objects)], BY_CLAIMS) == []


@pytest.mark.parametrize("odd", ["count: many", "count: -1", "count: []", "allocationMode: 7", "count: null"])
def test_odd_claims_are_read_without_an_error(odd: str):
    """Other people's files."""
    found(manifest(odd), site_of_type("trn2.48xlarge"))
    found(manifest(odd, "constraints: nothing"), None)
    found(manifest(odd, "constraints: [{requests: 3}]"), None)
