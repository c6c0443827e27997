"""The kubeconfig: asks the aws CLI for a token each time, so it holds no secret and does not expire."""

import json
from typing import Any


def kubeconfig(name: str, region: str, endpoint: str, certificate_authority: str) -> dict[str, Any]:
    """Kubeconfig of one cluster. `certificate_authority` is the base64 text that EKS reports."""
    arguments = ["eks", "get-token", "--cluster-name", name, "--region", region, "--output", "json"]
    return {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": name, "cluster": {"server": endpoint, "certificate-authority-data": certificate_authority}}],
        "users": [
            {
                "name": name,
                "user": {
                    "exec": {
                        "apiVersion": "client.authentication.k8s.io/v1beta1",
                        "command": "aws",
                        "args": arguments,
                        "interactiveMode": "Never",
                    }
                },
            }
        ],
        "contexts": [{"name": name, "context": {"cluster": name, "user": name}}],
        "current-context": name,
    }


def kubeconfig_json(name: str, region: str, endpoint: str, certificate_authority: str) -> str:
    """The same as text."""
    return json.dumps(kubeconfig(name, region, endpoint, certificate_authority), sort_keys=True)


def cluster_of(text: str) -> str:
    """Name of the cluster of a kubeconfig that `kubeconfig_json` made; empty for any other text."""
    try:
        return str(json.loads(text)["current-context"])
    except (ValueError, KeyError, TypeError):
        return ""
