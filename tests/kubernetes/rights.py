"""A user with rights of exactly some size."""

import itertools
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager

from local_kubernetes.api import wait
from local_kubernetes.control_plane import ControlPlane

_numbers = itertools.count(1)
RBAC = "rbac.authorization.k8s.io/v1"


@contextmanager
def granted(control_plane: ControlPlane, user: str, rules: Mapping[str, Collection[str]]) -> Iterator[None]:
    """Inside the block a user may do this in the whole cluster and nothing else: verbs by resource, `jobs.batch` or `pods/log`."""
    api = control_plane.api()
    written = [
        {"apiGroups": [_group(name)], "resources": [_resource(name)], "verbs": sorted(verbs)} for name, verbs in rules.items() if verbs
    ]
    # A name of its own: of a role that was another before, the authorizer may know the old rules for a moment.
    name_of_both = f"test-{user}-{next(_numbers)}"
    role = {"apiVersion": RBAC, "kind": "ClusterRole", "metadata": {"name": name_of_both}, "rules": written}
    binding = {
        "apiVersion": RBAC,
        "kind": "ClusterRoleBinding",
        "metadata": {"name": name_of_both},
        "roleRef": {"apiGroup": RBAC.partition("/")[0], "kind": "ClusterRole", "name": name_of_both},
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
