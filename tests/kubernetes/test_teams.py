"""Two teams in one cluster, each in a namespace of its own: what Kubernetes lets them do with the program's objects, and what not.

Their access is what an EKS access entry with AmazonEKSEditPolicy for a namespace gives, in Kubernetes' own words: the ClusterRole
`edit` bound there. Network policies are only taken and kept here: the VPC CNI enforces them, and no CNI runs.
"""

from collections.abc import Iterator
from typing import Any

import pytest

from addons.etcd.manifests import stateful_set_spec
from facts.names import NEURON_RESOURCE
from local_kubernetes.api import Api, Object, wait
from local_kubernetes.control_plane import ControlPlane
from tests.kubernetes.pods import pod

pytestmark = pytest.mark.kubernetes
TEAMS = ("team-a", "team-b")
WHOLE_NODE = {NEURON_RESOURCE: "16"}
RBAC = "rbac.authorization.k8s.io"


def item(api_version: str, kind: str, name: str, namespace: str, **fields: Any) -> Object:
    """An object."""
    return {"apiVersion": api_version, "kind": kind, "metadata": {"name": name, "namespace": namespace}, **fields}


def objects_of(team: str) -> list[Object]:
    """What an administrator makes for a team."""
    labels = {"pod-security.kubernetes.io/enforce": "restricted" if team == "team-b" else "baseline"}
    role = {"apiGroup": RBAC, "kind": "ClusterRole", "name": "edit"}
    members = [{"apiGroup": RBAC, "kind": "Group", "name": team}]
    own = {"podSelector": {}, "policyTypes": ["Ingress"], "ingress": [{"from": [{"podSelector": {}}]}]}
    return [
        {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": team, "labels": labels}},
        item("v1", "ResourceQuota", "devices", team, spec={"hard": {f"requests.{NEURON_RESOURCE}": "16"}}),
        item(f"{RBAC}/v1", "RoleBinding", "members", team, roleRef=role, subjects=members),
        item("networking.k8s.io/v1", "NetworkPolicy", "own-pods-only", team, spec=own),
    ]


@pytest.fixture(scope="module")
def teams(control_plane: ControlPlane, _dev_nodes: list[str]) -> Iterator[dict[str, Api]]:
    """The way of one member of each team, whose namespaces are there."""
    api = control_plane.api()
    for team in TEAMS:
        for made in objects_of(team):
            api.apply(made).ok()
        wait(lambda team=team: api.call("GET", f"/api/v1/namespaces/{team}/serviceaccounts/default").status == 200, "it takes pods")
        quota = item("v1", "ResourceQuota", "devices", team)
        wait(lambda quota=quota: "used" in api.get(quota).ok()["status"], "the quota is counted")
    found = {team: control_plane.api(f"member-of-{team}", [team]) for team in TEAMS}
    wait(lambda: all(found[team].call("GET", f"/api/v1/namespaces/{team}/pods").status == 200 for team in TEAMS), "they may look")
    yield found
    for team in TEAMS:
        api.delete({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": team}})


def safe(name: str, team: str, **more: Any) -> Object:
    """A pod that Pod Security's strictest level lets in."""
    made = pod(name, team, securityContext={"runAsNonRoot": True, "seccompProfile": {"type": "RuntimeDefault"}}, **more)
    made["spec"]["containers"][0]["securityContext"] = {"allowPrivilegeEscalation": False, "capabilities": {"drop": ["ALL"]}}
    return made


def test_a_team_gets_its_devices_and_no_more(teams: dict[str, Api]):
    """The other team's are left to it, however early the first one comes."""
    first, second, others = (
        safe(name, team, resources=WHOLE_NODE) for name, team in (("one", "team-a"), ("two", "team-a"), ("one", "team-b"))
    )
    teams["team-a"].create(first).ok()
    refusal = teams["team-a"].create(second)
    assert refusal.status == 403
    assert "exceeded quota: devices" in refusal.message
    teams["team-b"].create(others).ok()
    wait(lambda: teams["team-b"].get(others).ok()["status"]["phase"] == "Running", "it runs")
    for team, made in (("team-a", first), ("team-b", others)):
        teams[team].delete(made, grace_s=0, foreground=False).ok()


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("GET", "/api/v1/namespaces/team-b/pods"),
        ("GET", "/api/v1/namespaces/team-b/secrets"),
        ("DELETE", "/apis/batch/v1/namespaces/team-b/jobs"),
        ("GET", "/api/v1/pods"),
        ("GET", "/api/v1/nodes"),
        ("DELETE", "/api/v1/namespaces/team-a/resourcequotas/devices"),
        ("DELETE", "/apis/networking.k8s.io/v1/namespaces/team-b/networkpolicies/own-pods-only"),
        ("DELETE", f"/apis/{RBAC}/v1/namespaces/team-a/rolebindings/members"),
        ("GET", "/api/v1/persistentvolumes"),
    ],
)
def test_a_team_may_not(teams: dict[str, Api], method: str, path: str):
    """The other's namespace, the cluster's own objects, and the bounds that it was given."""
    assert teams["team-a"].call(method, path).status == 403


def test_a_team_may_work_in_its_own_namespace(teams: dict[str, Api]):
    """Jobs, their pods and logs, claims: what `trn logs` and kubectl need."""
    own = teams["team-a"]
    template = {"spec": safe("x", "team-a")["spec"] | {"restartPolicy": "Never"}}
    job = item("batch/v1", "Job", "train", "team-a", spec={"template": template})
    own.create(job).ok()
    found = wait(lambda: own.items("/api/v1/namespaces/team-a/pods", labelSelector="batch.kubernetes.io/job-name=train"), "it has a pod")
    wait(lambda: own.call("GET", f"/api/v1/namespaces/team-a/pods/{found[0]['metadata']['name']}/log").status == 200, "its log is there")
    assert own.delete(job).status == 200


def test_pod_security_keeps_what_reaches_the_node_out(teams: dict[str, Api]):
    """At either level; the stricter one also what may become root."""
    host = pod("host", "team-a", hostNetwork=True)
    for level, team in (("baseline", "team-a"), ("restricted", "team-b")):
        refusal = teams[team].create({**host, "metadata": {**host["metadata"], "namespace": team}})
        assert refusal.status == 403
        assert f'violates PodSecurity "{level}' in refusal.message
    teams["team-a"].create(pod("root", "team-a")).ok()
    assert "runAsNonRoot != true" in teams["team-b"].create(pod("root", "team-b")).message
    teams["team-a"].delete(pod("root", "team-a"), grace_s=0, foreground=False)


def test_the_stacks_etcd_would_run_at_the_strictest_level(teams: dict[str, Api]):
    """A training namespace may be labelled `restricted` without losing its rendezvous."""
    spec = stateful_set_spec(persistent=False)["template"]["spec"]
    made = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "etcd", "namespace": "team-b"}, "spec": spec}
    assert teams["team-b"].call("POST", "/api/v1/namespaces/team-b/pods", made, dryRun="All").status == 201
