"""`trn destroy`: one command that goes on after any failure, and knows when it must not."""

import json
import os
from collections.abc import Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NoReturn
from unittest.mock import patch

import pytest
from typer.testing import CliRunner

from addons import volcano
from tests.support import copy_project
from tests.trn.aws.cloud import Cloud
from tests.trn.aws.leftovers import leave_control_plane, leave_everything
from tests.trn.change.owned import EMPTY, FakePulumi, hold, subject
from tests.trn.given import Given
from tests.trn.kubernetes.fake_kubernetes import FakeCluster, busy
from trn.app import app
from trn.change.identity import StateId
from trn.cli.errors import CommandError
from trn.ending.destroy.change import Destroy
from trn.ending.drain.change import Drain
from trn.ending.sweep.change import Sweep
from trn.engine.pulumi import PulumiCli
from trn.engine.recovery import UNREACHABLE_SWITCH
from trn.kubernetes.client import Unreachable

NO_STATE = StateId("dev", "", "", frozenset())
GONE = "error: configured Kubernetes cluster is unreachable. If the cluster was deleted, you can remove this resource"
POISONED = "error: uninstall: Release not loaded: volcano: release: not found"


class Pulumi:
    """Answers commands one after the other, and keeps them."""

    def __init__(self, *answers: tuple[int, str]) -> None:
        self.answers, self.ran = list(answers), list[tuple[str, dict[str, str]]]()

    def __call__(self, arguments: tuple[str, ...], environment: dict[str, str]) -> tuple[int, str]:
        self.ran.append((arguments[1], environment))
        assert arguments[0] == "pulumi"
        assert arguments[-3:] == ("--yes", "--stack", "dev") or arguments[-2:] == ("--stack", "dev")
        return self.answers.pop(0) if self.answers else (0, "")


def tried(*answers: tuple[int, str], status: str = "") -> tuple[tuple[int, bool], list[str], Pulumi]:
    """Number of tries and success; the subcommands that ran."""
    pulumi, change = Pulumi(*answers), Destroy("dev", Drain("dev"), Sweep("dev"), is_protected=False)
    site: Any = SimpleNamespace(
        pulumi=SimpleNamespace(run=pulumi, ask=lambda _: (0, json.dumps(EMPTY))), api=None, subject=subject("train"), tell=lambda _: None
    )
    with patch("trn.ending.destroy.change.status_of", lambda *_: status):
        while change._run(site, NO_STATE).kind == "held":
            pass
    return (len(change.rounds.tried), change.rounds.is_destroyed), [name for name, _ in pulumi.ran], pulumi


def test_a_destroy_that_works_is_made_once():
    """The usual case."""
    assert tried((0, ""))[:2] == ((1, True), ["destroy"])


def test_between_two_tries_the_state_is_refreshed():
    """A release whose uninstall ran out of time fails every later destroy until a refresh drops it."""
    assert tried((1, POISONED), (0, ""), (0, ""))[:2] == ((2, True), ["destroy", "refresh", "destroy"])


def test_a_cluster_that_is_gone_is_dropped_from_the_state():
    """With the switch on refresh and destroy both: destroy alone does not drop releases."""
    result, names, pulumi = tried((1, GONE), (0, ""), (0, ""))
    assert (result, names) == ((2, True), ["destroy", "refresh", "destroy"])
    assert [environment for _, environment in pulumi.ran] == [{}, {UNREACHABLE_SWITCH: "true"}, {UNREACHABLE_SWITCH: "true"}]


def test_the_switch_stays_on_once_the_cluster_is_known_to_be_gone():
    """The third try fails for another reason, in a cluster that is still gone."""
    result, _, pulumi = tried((1, GONE), (0, ""), (1, "DependencyViolation"), (0, ""), (0, ""))
    assert result == (3, True)
    assert pulumi.ran[-1][1] == {UNREACHABLE_SWITCH: "true"}


@pytest.mark.parametrize("status", ["ACTIVE", "UPDATING", "DELETING"])
def test_a_cluster_that_eks_still_has_is_not_gone(status: str):
    """A closed VPN looks the same, and dropping it from the state would leave all that lives in it behind."""
    with pytest.raises(CommandError, match=rf"EKS still has the cluster \({status}\): nothing in it was dropped") as raised:
        tried((1, GONE), status=status)
    assert "publicAccessCidrs" in raised.value.hint


def test_an_api_server_that_is_only_slow_is_never_dropped():
    """The switch would leave everything in a living cluster behind."""
    _, _, pulumi = tried((1, "timed out waiting for the condition"), (0, ""), (0, ""))
    assert all(environment == {} for _, environment in pulumi.ran)


def test_a_refresh_that_fails_leads_to_the_next_try():
    """It says that the cluster is gone as destroy does."""
    result, names, pulumi = tried((1, "error"), (1, "failed to read resource state due to unreachable cluster"), (0, ""), (0, ""))
    assert (result, names) == ((3, True), ["destroy", "refresh", "refresh", "destroy"])
    assert pulumi.ran[-1][1] == {UNREACHABLE_SWITCH: "true"}


def test_three_tries_are_enough():
    """Then a person must look."""
    assert tried(*[(1, "error: DependencyViolation"), (0, "")] * 5)[0] == (3, False)


@pytest.mark.parametrize(
    ("printed", "says", "code"),
    [
        ("error: the stack is currently locked by 1 lock(s)", "another run holds the lock", 1),
        ("error: [409] Conflict: Another update is currently in progress.", "another run holds the lock", 1),
        ("error: no stack named 'dev' found", "Pulumi knows no stack `dev`", 2),
    ],
)
def test_where_another_try_would_be_wrong_none_is_made(printed: str, says: str, code: int):
    """Two runs at once tear each other's state apart."""
    with pytest.raises(CommandError, match=says) as raised:
        tried((255, printed))
    assert raised.value.code == code
    assert raised.value.hint


def test_pulumi_is_run_with_its_output_passed_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]):
    """What it prints is what a person looks at for ten minutes."""
    script = tmp_path / "pulumi"
    script.write_text('#!/bin/sh\necho "$@ $PULUMI_K8S_DELETE_UNREACHABLE"\nexit 3\n')
    script.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    assert PulumiCli().run(("pulumi", "destroy"), {UNREACHABLE_SWITCH: "true"}) == (3, "destroy true\n")
    assert capsys.readouterr().err == "destroy true\n"
    with pytest.raises(CommandError, match="cannot run `no-such-tool`"):
        PulumiCli().run(("no-such-tool",), {})


# The command


class Account(Cloud):
    """A stack that is up, with what `pulumi destroy` leaves."""

    stack: FakePulumi

    def __init__(self, name: str) -> None:
        super().__init__()
        leave_everything(self, name)
        leave_control_plane(self, name)
        self.of("cluster")[name]["endpoint"] = "https://example"

    def destroyed(self) -> None:
        """What Pulumi deletes."""
        for kind in ("cluster", "node group", "access entry", "nat", "fsx"):
            self.of(kind).clear()


@pytest.fixture
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, given: Given) -> tuple[Account, FakeCluster, Pulumi]:
    """The shipped stack, its account, its cluster, and a Pulumi that obeys."""
    copy_project(tmp_path)
    monkeypatch.chdir(tmp_path)
    account, cluster, pulumi = Account("trainium-dev"), busy(), Pulumi()
    stack = hold(given, "trainium-dev")

    def run(arguments: tuple[str, ...], environment: Mapping[str, str]) -> tuple[int, str]:
        code, printed = pulumi(arguments, dict(environment))
        if code == 0 and arguments[1] == "destroy":
            account.destroyed()
            stack.export = EMPTY
        return code, printed

    monkeypatch.setattr(stack, "run", run)
    account.stack = stack

    given.api, given.cluster = account.api, cluster
    monkeypatch.setattr("time.sleep", lambda _: None)
    return account, cluster, pulumi


def trn(*arguments: str, answer: str = "") -> tuple[int, str, str]:
    """Exit code, standard output, standard error."""
    result = CliRunner().invoke(app, ["destroy", *arguments], input=answer)
    return result.exit_code, result.stdout, result.stderr


def test_it_drains_destroys_and_sweeps(world: Any):
    """In this order, with one report."""
    account, cluster, pulumi = world
    code, out, _ = trn("dev", "--yes", "--data", "backups", "--data", "snapshots", "--json", "destroy.json")
    assert code == 0
    assert cluster.log
    assert [name for name, _ in pulumi.ran] == ["destroy"]
    assert account.of("instance") == account.of("vpc") == {}
    assert [line.split()[0] for line in out.splitlines()] == ["drain", "destroy", "sweep"]
    data = json.loads(Path("destroy.json").read_text())
    assert (data["drained"], data["destroyed"], data["left"]) == (True, True, [])
    assert trn("dev", "--yes")[0] == 0


def test_data_is_not_said_to_go_with_the_cluster(world: Any):
    """The snapshotter's snapshots are tagged as what the cluster looks after, and nothing deletes them with it."""
    account, _, _ = world
    code, out, err = trn("dev", "--yes")
    assert "snapshot snap-csi-a is data: it stays after the destroy, unless --data names it" in err
    assert "goes with the cluster: snapshot" not in err
    assert (code, account.of("snapshot").keys()) == (0, {"snap-csi-a", "snap-hand-a"})
    assert "kept     snapshot snap-csi-a: data: --data snapshots deletes it too" in out


def test_no_means_that_nothing_happens(world: Any):
    """It deletes data."""
    account, cluster, pulumi = world
    before = account.ids()
    code, _, err = trn("dev", answer="n\n")
    assert (code, account.ids() == before, cluster.log, pulumi.ran) == (1, True, [], [])
    assert "after a drain (close 2, delete 6), with its data?" in err
    assert "  delete Volcano Job training/bert" in err


def test_what_appears_in_the_cluster_after_the_question_ends_it_before_anything_is_destroyed(world: Any, monkeypatch: pytest.MonkeyPatch):
    """A job that a colleague has just started would go with the cluster; a second destroy shows it and asks."""
    account, cluster, pulumi = world
    really, before = cluster.delete, account.ids()

    def delete(resource: Any, name: str, namespace: str = "", *, uid: str = "") -> None:
        really(resource, name, namespace, uid=uid)
        if name == "bert":
            cluster.put(volcano.JOBS, "late")

    monkeypatch.setattr(cluster, "delete", delete)
    code, out, _ = trn("dev", "--yes", "--json", "destroy.json")
    assert (code, pulumi.ran, account.ids() == before) == (1, [], True)
    assert "destroy  not begun: 1 objects appeared in the cluster after the question" in out
    assert "new      Volcano Job training/late" in out
    data = json.loads(Path("destroy.json").read_text())
    assert (data["unconfirmed"], data["destroyed"]) == (["Volcano Job training/late"], False)
    code, _, err = trn("dev", "--yes", "--data", "backups")
    assert (code, "  delete Volcano Job training/late" in err) == (0, True)


@pytest.mark.parametrize("error", [Unreachable("the API server does not answer"), CommandError("500 Internal Server Error")])
def test_a_cluster_that_does_not_answer_is_destroyed_when_its_name_is_typed(world: Any, given: Given, error: CommandError):
    """Or answers with errors: it cannot be drained, and nobody knows which jobs run; the sweep finds what its controllers left."""
    account, _, pulumi = world

    def gone() -> NoReturn:
        raise error

    given.cluster = gone
    before = account.ids()
    code, out, err = trn("dev", "--yes", "--json", "destroy.json")
    assert (code, pulumi.ran, account.ids() == before, out) == (1, [], True, "")
    assert f"--yes alone is not enough: what runs in the cluster is not known: {error.args[0]}" in err
    data = json.loads(Path("destroy.json").read_text())
    unknown = [f"what runs in the cluster is not known: {error.args[0]}"]
    assert (data["unknown"], data["destroyed"]) == (unknown, False)
    code, out, _ = trn("dev", answer="trainium-dev\ny\n")
    assert (code, "drain    left out" in out.splitlines()) == (0, True)


def test_without_a_cluster_it_goes_on(world: Any):
    """A second run after a crash between destroy and sweep."""
    account, cluster, _ = world
    account.destroyed()
    code, _, err = trn("dev", "--yes")
    assert (code, cluster.log, "there is no cluster to drain" in err) == (0, [], True)


def test_a_destroy_that_fails_sweeps_nothing_and_may_be_run_again(world: Any):
    """What Pulumi still holds in its state is not left over."""
    account, _, pulumi = world
    pulumi.answers = [(1, "DependencyViolation"), (0, ""), (1, "x"), (0, ""), (1, "x")]
    before = account.ids()
    code, out, _ = trn("dev", "--yes")
    assert (code, account.ids() == before) == (1, True)
    assert "failed after 3 tries" in out
    assert out.splitlines()[-1].startswith("next     trn destroy dev")
    assert trn("dev", "--yes")[0] == 0


def test_what_the_sweep_cannot_delete_is_in_the_report(world: Any):
    """The exit code says so too."""
    account, cluster, _ = world
    account.wire.denied.add("logs.DeleteLogGroup")
    cluster.stuck.add("bert")
    code, out, _ = trn("dev", "--yes")
    assert (code, "1 objects stayed" in out, "left     log group /aws/eks/trainium-dev/cluster: AccessDenied" in out) == (1, True, True)
