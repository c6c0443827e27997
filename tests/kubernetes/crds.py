"""CustomResourceDefinitions of everything that the charts bring: the pinned release's own, or one made from the contract.

`of_chart("volcano")` gives what a release of the chart installs. A CRD whose release is not in Go's module registry is made of
what the contract says (group, kind, plural), with the short schema of tests/addons/schemas for `spec` where there is one.
"""

from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from addons.registry import REGISTRY
from facts.charts import contracts
from operations.cluster.drain.kinds import KINDS
from tests.addons.custom_resources import schemas
from tests.addons.test_helm import Loader
from tests.kubernetes.api import NAMES_ONLY, Api, Object, wait
from tests.kubernetes.sources import CRDS, folder

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


@cache
def _files() -> Mapping[str, Path]:
    """Where the CRDs of the pinned releases are, by name: each has a file `GROUP_PLURAL.yaml`. Raises build.Missing."""
    found: dict[str, Path] = {}
    for module, pattern in CRDS.items():
        for path in sorted(folder(module).glob(pattern)):
            group, _, plural = path.stem.rpartition("_")
            found[f"{plural}.{group}"] = path
    return found


@cache
def real(name: str) -> Object | None:
    """A CRD of a pinned release; None for one that is not to be had. Raises build.Missing."""
    path = _files().get(name)
    if path is None:
        return None
    (item,) = [entry for entry in yaml.load_all(path.read_text(), Loader) if entry]
    return _bare(item)


def of_chart(chart: str) -> list[Object]:
    """What a release of a chart, or an EKS add-on, brings."""
    return [real(str(crd["name"])) or made(str(crd["name"]), str(crd["kind"])) for crd in contracts()[chart].crds]


def stays(chart: str) -> set[str]:
    """Names of CRDs that are left when the release is deleted."""
    return {str(crd["name"]) for crd in contracts()[chart].crds if crd["stays"]}


def made(name: str, qualified: str) -> Object:
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
            "versions": [_version(group, kind)],
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


def remove_all(api: Api) -> None:
    """Delete every CRD, and with it every object of its kind."""
    api.call("DELETE", PATH, accept=NAMES_ONLY).ok()
    wait(lambda: not api.names(PATH), "no CRD is left")


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


def _version(group: str, kind: str) -> dict[str, Any]:
    known = {key: schema for key, schema in schemas().items() if key.endswith(f" {kind}") and key.startswith(f"{group}/")}
    spec: dict[str, Any] = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    name = next((version for version in _versions(group, kind)), "v1")
    for key, schema in known.items():
        name, spec = key.split()[0].rpartition("/")[2], _structural(schema, schema.get("$defs", {}))
    whole = {"type": "object", "properties": {"spec": spec, "status": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}}}
    return {"name": name, "served": True, "storage": True, "schema": {"openAPIV3Schema": whole}, "subresources": {"status": {}}}


def _versions(group: str, kind: str) -> Iterator[str]:
    """Versions that the program asks for."""
    for entry in KINDS:
        if entry.resource.group == group and entry.resource.kind.split()[-1] == kind:
            yield entry.resource.path.rpartition("/")[2]
    for declaration in REGISTRY:
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


def _bare(item: Object) -> Object:
    """Without the webhook that converts between versions: no operator runs for most of them here. And without its descriptions, which
    are two thirds of it and which the API server would read with every other definition's again for each that comes or goes."""
    spec = {key: value for key, value in item["spec"].items() if key != "conversion"}
    spec["versions"] = [{**version, "schema": _undescribed(version["schema"])} for version in spec["versions"]]
    metadata = {"name": item["metadata"]["name"], "annotations": _approval(item["spec"]["group"])}
    return {**item, "metadata": metadata, "spec": spec}


def _undescribed(node: Any) -> Any:
    """A schema without the texts that say what it means; a property of the name `description` is no text and stays."""
    if isinstance(node, list):
        return [_undescribed(item) for item in node]
    if isinstance(node, dict):
        return {key: _undescribed(value) for key, value in node.items() if key != "description" or not isinstance(value, str)}
    return node


def _approval(group: str) -> dict[str, str]:
    """Groups of the community want to be told where a CRD was agreed on (kubernetes.io, api-approved annotation)."""
    return {"api-approved.kubernetes.io": "unapproved, for tests"} if group.endswith((".k8s.io", ".kubernetes.io")) else {}
