"""What the API server would refuse in a custom resource: its schema, and the rules between fields that a schema cannot say.

The schemas in `schemas/` are our own, short, and know the fields that the program sets and those of the refusals below.
"""

from collections.abc import Callable, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import jsonschema
import yaml

SCHEMAS = Path(__file__).parent / "schemas"
KARPENTER_LABELS = {
    "instance-category", "instance-family", "instance-generation", "instance-size", "instance-cpu", "instance-memory",
    "instance-accelerator-count", "instance-accelerator-name", "instance-accelerator-manufacturer", "capacity-reservation-type",
}  # fmt: skip
"""Part of the list that Karpenter knows; a label of its domain outside the list is refused."""
Spec = Mapping[str, Any]
Rule = Callable[[Spec], Iterator[str]]


@cache
def schemas() -> dict[str, Any]:
    """Schema of `spec` by API version and kind."""
    return {kind: schema for path in sorted(SCHEMAS.glob("*.yaml")) for kind, schema in yaml.safe_load(path.read_text()).items()}


def errors(kind: str, spec: Spec) -> list[str]:
    """Everything wrong with a `spec`, as path and text; KeyError for a kind without a schema."""
    validator = jsonschema.Draft202012Validator(schemas()[kind])
    found = [f"spec.{'.'.join(str(part) for part in error.path)}: {error.message}" for error in validator.iter_errors(spec)]
    # A rule may rely on the types that the schema promises.
    return sorted(found or [text for rule in RULES.get(kind, ()) for text in rule(spec)])


def _node_class(spec: Spec) -> Iterator[str]:
    if ("role" in spec) == ("instanceProfile" in spec):
        yield "spec: must specify exactly one of ['role', 'instanceProfile']"
    terms = spec["amiSelectorTerms"]
    aliases = [term for term in terms if "alias" in term]
    if aliases and len(terms) > 1:
        yield "spec.amiSelectorTerms: 'alias' is mutually exclusive, cannot be set with a combination of other amiSelectorTerms"
    # `ssmParameter` beside `alias` or `id` is accepted, so the rule does not count it.
    if any(len(term.keys() - {"ssmParameter"}) > 1 for term in terms if term.keys() & {"alias", "id"}):
        yield "spec.amiSelectorTerms: 'id' and 'alias' are mutually exclusive with other fields"
    if not aliases and "amiFamily" not in spec:
        yield "spec: must specify amiFamily if amiSelectorTerms does not contain an alias"
    if any(term["alias"].startswith("al2023@") for term in aliases) and spec.get("amiFamily", "AL2023") not in ("AL2023", "Custom"):
        yield "spec: if set, amiFamily must be 'AL2023' or 'Custom' when using an AL2023 alias"
    for key in ("subnetSelectorTerms", "securityGroupSelectorTerms", "capacityReservationSelectorTerms"):
        # The server's own rule fires only if every term is mixed.
        if spec.get(key) and all("id" in term and len(term) > 1 for term in spec[key]):
            yield f"spec.{key}: 'id' is mutually exclusive"
    if sum(1 for mapping in spec.get("blockDeviceMappings", ()) if mapping.get("rootVolume")) > 1:
        yield "spec.blockDeviceMappings: must have only one blockDeviceMappings with rootVolume"
    yield from _interfaces(spec.get("networkInterfaces", ()))
    kubelet = spec.get("kubelet", {})
    if kubelet.get("evictionSoft", {}).keys() - kubelet.get("evictionSoftGracePeriod", {}).keys():
        yield "spec.kubelet: evictionSoft OwnerKey does not have a matching evictionSoftGracePeriod"
    if kubelet.get("imageGCHighThresholdPercent", 101) <= kubelet.get("imageGCLowThresholdPercent", -1):
        yield "spec.kubelet: imageGCHighThresholdPercent must be greater than imageGCLowThresholdPercent"


def _interfaces(interfaces: Any) -> Iterator[str]:
    places = [(item["networkCardIndex"], item["deviceIndex"]) for item in interfaces]
    cards = [item["networkCardIndex"] for item in interfaces if item["interfaceType"] == "efa-only"]
    if interfaces and {"networkCardIndex": 0, "deviceIndex": 0, "interfaceType": "interface"} not in interfaces:
        yield "spec.networkInterfaces: networkInterfaces must include a primary interface with interfaceType='interface'"
    if len(set(places)) < len(places) or len(set(cards)) < len(cards):
        yield "spec.networkInterfaces: no duplicate pairs, and at most one efa device per network card"


def _node_pool(spec: Spec) -> Iterator[str]:
    if "replicas" in spec:
        if "weight" in spec:
            yield "spec: 'weight' is not supported on static NodePools"
        if spec.get("limits", {}).keys() - {"nodes"}:
            yield "spec: only 'limits.nodes' is supported on static NodePools"
    for requirement in spec["template"]["spec"]["requirements"]:
        values, domain, _, label = requirement.get("values", []), *requirement["key"].partition("/")
        if domain == "karpenter.k8s.aws" and label not in KARPENTER_LABELS:
            yield f'spec.template.spec.requirements: label domain "{domain}" is restricted'
        if requirement["operator"] == "In" and not values:
            yield "spec.template.spec.requirements: requirements with operator 'In' must have a value defined"
        if requirement["operator"] in ("Gt", "Lt", "Gte", "Lte") and not (len(values) == 1 and values[0].isdigit()):
            yield "spec.template.spec.requirements: operators of size must have a single positive integer value"
        if requirement["operator"] == "In" and requirement.get("minValues", 0) > len(values):
            yield "spec.template.spec.requirements: requirements with 'minValues' must have at least that many values"


def _cluster_queue(spec: Spec) -> Iterator[str]:
    for group in spec.get("resourceGroups", ()):
        if any(len(flavor["resources"]) != len(group["coveredResources"]) for flavor in group["flavors"]):
            yield "spec.resourceGroups: flavors must have the same number of resources as the coveredResources"
        limited = [item for flavor in group["flavors"] for item in flavor["resources"] if "borrowingLimit" in item]
        if limited and "cohortName" not in spec:
            yield "spec: borrowingLimit must be nil when cohort is empty"
    preemption = spec.get("preemption", {})
    if preemption.get("reclaimWithinCohort") == "Never" and preemption.get("borrowWithinCohort", {}).get("policy", "Never") != "Never":
        yield "spec.preemption: reclaimWithinCohort=Never and borrowWithinCohort.Policy!=Never"


RULES: dict[str, tuple[Rule, ...]] = {
    "karpenter.k8s.aws/v1 EC2NodeClass": (_node_class,),
    "karpenter.sh/v1 NodePool": (_node_pool,),
    "kueue.x-k8s.io/v1beta2 ClusterQueue": (_cluster_queue,),
}
"""Rules by kind: what the CRDs say in CEL."""
