"""Where the API serves the objects that launchers render."""

from facts.kubernetes_kinds import Resource
from training.pod import Object


def resource_of(body: Object) -> Resource:
    """Its kind. All kinds that launchers render have a regular plural."""
    version = body["apiVersion"]
    return Resource(body["kind"], f"/apis/{version}" if "/" in version else f"/api/{version}", f"{body['kind'].lower()}s")


def path_of(body: Object) -> str:
    """Where one object is served."""
    resource, metadata = resource_of(body), body["metadata"]
    return f"{resource.path}/namespaces/{metadata['namespace']}/{resource.plural}/{metadata['name']}"


def reference(body: Object) -> str:
    """As a person and kubectl call it: `jobs.batch.volcano.sh/bert`."""
    return f"{resource_of(body).qualified}/{body['metadata']['name']}"
