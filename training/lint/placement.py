"""Where a pod may be placed: its node selector and required affinity against the labels of a stack's nodes."""

from collections.abc import Iterator, Mapping
from typing import Any

from facts.catalogue import NEURON_TYPES, InstanceType
from facts.kind_operators import operators_of
from facts.node_labels import INSTANCE_LABELS, is_judged
from facts.typed import typed
from training.lint.finding import Document, Finding
from training.lint.workloads import Workload, is_template
from training.site import Nodes, Site

HYPERPOD_PREFIX = "ml."
"""Before the instance type of HyperPod's nodes (SageMaker HyperPod guide), which are in no stack."""
Labels = Mapping[str, tuple[str, ...]]


def nodes_for(workload: Workload, site: Site | None) -> tuple[Nodes, ...]:
    """Node groups and pools that the pod may be placed on; none where there is no cluster to look in, and on none that matches."""
    if site is None:
        return ()
    terms = _terms(workload)
    return tuple(
        nodes
        for nodes in (*site.node_groups.values(), *site.pools.values())
        if any(all(_may_meet(nodes.labels_of_nodes, requirement) for requirement in term) for term in terms)
    )


def instance_of(workload: Workload, site: Site | None) -> InstanceType | None:
    """The instance type that the pod runs on: the one that it selects, else the only one among the nodes that it may be placed on."""
    named = next((workload.selector[label] for label in INSTANCE_LABELS if label in workload.selector), None)
    if named is not None:
        return NEURON_TYPES.get(named.removeprefix(HYPERPOD_PREFIX))
    types = {nodes.instance.name for nodes in nodes_for(workload, site)}
    return NEURON_TYPES[types.pop()] if len(types) == 1 else None


def types_of(workload: Workload, site: Site | None) -> list[InstanceType]:
    """Instance types that the pod may run on: all there are where nothing says."""
    instance = instance_of(workload, site)
    if instance is not None:
        return [instance]
    return list({nodes.instance.name: nodes.instance for nodes in nodes_for(workload, site)}.values()) or list(NEURON_TYPES.values())


def selector_without_nodes(found: list[Workload], site: Site | None) -> Iterator[Finding]:
    """A selector that no node of the stack can meet."""
    for workload in found:
        if site is None or workload.on_neuron is None or workload.pod is None or _is_elsewhere(workload) or nodes_for(workload, site):
            continue
        terms, groups = _terms(workload), (*site.node_groups.values(), *site.pools.values())
        unmet = [each for each in terms[0] if not any(_may_meet(nodes.labels_of_nodes, each) for nodes in groups)] if groups else []
        what = ", ".join(_text(each) for each in unmet or terms[0]) or "a node with Neuron chips"
        have = ", ".join(f"`{next(iter(nodes.selector.items()))[0]}: {nodes.name}` ({nodes.instance.name})" for nodes in groups)
        key = "nodeSelector" if "nodeSelector" in workload.pod else "affinity"
        yield Finding(
            "selector-without-nodes", workload.document.index, (*workload.path, key), f"no node of stack {site.stack} can have {what}",
            "the pod waits for ever" if unmet or not groups else "each is met by some nodes, and by none together: the pod waits for ever",
            f"select one of {have}" if have else f"add a node group to Pulumi.{site.stack}.yaml",
        )  # fmt: skip


def kind_without_operator(documents: list[Document], site: Site | None) -> Iterator[Finding]:
    """Objects whose operator the stack does not bring."""
    for document in documents:
        version = str(document.value.get("apiVersion") or "")
        operators = operators_of(version)
        if site is None or operators is None or site.addons & set(operators):
            continue
        fix = (
            f"set `addons.{operators[0]}.enabled: true` in Pulumi.{site.stack}.yaml"
            if operators
            else f"install its operator, or use a kind of `{typed('trn submit --on')}`"
        )
        yield Finding(
            "kind-without-operator", document.index, ("apiVersion",), f"no add-on of stack {site.stack} serves `{document.kind}` of `{version}`",
            "the API server refuses a kind that it does not know, and nothing acts on one without its operator", fix,
        )  # fmt: skip


def _is_elsewhere(workload: Workload) -> bool:
    return any(workload.selector.get(label, "").startswith(HYPERPOD_PREFIX) for label in INSTANCE_LABELS)


def _terms(workload: Workload) -> list[list[Mapping[str, Any]]]:
    """Requirements of which one list must be met as a whole: those of the selector stand in each (Kubernetes API, NodeSelector)."""
    always: list[Mapping[str, Any]] = [
        {"key": key, "operator": "In", "values": [value]} for key, value in workload.selector.items() if not is_template(value)
    ]
    given: Any = workload.pod or {}
    for key in ("affinity", "nodeAffinity", "requiredDuringSchedulingIgnoredDuringExecution"):
        given = given.get(key) if isinstance(given, Mapping) else None
    terms = given.get("nodeSelectorTerms") if isinstance(given, Mapping) else None
    wanted = [
        [each for each in term.get("matchExpressions") or () if isinstance(each, Mapping)]
        for term in (terms if isinstance(terms, list) else ())
        if isinstance(term, Mapping) and isinstance(term.get("matchExpressions") or [], list)
    ]
    return [[*always, *term] for term in wanted] or [always]


def _may_meet(labels: Labels, requirement: Mapping[str, Any]) -> bool:
    """Whether a node with one of these values of each label can meet a requirement."""
    key, operator = str(requirement.get("key")), requirement.get("operator")
    values = {str(value) for value in requirement.get("values") or ()}
    if not is_judged(labels, key) or any(is_template(value) for value in values):
        return True
    has = labels.get(key, ())
    if operator == "DoesNotExist":
        return not has
    if operator == "NotIn":
        return not has or not set(has) <= values
    if operator in ("Gt", "Lt"):
        bound = next(iter(values), "")
        numbers = [int(value) for value in has if value.isdigit()]
        return bound.isdigit() and any(number > int(bound) if operator == "Gt" else number < int(bound) for number in numbers)
    return bool(has) if operator == "Exists" else bool(set(has) & values)


def _text(requirement: Mapping[str, Any]) -> str:
    values = [str(value) for value in requirement.get("values") or ()]
    operator = requirement.get("operator")
    if operator == "In" and len(values) == 1:
        return f"the label `{requirement.get('key')}: {values[0]}`"
    return f"the label `{requirement.get('key')}` {operator} {', '.join(values)}".rstrip()


RULES = (selector_without_nodes,)
DOCUMENT_RULES = (kind_without_operator,)
