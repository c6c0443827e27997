"""What the API server would refuse in an object that a launcher renders."""

from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import jsonschema
import kubernetes_validate
import yaml

SCHEMAS = Path(__file__).parent / "schemas"
KUBERNETES = "1.35"
OWN = ("v1", "batch/v1", "apps/v1", "resource.k8s.io/v1")
"""API versions of Kubernetes itself, of which all is known."""


@cache
def schemas() -> dict[str, Any]:
    """Schema of `spec` by API version and kind."""
    return {kind: schema for path in sorted(SCHEMAS.glob("*.yaml")) for kind, schema in yaml.safe_load(path.read_text()).items()}


def errors(body: dict[str, Any]) -> list[str]:
    """Everything wrong with an object and with the pods and Jobs in it; KeyError for a kind without a schema."""
    found = []
    if body["apiVersion"] in OWN:
        found += _of_kubernetes(body)
    else:
        validator = jsonschema.Draft202012Validator(schemas()[f"{body['apiVersion']} {body['kind']}"])
        found += [f"spec.{'.'.join(map(str, error.path))}: {error.message}" for error in validator.iter_errors(body["spec"])]
    for template in templates(body.get("spec", {})):
        kind = "Pod" if "containers" in template["spec"] else "Job"
        version = "v1" if kind == "Pod" else "batch/v1"
        found += _of_kubernetes({"apiVersion": version, "kind": kind, "metadata": {"name": "made"}, "spec": template["spec"]})
    return found


def _of_kubernetes(body: dict[str, Any]) -> list[str]:
    try:
        kubernetes_validate.validate(body, KUBERNETES, strict=True)
    except kubernetes_validate.ValidationError as error:
        return [f"{'.'.join(map(str, error.path))}: {error.message}"]
    return []


def templates(value: Any) -> Iterator[dict[str, Any]]:
    """Every template of a pod or a Job in an object, wherever its kind keeps it, inner ones as well."""
    for item in value if isinstance(value, list) else value.values() if isinstance(value, dict) else ():
        if isinstance(item, dict) and isinstance(item.get("spec"), dict) and item["spec"].keys() & {"containers", "completions"}:
            yield item
        yield from templates(item)


def pods(objects: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Templates of pods alone."""
    return [template for body in objects for template in templates(body) if "containers" in template["spec"]]
