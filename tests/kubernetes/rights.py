"""A user with rights of exactly some size."""

from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager

from operations.local_kubernetes.api import wait
from operations.local_kubernetes.control_plane import ControlPlane

RBAC = "rbac.authorization.k8s.io/v1"


@contextmanager
def granted(control_plane: ControlPlane, user: str, rules: Mapping[str, Collection[str]]) -> Iterator[None]:
    """Inside the block a user may do this in the whole cluster and nothing else: verbs by resource, `jobs.batch` or `pods/log`."""
    api = control_plane.api()
    written = [
        {"apiGroups": [_group(name)], "resources": [_resource(name)], "verbs": sorted(verbs)} for name, verbs in rules.items() if verbs
    ]
    role = {"apiVersion": RBAC, "kind": "ClusterRole", "metadata": {"name": f"test-{user}"}, "rules": written}
    binding = {
        "apiVersion": RBAC,
        "kind": "ClusterRoleBinding",
        "metadata": {"name": f"test-{user}"},
        "roleRef": {"apiGroup": RBAC.partition("/")[0], "kind": "ClusterRole", "name": f"test-{user}"},
        "subjects": [{"apiGroup": RBAC.partition("/")[0], "kind": "User", "name": user}],
    }
    for item in (role, binding):
        api.apply(item).ok()
    asked = [(name, verb) for name, verbs in rules.items() for verb in verbs]
    # The authorizer's copy of the rules follows a moment later.
    wait(lambda: all(_may(control_plane, user, name, verb) for name, verb in asked[-1:] + asked[:1]), "the rights are there")
    try:
        yield
    finally:
        for item in (binding, role):
            api.delete(item, foreground=False)
        wait(lambda: not any(_may(control_plane, user, name, verb) for name, verb in asked[:1]), "the rights are gone")


def _may(control_plane: ControlPlane, user: str, name: str, verb: str) -> bool:
    resource, _, subresource = _resource(name).partition("/")
    attributes = {"verb": verb, "group": _group(name), "resource": resource, "subresource": subresource}
    review = {
        "apiVersion": "authorization.k8s.io/v1",
        "kind": "SubjectAccessReview",
        "spec": {"user": user, "resourceAttributes": attributes},
    }
    answer = control_plane.api().call("POST", "/apis/authorization.k8s.io/v1/subjectaccessreviews", review).ok()
    return bool(answer["status"]["allowed"])


def _group(name: str) -> str:
    return name.partition("/")[0].partition(".")[2]


def _resource(name: str) -> str:
    """`pods/log`, or `jobs` of `jobs.batch`."""
    plain, slash, subresource = name.partition("/")
    return plain.partition(".")[0] + slash + subresource
