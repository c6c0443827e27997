"""The rights that are listed are the rights that are used."""

import re
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from tests.support import ROOT
from tests.trn.change.owned import stack_of
from tests.trn.given import Given
from tests.trn.kubernetes.healthy_cluster import Healthy
from trn.app import app
from trn.kubernetes.job_pods import PODS
from trn.kubernetes.kinds import KINDS
from trn.rights import BY_KUBECTL, DRAIN, RIGHTS, drain_rights

COMMANDS: dict[str, tuple[str, ...]] = {
    "status": ("status dev",),
    "verify": ("verify dev",),
    "shell": ("shell dev --node-group trn1-32xl",),
    "top": ("top dev", "top dev bert"),
    "logs": ("logs bert",),
    "bundle": ("bundle dev --output {folder}",),
    "jobs": ("jobs",),
    "why": ("why bert",),
    "watch": ("watch bert --once",),
    "scale": ("scale trn1-32xl 0 --yes",),
    "upgrade": ("upgrade dev --to 1.36 --check",),
}


def resource(path: str) -> str:
    """`jobs.batch`, `pods/log` or the like, from a path of the API."""
    match = re.fullmatch(
        r"/apis?/(?:(?P<group>[a-z.0-9-]+)/)?v[^/]*/(?:namespaces/[^/]+/)?(?P<kind>[a-z]+)(?:/[^/?]+)?(?:/(?P<sub>[a-z]+).*)?(?:\?.*)?",
        path,
    )
    assert match is not None, path
    kind = f"{match['kind']}.{match['group']}" if match["group"] else match["kind"]
    return f"{kind}/{match['sub']}" if match["sub"] else kind


@pytest.fixture
def healthy(monkeypatch: pytest.MonkeyPatch, given: Given) -> Healthy:
    """The shipped stack, up, with a job and the exporter."""
    monkeypatch.chdir(ROOT)
    made = Healthy()
    given.api = made.cloud.api
    given.cluster = made.cluster
    given.engine = stack_of("trainium-dev")
    # An upgrade is rehearsed without the cluster.
    monkeypatch.setattr("trn.running.upgrade.change.timed", lambda *_: [])
    monkeypatch.setattr("time.sleep", lambda _: None)
    monkeypatch.setattr("shutil.which", lambda name: name)
    monkeypatch.setattr("subprocess.run", lambda *arguments, **more: type("Done", (), {"returncode": 0}))
    bert: dict[str, Any] = {
        "metadata": {"labels": {"volcano.sh/job-name": "bert"}},
        "status": {"phase": "Running", "containerStatuses": []},
    }
    state = {"name": "work", "state": {"running": {}}}
    bert["status"]["containerStatuses"] = [state]
    made.cluster.put(PODS, "bert-0", **bert, spec={"nodeName": "core", "containers": [{"name": "work"}]})
    exporter = {
        "metadata": {"labels": {"app.kubernetes.io/name": "neuron-monitor"}},
        "spec": {"nodeName": "node-1", "containers": [{"name": "monitor"}]},
    }
    made.cluster.put(PODS, "monitor-1", "neuron-monitor", **exporter)
    return made


@pytest.mark.parametrize("name", list(COMMANDS))
def test_each_command_uses_the_rights_that_are_listed_and_no_others(healthy: Healthy, name: str, tmp_path: Path):
    """One too few fails in the middle; one too many is a right for nothing."""
    for command in COMMANDS[name]:
        CliRunner().invoke(app, command.format(folder=tmp_path), catch_exceptions=False)
    used = {(verb, resource(path)) for verb, path in healthy.cluster.seen}
    by_kubectl = _pairs(BY_KUBECTL.get(name, {}))
    assert used == _pairs(RIGHTS[name]) - by_kubectl
    assert by_kubectl <= _pairs(RIGHTS[name])


def test_a_drain_uses_the_rights_of_its_kinds_and_no_others(healthy: Healthy):
    """An object of each kind is acted on; a pool's machines are only looked at."""
    for kind in KINDS:
        specification = {"type": "LoadBalancer", "storageClassName": "gp3", "replicas": 1}
        healthy.cluster.put(kind.resource, "theirs", spec=specification)
    CliRunner().invoke(app, "drain dev --yes", catch_exceptions=False)
    listed = {pair for rules in (DRAIN, *map(drain_rights, KINDS)) for pair in _pairs(rules)}
    assert {(verb, resource(path)) for verb, path in healthy.cluster.seen} == listed


def _pairs(rules: Any) -> set[tuple[str, str]]:
    return {(verb, kind) for kind, verbs in rules.items() for verb in verbs}


@pytest.mark.parametrize(
    ("path", "says"),
    [
        ("/api/v1/pods", "pods"),
        ("/api/v1/namespaces/a/pods/b/log?container=c", "pods/log"),
        ("/api/v1/namespaces/a/services/etcd-client:2379/proxy/v2/keys/", "services/proxy"),
        ("/api/v1/namespaces/a/persistentvolumeclaims/b", "persistentvolumeclaims"),
        ("/apis/batch.volcano.sh/v1alpha1/jobs", "jobs.batch.volcano.sh"),
    ],
)
def test_a_path_is_read_as_kubernetes_reads_it(path: str, says: str):
    """The test above is worth what this one is."""
    assert resource(path) == says


def test_the_page_has_every_right():
    """Made from the same table."""
    text = (ROOT / "docs/operations.md").read_text()
    rules = [*RIGHTS.values(), DRAIN, *map(drain_rights, KINDS)]
    assert [f"{kind} {verbs}" for rule in rules for kind, verbs in rule.items() if f"`{kind}` ({', '.join(verbs)})" not in text] == []
