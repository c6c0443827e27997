"""`trn scale`: limits moved no further than they must, EKS's own words where it fails, and the bill from there on."""

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from typer.testing import CliRunner

from addons import volcano
from simulator.account import kinds, view
from simulator.account.allowances import Allowances
from simulator.aws_endpoint.inventory import Delays
from simulator.aws_endpoint.wire import Refused
from tests.simulator.account.standing import group, standing
from tests.support import ROOT, copy_project
from tests.training.sites import SITE
from tests.trn.aws.cloud import Cloud
from tests.trn.change.cases import set_size
from tests.trn.change.owned import stack_of
from tests.trn.change.stage import Stage
from tests.trn.given import Given
from tests.trn.kubernetes.fake_kubernetes import FakeCluster
from trn.app import app
from trn.aws.eks import begin_resize, scaling, sized
from trn.change.occupants import Occupants, occupants
from trn.cli.errors import CommandError
from trn.kubernetes.client import Object
from trn.kubernetes.job_pods import PODS
from trn.kubernetes.kinds import NODES
from trn.running.scale.change import settling

CLUSTER, GROUP = "trainium-dev", "trn1-32xl"


def standing_cloud(changing: int = 2, *, free: int | None = None) -> Cloud:
    """The shipped stack, whose node groups take some looks to change. `free`: instances that EC2 has, all if None."""
    world = standing()
    if free is not None:
        (zone,) = {zone for _, zone in _zones()}
        world.state.allowances = Allowances(capacity={("trn1.32xlarge", zone): free})
    return Cloud(world=world, delays=Delays(changing=changing))


def _zones() -> list[tuple[str, str]]:
    state = standing().state
    return [("trn1.32xlarge", zone) for zone in view.zones_of(state, group())]


def sizes(cloud: Cloud) -> dict[str, int]:
    """The sizes that the account has for the training group."""
    found = cloud.world.state.find(kinds.NODE_GROUP, f"{CLUSTER}:{GROUP}")
    assert found is not None
    return dict(found.registration.inputs["scalingConfig"])


@pytest.mark.parametrize(
    ("count", "expected"),
    [(0, (0, 2, 0)), (1, (1, 2, 1)), (2, (1, 2, 2)), (4, (1, 4, 4))],
)
def test_limits_move_no_further_than_the_count_takes(count: int, expected: tuple[int, int, int]):
    """EKS refuses a size outside its limits."""
    found = sized({"minSize": 1, "maxSize": 2, "desiredSize": 2}, count)
    assert (found["minSize"], found["maxSize"], found["desiredSize"]) == expected
    assert sized({"minSize": 0, "maxSize": 0, "desiredSize": 0}, 0)["maxSize"] == 1


def test_it_waits_for_eks_and_tells_its_words():
    """A group without capacity says so here, not in `kubectl get nodes`."""

    def said(cloud: Cloud, count: int) -> list[tuple[str, ...] | None]:
        update = begin_resize(cloud.api, CLUSTER, GROUP, sized(scaling(cloud.api, CLUSTER, GROUP), count))
        site: Any = SimpleNamespace(api=cloud.api)
        settled = settling(CLUSTER, GROUP, update)
        outcomes = [settled(site) for _ in range(3)]
        return [None if each is None else (each.kind, *each.said) for each in outcomes]

    cloud = standing_cloud()
    assert (said(cloud, 0), sizes(cloud)["desiredSize"]) == ([None, None, ("done",)], 0)
    refused = said(standing_cloud(free=2), 3)[-1]
    assert refused is not None
    assert (refused[0], refused[1].startswith("AsgInstanceLaunchFailures: "), "trn1.32xlarge" in refused[1]) == ("refused", True, True)
    assert said(standing_cloud(changing=1000), 3) == [None, None, None]
    cancelled = standing_cloud()
    cancelled.wire.handlers["eks.DescribeUpdate"] = lambda given: {"update": {"id": given["updateId"], "status": "Cancelled"}}
    assert said(cancelled, 3)[-1] == ("refused", "the update is Cancelled")


def test_what_eks_does_not_end_is_said(cloud: Cloud):
    """After half an hour; the next run looks again."""
    cloud.wire.handlers["eks.DescribeUpdate"] = lambda given: {"update": {"id": given["updateId"], "status": "InProgress"}}
    code, out, _ = trn("dev", GROUP, "3", "--yes")
    assert (code, "EKS is still at it after 30 minutes" in out) == (1, True)


@pytest.fixture
def cloud(monkeypatch: pytest.MonkeyPatch, given: Given) -> Cloud:
    """The shipped stack, behind the command."""
    monkeypatch.chdir(ROOT)
    made = standing_cloud()
    given.api = made.api
    given.cluster = made_cluster
    given.engine = stack_of(CLUSTER, made)
    monkeypatch.setattr("time.sleep", lambda _: None)
    return made


def made_cluster(*pods: Object) -> FakeCluster:
    """Two nodes of the training group and one of another, and pods."""
    cluster = FakeCluster()
    cluster.objects |= {PODS: list(pods), NODES: []}
    for name, of in (("node-1", GROUP), ("node-2", GROUP), ("core-1", "core")):
        cluster.put(NODES, name, metadata={"labels": {"trn/node-group": of}})
    return cluster


def bert(**changes: Any) -> Object:
    """A pod of the Volcano Job `bert` on the first node."""
    metadata = {"name": "bert-worker-0", "namespace": "training", "labels": {"volcano.sh/job-name": "bert"}}
    return {"metadata": metadata, "spec": {"nodeName": "node-1"}, "status": {"phase": "Running"}, **changes}


def plain(name: str, namespace: str, node: str = "node-2", **metadata: Any) -> Object:
    """A pod of no job."""
    return {
        "metadata": {"name": name, "namespace": namespace, "uid": f"uid-{name}", **metadata},
        "spec": {"nodeName": node},
        "status": {"phase": "Running"},
    }


@pytest.fixture
def occupied(cloud: Cloud, given: Given) -> Cloud:
    """The shipped stack with a job and a notebook on its training nodes; other pods are not in the way."""
    daemon = plain("efa-plugin", "kube-system", ownerReferences=[{"kind": "DaemonSet", "name": "efa-plugin"}])
    cluster = made_cluster(bert(), plain("notebook", "people"), daemon, plain("coredns", "kube-system", "core-1"))
    cluster.put(volcano.JOBS, "bert", "training", spec={"tasks": [{"replicas": 1}]}, status={"state": {"phase": "Running"}})
    cluster.put(volcano.JOBS, "waits", "training", spec={"tasks": [{"replicas": 1}]}, status={"state": {"phase": "Pending"}})
    given.cluster = cluster
    return cloud


def trn(*arguments: str, answer: str = "") -> tuple[int, str, str]:
    """Exit code, standard output, standard error."""
    result = CliRunner().invoke(app, ["scale", *arguments], input=answer, catch_exceptions=False)
    return result.exit_code, result.stdout, result.stderr


def test_what_runs_on_the_group_is_shown_and_asked_about(occupied: Cloud):
    """A night's training must not end by a slip. Without an answer nothing is changed."""
    code, _, err = trn("trn1-32xl", "0")
    assert (code, sizes(occupied)["desiredSize"]) == (1, 2)
    assert "jobs on the nodes of trn1-32xl" in err
    assert "bert" in err
    assert "waits" not in err
    assert "other pods there: people/notebook\n" in err
    assert "Go on, and interrupt 1 job and 1 other pod on trn1-32xl in trainium-dev? [y/N]" in err


@pytest.mark.parametrize(("options", "answer"), [(["--yes"], ""), ([], "y\n")])
def test_it_goes_on_where_it_was_agreed(occupied: Cloud, options: list[str], answer: str, tmp_path: Path):
    """And says what was there."""
    code, _, _ = trn("trn1-32xl", "1", *options, "--json", str(tmp_path / "scale.json"), answer=answer)
    assert (code, sizes(occupied)["desiredSize"]) == (0, 1)
    written = json.loads((tmp_path / "scale.json").read_text())
    assert ([job["name"] for job in written["jobs"]], written["pods"]) == (["bert"], ["people/notebook"])


def test_a_larger_group_interrupts_nothing(occupied: Cloud):
    """No question."""
    assert trn("trn1-32xl", "4")[0] == 0
    assert sizes(occupied)["desiredSize"] == 4


def test_pods_that_have_ended_are_not_counted():
    """They hold no node."""
    found = occupants(made_cluster(plain("done", "people") | {"status": {"phase": "Succeeded"}}), GROUP, "training", SITE)
    assert (found, found.counts) == (Occupants(), "")


def test_a_cluster_that_does_not_answer_is_asked_about_too(cloud: Cloud, given: Given):
    """What runs there is not known, which is no reason to end it."""

    def refused() -> FakeCluster:
        raise CommandError("the API server does not answer")

    given.cluster = refused
    code, _, err = trn("trn1-32xl", "0")
    assert (code, sizes(cloud)["desiredSize"]) == (1, 2)
    assert "what runs on trn1-32xl is not known: the API server does not answer" in err
    for options in (["--yes"], ["--yes", "--name", CLUSTER]):
        code, _, err = trn("trn1-32xl", "0", *options)
        assert (code, sizes(cloud)["desiredSize"]) == (1, 2)
        assert "--yes does not cover what could not be seen" in err
    code, _, err = trn("trn1-32xl", "0", answer="trainium\n")
    assert (code, "is not the cluster's name" in err, sizes(cloud)["desiredSize"]) == (2, True, 2)
    assert trn("trn1-32xl", "0", answer=f"{CLUSTER}\n")[0] == 0
    assert sizes(cloud)["desiredSize"] == 0


def test_down_to_zero_lists_what_goes_on_billing(cloud: Cloud, tmp_path: Path):
    """And how to keep it so."""
    code, out, _ = trn("trn1-32xl", "0", "--json", str(tmp_path / "scale.json"))
    assert (code, sizes(cloud)) == (0, {"minSize": 0, "maxSize": 2, "desiredSize": 0})
    assert "the stack costs 0.80 USD an hour now, 2.01 at full size" in out
    assert "0.100  control-plane-eksCluster, EKS control plane" in out
    assert "trn1.32xlarge" not in out
    assert "pulumi config set --stack dev --path 'trn:nodeGroups.trn1-32xl.size' 0" in out
    assert json.loads((tmp_path / "scale.json").read_text())["sizes"]["desiredSize"] == 0


def test_a_group_with_a_schedule_keeps_its_size_until_that_fires(cloud: Cloud, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """`pulumi up` leaves it alone, and the stack file needs no change."""
    copy_project(tmp_path)
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "Pulumi.dev.yaml"
    times = '{downAt: "0 20 * * *", upAt: "0 7 * * *"}'
    path.write_text(path.read_text().replace("      size: 2\n", f"      size: 2\n      schedule: {times}\n", 1))
    code, out, _ = trn("trn1-32xl", "0", "--stack", "dev")
    assert (code, sizes(cloud)["desiredSize"]) == (0, 0)
    assert "it stays so until a schedule of trn1-32xl sets another size" in out
    assert "sets it back" not in out


def test_a_group_that_has_its_size_is_left_alone(cloud: Cloud):
    """No update, and nothing that a next `pulumi up` would set back."""
    code, out, _ = trn("trn1-32xl", "2", "--stack", "dev")
    assert (code, "sets it back" in out) == (0, False)
    assert cloud.wire.count()["eks.UpdateNodegroupConfig"] == 0


def test_more_than_the_stack_file_allows_is_priced_too(cloud: Cloud):
    """The file's own limit is no limit of EKS."""
    assert "the stack costs 86.84 USD" in trn("trn1-32xl", "4")[1]


def test_slips_and_failures_have_their_exit_codes(cloud: Cloud):
    """2 for a group or cluster that is not there, 1 for what EKS could not do."""
    code, _, err = trn("trn9", "0")
    assert (code, "its groups: trn1-32xl, trn1n-32xl" in err) == (2, True)
    cloud.wire.faults["eks.DescribeNodegroup"] = [Refused("ResourceNotFoundException", "No cluster found for name: trainium-dev.", 404)]
    code, _, err = trn("trn1-32xl", "1")
    assert (code, "No cluster found" in err) == (2, True)
    cloud.world.state.allowances = Allowances(vcpu_quotas={"Trn": 256})
    code, out, _ = trn("trn1-32xl", "4")
    assert (code, "EKS says AsgInstanceLaunchFailures: " in out, sizes(cloud)["desiredSize"]) == (1, True, 2)


def test_a_group_that_eks_is_changing_is_refused_before_anything_is_asked(occupied: Cloud):
    """EKS would refuse it after the question."""
    handler = occupied.wire.handlers["eks.DescribeNodegroup"]
    occupied.wire.handlers["eks.DescribeNodegroup"] = lambda given: {"nodegroup": {**handler(given)["nodegroup"], "status": "UPDATING"}}
    code, _, err = trn("trn1-32xl", "0")
    assert (code, "its status is UPDATING" in err, "Go on" in err) == (1, True, False)


def test_a_size_that_is_set_right_before_the_call_is_left_alone(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    """EKS takes no condition with a change, so the group is read once more. The call carries the token of its run."""
    monkeypatch.chdir(ROOT)
    whole = Stage(("y",))
    assert whole.trn("scale", "dev", GROUP, "0", folder=tmp_path).code == 0
    ((number, call),) = whole.changes
    assert (whole.calls[number - 2].name, "-" in call.given["clientRequestToken"]) == ("eks.DescribeNodegroup", False)
    stage = Stage(("y",))
    stage.before(number - 1, lambda: set_size(stage, 1))
    ended = stage.trn("scale", "dev", GROUP, "0", folder=tmp_path)
    assert (ended.code, stage.changes) == (1, [])
    assert "trn1-32xl was left alone: trn1-32xl is not as it was a moment ago" in ended.out
    assert ended.report is not None
    assert [entry["outcome"] for entry in ended.report["left"]] == ["moved"]
