"""CustomResourceDefinitions of everything that the charts bring: the pinned release's own, or one made from the contract.

`of_chart("volcano")` gives what a release of the chart installs. A CRD whose release is not in Go's module registry is made of
what the contract says (group, kind, plural), with a schema for `spec` where the caller has one.
"""

from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from addons.registry import REGISTRY
from facts.charts import contracts
from local_kubernetes.api import Api, Object, wait
from local_kubernetes.sources import CRDS, GROUPS, folder

PATH = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
CLUSTER_WIDE = frozenset({"ClusterIssuer", "IngressClassParams", "ALBTargetControlConfig"})
"""Kinds without a namespace among those that are made here (the projects' own manifests)."""
KEPT_WORDS = (
    "type",
    "properties",
    "items",
    "enum",
    "minimum",
    "maximum",
    "minItems",
    "maxItems",
    "minLength",
    "maxLength",
    "pattern",
    "required",
    "format",
)
"""Keywords of a JSON schema that a structural schema has too."""
Schemas = Mapping[str, Any]
"""Schema of `spec` by API version and kind: `kueue.x-k8s.io/v1beta1 ClusterQueue`."""
NO_SCHEMAS: Schemas = {}


class Loader(yaml.CSafeLoader):
    """YAML as Helm prints it: a lone `=` is text there, and a marker of its own in YAML 1.1."""


Loader.add_constructor("tag:yaml.org,2002:value", lambda _, node: node.value)


@cache
def _files(module: str) -> Mapping[str, Path]:
    """Where a module's CRDs are, by name: each has a file `GROUP_PLURAL.yaml`. Raises build.Missing."""
    found: dict[str, Path] = {}
    for path in sorted(folder(module).glob(CRDS[module])):
        group, _, plural = path.stem.rpartition("_")
        found[f"{plural}.{group}"] = path
    return found


@cache
def real(name: str) -> Object | None:
    """A CRD of a pinned release; None for one that is not to be had. Raises build.Missing."""
    module = GROUPS.get(name.partition(".")[2])
    path = _files(module).get(name) if module else None
    if path is None:
        return None
    (item,) = [entry for entry in yaml.load_all(path.read_text(), Loader) if entry]
    return _without_conversion(item)


def of_chart(chart: str, schemas: Schemas = NO_SCHEMAS) -> list[Object]:
    """What a release of a chart, or an EKS add-on, brings."""
    return [real(str(crd["name"])) or made(str(crd["name"]), str(crd["kind"]), schemas) for crd in contracts()[chart].crds]


def stays(chart: str) -> set[str]:
    """Names of CRDs that are left when the release is deleted."""
    return {str(crd["name"]) for crd in contracts()[chart].crds if crd["stays"]}


def made(name: str, qualified: str, schemas: Schemas = NO_SCHEMAS) -> Object:
    """A CRD from what a contract says of it: `jobs.batch.volcano.sh`, `batch.volcano.sh/Job`."""
    group, _, kind = qualified.partition("/")
    plural = name.partition(".")[0]
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": name, "annotations": _approval(group)},
        "spec": {
            "group": group,
            "names": {"kind": kind, "plural": plural, "singular": kind.lower(), "listKind": f"{kind}List"},
            "scope": "Cluster" if kind in CLUSTER_WIDE else "Namespaced",
            "versions": [_version(group, kind, schemas)],
        },
    }


def install(api: Api, items: list[Object]) -> None:
    """Create CRDs, those that are there already left alone, and wait until their kinds are served."""
    there = api.names(PATH) if items else set()
    items = [item for item in items if item["metadata"]["name"] not in there]
    for item in items:
        api.create(item).ok()
    for item in items:
        wait(lambda item=item: _is_served(api, item), f"{item['metadata']['name']} is served")


def _is_served(api: Api, item: Object) -> bool:
    """Whether its objects can be listed and the server's own list of kinds has it: the two come at different moments."""
    spec = item["spec"]
    plural, group = spec["names"]["plural"], spec["group"]
    served = [version["name"] for version in spec["versions"] if version["served"]]
    return all(
        api.call("GET", f"/apis/{group}/{version}/{plural}").status == 200
        and plural in {entry["name"] for entry in api.call("GET", f"/apis/{group}/{version}").body.get("resources", ())}
        for version in served
    )


def _version(group: str, kind: str, schemas: Schemas) -> dict[str, Any]:
    known = {key: schema for key, schema in schemas.items() if key.endswith(f" {kind}") and key.startswith(f"{group}/")}
    spec: dict[str, Any] = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    name = next((version for version in _versions(group, kind)), "v1")
    for key, schema in known.items():
        name, spec = key.split()[0].rpartition("/")[2], _structural(schema, schema.get("$defs", {}))
    whole = {"type": "object", "properties": {"spec": spec, "status": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}}}
    return {"name": name, "served": True, "storage": True, "schema": {"openAPIV3Schema": whole}, "subresources": {"status": {}}}


def _versions(group: str, kind: str) -> Iterator[str]:
    """Versions that the program asks for."""
    for declaration in REGISTRY:
        for drained in declaration.drained:
            if drained.resource.group == group and drained.resource.kind.split()[-1] == kind:
                yield drained.resource.path.rpartition("/")[2]
        for written in declaration.kinds:
            if written.split()[1] == kind and written.startswith(f"{group}/"):
                yield written.split()[0].rpartition("/")[2]


def _structural(schema: Mapping[str, Any], definitions: Mapping[str, Any]) -> dict[str, Any]:
    """A JSON schema in the words that a CRD may use: what it cannot say there is left out."""
    if "$ref" in schema:
        return _structural(definitions[schema["$ref"].rpartition("/")[2]], definitions)
    kept: dict[str, Any] = {key: schema[key] for key in KEPT_WORDS if key in schema}
    if "properties" in kept:
        kept["properties"] = {name: _structural(inner, definitions) for name, inner in kept["properties"].items()}
    elif isinstance(schema.get("additionalProperties"), Mapping):
        kept["additionalProperties"] = _structural(schema["additionalProperties"], definitions)
    if kept.get("type") == "array":
        kept["items"] = _structural(schema.get("items", {}), definitions)
    if "type" not in kept:
        kept = {"x-kubernetes-preserve-unknown-fields": True} if "enum" not in kept else {"type": "string", **kept}
    elif kept["type"] == "object" and not {"properties", "additionalProperties"} & kept.keys():
        kept["x-kubernetes-preserve-unknown-fields"] = True
    return kept


def _without_conversion(item: Object) -> Object:
    """Without the webhook that converts between versions: no operator runs for most of them here."""
    spec = {key: value for key, value in item["spec"].items() if key != "conversion"}
    metadata = {"name": item["metadata"]["name"], "annotations": _approval(item["spec"]["group"])}
    return {**item, "metadata": metadata, "spec": spec}


def _approval(group: str) -> dict[str, str]:
    """Groups of the community want to be told where a CRD was agreed on (kubernetes.io, api-approved annotation)."""
    return {"api-approved.kubernetes.io": "unapproved, of a copy"} if group.endswith((".k8s.io", ".kubernetes.io")) else {}
