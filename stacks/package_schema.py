"""The schema of the Pulumi package, made from the models of the stack file: what `pulumi package add` makes typed SDKs from.

https://www.pulumi.com/docs/iac/guides/building-extending/packages/schema/
"""

from collections.abc import Mapping
from typing import Any

from stacks.settings import Settings

PACKAGE = "trn"
COMPONENT = f"{PACKAGE}:index:TrainiumCluster"
"""Token of the component in programs that use the package."""
_TEXT: Mapping[str, Any] = {"type": "string"}
OUTPUTS: Mapping[str, tuple[Mapping[str, Any], str]] = {
    "clusterName": (_TEXT, "Name of the EKS cluster."),
    "clusterArn": (_TEXT, "ARN of the EKS cluster."),
    "clusterCreatedAt": (_TEXT, "When EKS made the cluster, RFC 3339."),
    "vpcId": (_TEXT, "The VPC."),
    "stack": (_TEXT, "Organization, project and stack, as in the tag `trn:stack`."),
    "region": (_TEXT, "AWS region."),
    "kubeconfig": (_TEXT, "A kubeconfig that gets its token by `aws eks get-token`; nothing in it is secret."),
    "nodeGroups": ({"type": "array", "items": _TEXT}, "Node groups by name, the core group first."),
    "namespaces": ({"type": "array", "items": _TEXT}, "Namespaces that the cluster has, the jobs' own first."),
    "queues": ({"type": "array", "items": _TEXT}, "Volcano's queues."),
    "nextCommand": (_TEXT, "What to type next."),
    "grafanaPassword": (_TEXT, "Command that prints Grafana's password; only where Grafana made it."),
    "batchComputeEnvironmentId": (_TEXT, "Command that prints the id of the compute environment; only with AWS Batch."),
    "fileSystemId": (_TEXT, "The Lustre file system; only where there is one."),
    "fileSystemDnsName": (_TEXT, "DNS name of the file system."),
    "fileSystemMountName": (_TEXT, "Mount name of the file system."),
    "claim": (_TEXT, "PersistentVolumeClaim of the file system in the training namespace."),
}
"""What the component tells, by name: type and description."""
OPTIONAL = frozenset({"grafanaPassword", "batchComputeEnvironmentId", "fileSystemId", "fileSystemDnsName", "fileSystemMountName", "claim"})
"""Outputs that not every cluster has."""


def package_schema(version: str) -> dict[str, Any]:
    """The package: one component, with a type for each section of the stack file.

    `version`: of the package, such as `0.1.0`. All inputs are plain: a plan needs them, so that an output of another resource,
    which is not known before that is made, cannot be one.
    """
    model = Settings.model_json_schema(by_alias=True)
    return {
        "name": PACKAGE,
        "version": version,
        "displayName": "Trainium cluster",
        "description": "An AWS Trainium training cluster on EKS, with everything that distributed training needs.",
        "license": "Apache-2.0",
        "meta": {"moduleFormat": "(.*)"},
        "language": {"nodejs": {"respectSchemaVersion": True}, "python": {"respectSchemaVersion": True}},
        "types": {_token(name): _object(section) for name, section in model["$defs"].items()},
        "resources": {
            COMPONENT: {
                "isComponent": True,
                "description": "A whole training cluster: network, control plane, node groups, file system and add-ons.",
                "inputProperties": _properties(model),
                "requiredInputs": model["required"],
                "properties": {name: {**kind, "description": text} for name, (kind, text) in OUTPUTS.items()},
                "required": [name for name in OUTPUTS if name not in OPTIONAL],
            }
        },
    }


def _token(section: str) -> str:
    return f"{PACKAGE}:index:{section}"


def _object(section: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "type": "object",
        "description": section.get("description", ""),
        "properties": _properties(section),
        "required": section.get("required", []),
    }


def _properties(section: Mapping[str, Any]) -> dict[str, Any]:
    return {key: {**_kind(field), "description": _described(field)} for key, field in section.get("properties", {}).items()}


def _kind(field: Mapping[str, Any]) -> dict[str, Any]:
    """The type of a key. Which values are allowed is the business of the one reader of settings, whose errors have a fix."""
    if "$ref" in field:
        return {"$ref": f"#/types/{_token(field['$ref'].rpartition('/')[2])}", "plain": True}
    if "anyOf" in field:
        kinds = [kind for kind in field["anyOf"] if kind.get("type") != "null"]
        return _kind(kinds[0]) if len(kinds) == 1 else {"oneOf": [_kind(kind) for kind in kinds], "plain": True}
    if field["type"] == "array":
        return {"type": "array", "items": _kind(field["items"]), "plain": True}
    if field["type"] == "object":
        (named,) = (field["additionalProperties"],) if "additionalProperties" in field else field["patternProperties"].values()
        return {"type": "object", "additionalProperties": _kind(named), "plain": True}
    return {"type": field["type"], "plain": True}


def _described(field: Mapping[str, Any]) -> str:
    """The key's own words, the values that it takes, and its default where that is one value."""
    enum = field.get("enum") or next((kind["enum"] for kind in field.get("anyOf", ()) if "enum" in kind), ())
    parts = [field.get("description", "")]
    if enum:
        parts.append(f"One of: {', '.join(str(value) for value in enum)}.")
    default = field.get("default")
    if default is not None and not isinstance(default, (dict, list)):
        parts.append(f"Default: {str(default).lower() if isinstance(default, bool) else default}.")
    return " ".join(part for part in parts if part)
