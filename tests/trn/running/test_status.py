"""`trn status`: a healthy cluster passes, and each thing that is broken fails its own check."""

import json
import stat
from collections.abc import Callable
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from typer.testing import CliRunner

from addons import volcano
from facts.catalogue import NEURON_TYPES
from facts.resource_slices import efa_slice, neuron_slice
from tests.support import ROOT, dev_configuration, merged
from tests.trn.given import Given
from tests.trn.kubernetes.healthy_cluster import CLAIM, ETCD, Healthy
from trn.app import app
from trn.cli.errors import CommandError
from trn.cli.findings import Finding, failed, passed, skipped, warned
from trn.cli.junit import junit
from trn.kubernetes.claimed import SLICES
from trn.kubernetes.kinds import NODES
from trn.rights import WITH_CLAIMS
from trn.running.status.checks import CHECKS, findings_of
from trn.running.status.nodes import DAEMON_SETS, EFA_DRA_DRIVER, NEURON_DRA_DRIVER
from trn.running.subject import Subject, core_count, efa_count


def found(healthy: Healthy, check: str) -> list[Finding]:
    """Findings of one check."""
    return list(findings_of(healthy.subject, check))


def test_a_healthy_cluster_passes_everything():
    """With two nodes of the first group, and none of the second."""
    healthy = Healthy()
    findings = [finding for name in CHECKS for finding in found(healthy, name)]
    assert {finding.verdict for finding in findings} == {"pass"}
    assert {finding.check for finding in findings} == CHECKS.keys()
    assert "node-1: aws.amazon.com/neuron 16, aws.amazon.com/neuroncore 32, vpc.amazonaws.com/efa 8" in [item.what for item in findings]


def _not_ready(healthy: Healthy) -> None:
    healthy.nodes[1]["status"]["conditions"] = [{"type": "Ready", "status": "Unknown"}]


BREAKS: list[tuple[str, Callable[[Healthy], Any], str]] = [
    ("control plane", lambda it: it.control_plane.update(status="UPDATING"), "it is UPDATING"),
    ("control plane", lambda it: it.control_plane.update(version="1.30"), "Kubernetes 1.30, the stack file says"),
    ("control plane", lambda it: it.cloud.of("cluster").clear(), "it is not there"),
    ("node groups", lambda it: it.group.update(status="CREATE_FAILED"), "trn1-32xl is CREATE_FAILED"),
    ("node groups", lambda it: it.group.update(status="DEGRADED"), "trn1-32xl is DEGRADED"),
    (
        "node groups",
        lambda it: it.group.update(health={"issues": [{"code": "AsgInstanceLaunchFailures", "message": "no capacity"}]}),
        "trn1-32xl is ACTIVE AsgInstanceLaunchFailures: no capacity",
    ),
    ("node groups", lambda it: it.cloud.of("node group").pop("trn1-32xl"), "there is no node group trn1-32xl"),
    ("nodes ready", _not_ready, "trn1-32xl: 1 of 2; node-2"),
    ("nodes ready", lambda it: it.cluster.objects[NODES].clear(), "0 of 2; the others have not joined"),
    ("devices", lambda it: it.nodes[0]["status"]["allocatable"].update({"aws.amazon.com/neuron": "15"}), "aws.amazon.com/neuron 15 of 16"),
    ("devices", lambda it: it.nodes[0]["status"]["allocatable"].pop("vpc.amazonaws.com/efa"), "vpc.amazonaws.com/efa 0 of 8"),
    ("device plug-ins", lambda it: it.plugins[0].update(status={"numberReady": 1}), "neuron-device-plugin: 1 of 2 pods ready"),
    ("device plug-ins", lambda it: it.cluster.objects[DAEMON_SETS].pop(), "there is no DaemonSet aws-efa-k8s-device-plugin"),
    ("EFA", lambda it: it.cloud.of("instance")["i-1"]["NetworkInterfaces"].pop(0), "i-1: 7 of 8 interfaces; card 0 has no efa"),
    (
        "EFA",
        lambda it: it.cloud.of("instance")["i-2"]["NetworkInterfaces"][3].update(InterfaceType="efa"),
        "i-2: 7 of 8 interfaces; card 3 has no efa-only, 1 of another kind or in another place",
    ),
    (
        "EFA",
        lambda it: it.cloud.of("instance")["i-2"]["NetworkInterfaces"][8].update(InterfaceType="efa"),
        "i-2: 8 of 8 interfaces; 1 of another kind or in another place",
    ),
    ("EFA", lambda it: it.cloud.of("ingress rule").clear(), "sg-1 has no rule to itself: in"),
    ("EFA", lambda it: it.rules[1].update(ReferencedGroupInfo={"GroupId": "sg-2"}), "sg-1 has no rule to itself: out"),
    ("EFA", lambda it: it.rules[1].update(IpProtocol="tcp"), "sg-1 has no rule to itself: out"),
    ("queues", lambda it: it.cluster.objects[volcano.QUEUES][2].update(status={"state": "Closed"}), "training is Closed"),
    ("queues", lambda it: it.cluster.objects[volcano.QUEUES].pop(2), "training is not there"),
    ("queues", lambda it: it.cluster.objects.pop(volcano.QUEUES), "the cluster knows no Volcano queues"),
    ("etcd", lambda it: it.cluster.served.pop(ETCD), "it does not answer at /v2/keys"),
    ("file system", lambda it: it.file_system.update(Lifecycle="MISCONFIGURED"), "is MISCONFIGURED"),
    ("file system", lambda it: it.cloud.of("fsx").clear(), "there is none with the cluster's tag"),
    ("file system", lambda it: it.claim["status"].update(phase="Pending"), "claim training/fsx-claim is Pending"),
    ("file system", lambda it: it.cluster.served.pop(CLAIM), "claim training/fsx-claim is not there"),
]


@pytest.mark.parametrize(("check", "broken", "says"), BREAKS, ids=[says for _, _, says in BREAKS])
def test_what_is_broken_fails_its_check_and_says_what_to_do(check: str, broken: Callable[[Healthy], Any], says: str):
    """One failure for one fault."""
    healthy = Healthy()
    broken(healthy)
    (failure,) = [finding for finding in found(healthy, check) if finding.verdict == "fail"]
    assert says in failure.what
    assert failure.do


@pytest.mark.parametrize("denied", ["eks.DescribeCluster", "eks.ListNodegroups", "ec2.DescribeInstances", "fsx.DescribeFileSystems"])
def test_what_could_not_be_checked_is_a_failure(denied: str):
    """Never a pass."""
    healthy = Healthy()
    healthy.cloud.wire.denied.add(denied)
    failures = [item.what for name in CHECKS for item in found(healthy, name) if item.verdict == "fail"]
    assert [text.startswith("could not check: AccessDenied") for text in failures] == [True]


def test_a_server_that_refuses_or_talks_nonsense_is_a_failure(monkeypatch: pytest.MonkeyPatch):
    """The proxy answers 503 while etcd has no pod."""
    healthy = Healthy()

    def refuse(path: str) -> Any:
        raise CommandError("503 Service Unavailable")

    monkeypatch.setattr(healthy.cluster, "read", refuse)
    assert found(healthy, "etcd") == [failed("etcd", "could not check: 503 Service Unavailable", "run it again")]
    monkeypatch.setattr(healthy.cluster, "read", lambda path: json.loads("<html>"))
    assert "could not check: the answer makes no sense" in found(healthy, "etcd")[0].what


def of(**changes: Any) -> Healthy:
    """A healthy cluster whose stack file says something else."""
    from stacks.config import parse_settings

    healthy = Healthy()
    healthy.settings = parse_settings(merged(dev_configuration(), **changes), "dev", rehearsal=True)
    return healthy


def test_what_is_off_is_said_and_skipped():
    """A cluster without an add-on is no broken cluster."""
    off = {"enabled": False}
    addons = {"volcano": off, "etcd": off, "neuron": off, "efa": off}
    healthy = of(addons=addons, storage={"lustre": off})
    for check in ("queues", "etcd", "file system", "device plug-ins"):
        assert {finding.verdict for finding in found(healthy, check)} == {"skip"}, check
    assert found(healthy, "devices") == []


def test_a_cluster_scaled_to_nothing_has_no_devices_to_look_at():
    """`trn scale GROUP 0` for the night."""
    healthy = Healthy()
    healthy.cluster.objects[NODES].clear()
    healthy.group["scalingConfig"]["desiredSize"] = 0
    assert [finding.verdict for name in ("devices", "EFA") for finding in found(healthy, name)] == ["skip", "skip"]
    assert {finding.verdict for finding in found(healthy, "nodes ready")} == {"pass"}


@pytest.mark.parametrize(
    ("instance_type", "more", "cores", "efa"),
    [
        ("trn1.32xlarge", {}, 32, 8),
        ("trn1.32xlarge", {"efa": False}, 32, 0),
        ("trn1.2xlarge", {"efa": False}, 2, 0),
        ("trn2.48xlarge", {}, 64, 16),
        ("trn2.48xlarge", {"logicalCoreSize": 1}, 128, 16),
    ],
)
def test_what_is_expected_comes_from_the_hardware_catalogue(instance_type: str, more: dict[str, Any], cores: int, efa: int):
    """And from the group's own settings."""
    from stacks.settings import NodeGroup

    group = NodeGroup.model_validate({"instanceType": instance_type, **more})
    assert (core_count(group), efa_count(group)) == (cores, efa)


def test_findings_are_written_as_junit():
    """For the pipeline that brought the cluster up."""
    findings = [passed("a", "well"), failed("b", 'no <"device">', "fix & go"), skipped("c", "off"), warned("d", "late", "wait")]
    suite = ElementTree.fromstring(junit(findings, "trn status dev"))
    assert suite.attrib == {"name": "trn status dev", "errors": "0", "tests": "4", "failures": "1", "skipped": "1"}
    assert [case.attrib["classname"] for case in suite] == ["a", "b", "c", "d"]
    assert [(part.tag, part.text) for case in suite for part in case] == [
        ("failure", "fix & go"), ("skipped", None), ("system-out", "wait"),
    ]  # fmt: skip


# The commands


@pytest.fixture
def healthy(monkeypatch: pytest.MonkeyPatch, given: Given) -> Healthy:
    """The shipped stack, up."""
    monkeypatch.chdir(ROOT)
    made = Healthy()
    given.api = made.cloud.api
    given.cluster = made.cluster
    return made


def trn(*arguments: str) -> tuple[int, str, str]:
    """Exit code, standard output, standard error."""
    result = CliRunner().invoke(app, arguments)
    return result.exit_code, result.stdout, result.stderr


def test_the_command_ends_with_a_verdict(healthy: Healthy, tmp_path: Path):
    """And a file for a pipeline."""
    files = tmp_path / "new" / "status.xml", tmp_path / "status.json"
    code, out, _ = trn("status", "dev", "--junit", str(files[0]), "--json", str(files[1]))
    assert (code, out.splitlines()[-1]) == (0, "trainium-dev is as it should be")
    assert ElementTree.parse(files[0]).getroot().attrib["failures"] == "0"
    assert json.loads(files[1].read_text())["healthy"] is True
    _not_ready(healthy)
    code, out, _ = trn("status", "dev")
    assert (code, out.splitlines()[-1]) == (1, "trainium-dev is not as it should be")
    code, _, err = trn("status", "dev", "--junit", "/proc/x/y.xml")
    assert (code, "name a file with --junit" in err) == (1, True)


def test_status_only_reads(healthy: Healthy):
    """It may be run beside a training job."""
    trn("status", "dev")
    assert healthy.cluster.log == []
    assert {name.split(".")[1][:4] for name, _ in healthy.cloud.wire.calls} == {"Desc", "List"}


def test_kubeconfig_asks_for_tokens_and_is_the_callers_alone(healthy: Healthy, tmp_path: Path):
    """It holds no secret, and kubectl warns of a file that others can read."""
    code, out, _ = trn("kubeconfig", "dev")
    made = json.loads(out)
    assert (code, made["clusters"][0]["cluster"]) == (0, {"server": "https://example", "certificate-authority-data": "Q0E="})
    assert made["users"][0]["user"]["exec"]["args"][:4] == ["eks", "get-token", "--cluster-name", "trainium-dev"]
    file = tmp_path / "new" / "config"
    file.parent.mkdir()
    file.write_text(json.dumps(made) + " " * 10_000)
    code, out, err = trn("kubeconfig", "dev", "--output", str(file))
    assert (code, out, err) == (0, "", f"export KUBECONFIG={file}\n")
    assert (json.loads(file.read_text()), stat.S_IMODE(file.stat().st_mode)) == (made, 0o600)
    code, out, _ = trn("kubeconfig", "dev", "--json", "-")
    assert (code, json.loads(out)["kubeconfig"]) == (0, made)
    assert trn("kubeconfig", "dev", "--output", "/proc/x/y")[0] == 1


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("clusters:\n- name: theirs\n- name: trainium-dev\ncontexts: []\n", "it holds theirs"),
        ("a: b\n", "something else"),
        ("\t: [", "no kubeconfig"),
    ],
)
def test_a_kubeconfig_of_others_is_not_written_over(healthy: Healthy, tmp_path: Path, text: str, says: str):
    """`--output ~/.kube/config` would lose the ways to all other clusters; its own earlier answer is written anew."""
    file = tmp_path / "config"
    file.write_text(text)
    code, _, err = trn("kubeconfig", "dev", "--output", str(file))
    assert (code, says in err, file.read_text()) == (2, True, text)
    file.unlink()
    assert [trn("kubeconfig", "dev", "--output", str(file))[0] for _ in range(2)] == [0, 0]


@pytest.mark.parametrize("arguments", [("kubeconfig", "dev"), ("status", "dev")])
def test_no_cluster_is_misuse(healthy: Healthy, arguments: tuple[str, ...]):
    """One that is still being made has no endpoint yet."""
    del healthy.control_plane["endpoint"]
    assert trn(*arguments)[0] == 2
    healthy.cloud.of("cluster").clear()
    code, _, err = trn(*arguments)
    assert (code, err.startswith("error: there is no cluster `trainium-dev` in us-west-2")) == (2, True)


def test_a_subject_reads_nodes_once():
    """Six checks look at them."""
    healthy = Healthy()
    subject: Subject = healthy.subject
    assert subject.nodes is subject.nodes


def by_claims() -> Healthy:
    """The shipped stack with its devices by claims, both drivers at work."""
    dra = {"devices": "dra"}
    healthy = of(addons={"neuron": dra, "efa": dra, "neuronMonitor": {"enabled": False}})
    nodes, hardware = healthy.nodes, NEURON_TYPES["trn1.32xlarge"]
    slices = [(neuron_slice(node, hardware, "2.29.0.0"), efa_slice(node, hardware, 8)) for node in nodes]
    healthy.cluster.objects[SLICES] = [item for of_node in slices for item in of_node]
    for namespace, name in (NEURON_DRA_DRIVER, EFA_DRA_DRIVER):
        healthy.cluster.put(DAEMON_SETS, name, namespace, status={"numberReady": len(nodes)})
    return healthy


def test_devices_by_claims_are_looked_for_in_slices():
    """A node whose driver publishes all is well, though it offers no resource of a plug-in; one chip fewer is a fault."""
    healthy = by_claims()
    passing = found(healthy, "devices")
    assert {finding.verdict for finding in passing} == {"pass"}
    assert "deviceclass/neuron.aws.com 16, deviceclass/efa.networking.k8s.aws 8" in passing[0].what
    assert {finding.verdict for finding in found(healthy, "device plug-ins")} == {"pass"}
    healthy.cluster.objects[SLICES][0]["spec"]["devices"].pop()
    (wrong,) = [finding for finding in found(healthy, "devices") if finding.verdict == "fail"]
    assert "deviceclass/neuron.aws.com 15 of 16" in wrong.what


def test_a_dra_driver_that_is_not_there_is_missed_by_its_name():
    """In the namespace that the chart gives it."""
    healthy = by_claims()
    healthy.cluster.objects[DAEMON_SETS] = []
    whats = [finding.what for finding in found(healthy, "device plug-ins")]
    assert whats == ["there is no DaemonSet neuron-dra-driver-kubelet-plugin", "there is no DaemonSet aws-dranet"]


def test_status_by_claims_uses_the_rights_that_are_listed():
    """One right more than by plug-ins."""
    healthy = by_claims()
    healthy.cluster.seen.clear()
    found(healthy, "devices")
    assert ("list", "/apis/resource.k8s.io/v1/resourceslices") in healthy.cluster.seen
    assert WITH_CLAIMS["status"] == {"resourceslices.resource.k8s.io": ("list",)}
