"""What a destroy does is no more than what was confirmed, and what it could not see is no nothing."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from addons import volcano
from facts.kubernetes_kinds import Resource
from simulator.aws_endpoint.wire import Refused
from tests.sharing import mostly_long
from tests.trn.change.owned import locks_of, resource, state
from tests.trn.change.test_ownership import CLUSTER, NAMED, YES, World, own_tags
from tests.trn.ending.destroying import reported
from tests.trn.given import Given
from trn.change.ownership import Consent
from trn.change.report import understood
from trn.change.sweep_plan import INSTANCE_TAG
from trn.cli.errors import CommandError, OwnershipError
from trn.kubernetes.client import Forbidden, Object, Unreachable
from trn.kubernetes.kinds import KINDS


@pytest.fixture
def world(given: Given) -> World:
    """The cluster, held by its stack."""
    return World(given)


def destroys(world: World) -> int:
    """How often Pulumi was told to destroy."""
    return [command[1] for command in world.pulumi.ran].count("destroy")


def report_of(world: World, consent: Consent = YES, **choices: Any) -> tuple[SimpleNamespace, BaseException | None]:
    """A destroy, its report, and what ended it."""
    report, ended = reported(world.site(), consent, **choices)
    return SimpleNamespace(**report), ended


# A look that fails in the midst of a drain


def failing(world: World, after: int, error: Callable[[], Exception], *, job_at: int = 0, only: Resource | None = None) -> None:
    """From some list request on the API server fails. `job_at`: the request before which a colleague starts a job."""
    real, asked = world.kubernetes.list, 0

    def listed(resource: Resource, **more: Any) -> list[Object] | None:
        nonlocal asked
        asked += 1
        if asked == job_at:
            world.kubernetes.put(volcano.JOBS, "late")
        if asked > after and only in (None, resource):
            raise error()
        return real(resource, **more)

    world.kubernetes.list = listed  # pyright: ignore[reportAttributeAccessIssue]


ERRORS: dict[str, Callable[[], Exception]] = {
    "no answer": lambda: Unreachable("the API server does not answer"),
    "401": lambda: Unreachable("401 Unauthorized"),
    "403": lambda: Forbidden("403 Forbidden"),
    "500": lambda: CommandError("500 Internal Server Error"),
}


ONE_LOOK = len({kind.resource for kind in KINDS}) + 1
"""List requests of one look."""


def looks_of_a_drain(given: Given) -> int:
    """List requests of a whole destroy."""
    world, asked = World(given), list[Resource]()
    real = world.kubernetes.list
    world.kubernetes.list = lambda resource, **more: asked.append(resource) or real(resource, **more)  # pyright: ignore[reportAttributeAccessIssue]
    assert world.destroy().destroyed
    return len(asked)


@pytest.mark.parametrize("error", ERRORS)
@pytest.mark.parametrize("before", [0, ONE_LOOK])
@pytest.mark.parametrize("every", mostly_long([11, 1]))
def test_a_job_that_was_not_confirmed_survives_an_error_in_the_midst_of_a_drain(given: Given, error: str, before: int, every: int):
    """At any look: Pulumi is not run, and what the last whole look saw is in the report. `before`: requests from the job to the error."""
    whole, seen = looks_of_a_drain(given), 0
    for after in range(ONE_LOOK + before + 1, whole, every):
        world = World(given)
        failing(world, after, ERRORS[error], job_at=after - before)
        report, ended = report_of(world)
        assert destroys(world) == 0, f"after {after} of {whole} list requests"
        assert ended is not None or report.unconfirmed
        assert "late" in [item["metadata"]["name"] for item in world.kubernetes.objects[volcano.JOBS]]
        assert "delete Volcano Job late" not in world.kubernetes.log
        assert not report.destroyed
        seen += "Volcano Job training/late" in report.unconfirmed
    assert seen or not before, "the late job is never in a report"


@pytest.mark.parametrize("only", [None, volcano.JOBS])
def test_a_job_that_was_said_no_to_survives_an_error_that_a_name_was_typed_for(
    world: World, monkeypatch: pytest.MonkeyPatch, only: Resource | None
):
    """It is not seen any more, and not gone: Pulumi waits for a look that shows that it is."""
    monkeypatch.setattr("trn.ending.sweep.change.ROUNDS", 4)
    world.kubernetes.stuck.add("bert")
    failing(world, 3 * ONE_LOOK, ERRORS["403"], job_at=2 * ONE_LOOK + 1, only=only)
    prompted = list[str]()
    consent = Consent(ask=lambda question: False, prompt=lambda why: prompted.append(why) or CLUSTER)
    report, ended = report_of(world, consent)
    assert (ended, len(prompted), destroys(world)) == (None, 1, 0)
    assert "Volcano Job training/late" in report.unconfirmed
    assert report.drainEnded.startswith("which Volcano Jobs there are" if only else "which ")


def test_a_second_destroy_has_nothing_to_do(world: World):
    """It takes no lock, and asks nothing."""
    world.destroy(data=frozenset({"volumes", "snapshots", "backups", "file-systems"}))
    before = len(world.cloud.wire.calls)
    report, ended = report_of(world, Consent(), data=frozenset({"volumes"}))
    assert (ended, report.end, report.destroyed, report.tries) == (None, "nothing", True, 0)
    assert "ec2.CreateLaunchTemplate" not in [name for name, _ in world.cloud.wire.calls[before:]]


def test_a_drain_that_ends_with_its_cluster_goes_on(world: World):
    """EKS was asked, and says that there is none: nothing runs anywhere."""
    real, asked = world.kubernetes.list, list[Resource]()

    def listed(resource: Resource, **more: Any) -> list[Object] | None:
        asked.append(resource)
        if len(asked) > 60:
            world.cloud.of("cluster").clear()
            raise Unreachable("the API server does not answer")
        return real(resource, **more)

    world.kubernetes.list = listed  # pyright: ignore[reportAttributeAccessIssue]
    report, ended = report_of(world)
    assert (ended, report.drained, report.destroyed) == (None, False, True)


# What cannot be seen before the question


@pytest.mark.parametrize("only", [None, volcano.JOBS])
@pytest.mark.parametrize("error", ERRORS)
def test_what_cannot_be_seen_takes_the_clusters_name(given: Given, error: str, only: Resource | None):
    """`--yes` does not cover it; a 403 or an error of one kind is about that kind, the others are drained."""
    if only is not None and error in ("no answer", "401"):
        pytest.skip("such an error is about the caller or the server, not about one kind")
    world = World(given)
    failing(world, 0, ERRORS[error], only=only)
    with pytest.raises(OwnershipError, match=r"--yes alone is not enough: wh.* not known: "):
        world.destroy()
    assert world.is_untouched()
    with pytest.raises(CommandError):
        world.drain(NAMED)
    assert world.is_untouched()
    asked, prompted = list[str](), list[str]()
    report, ended = report_of(world, Consent(confirm=asked.append, prompt=lambda why: prompted.append(why) or CLUSTER), final_backup=False)
    assert (ended, len(prompted), report.destroyed) == (None, 1, True)
    assert ("delete Kubernetes Job prepare" in world.kubernetes.log) is (only is not None)
    assert report.unknown[0].startswith(
        "which Volcano Jobs there are" if only else "what runs in the cluster" if error in ("no answer", "401") else "which "
    )


@pytest.mark.parametrize(("status", "is_drained"), [("UPDATING", True), ("ACTIVE", True), ("FAILED", False), ("DELETING", False)])
def test_a_cluster_that_is_being_changed_is_drained_too(world: World, status: str, is_drained: bool):
    """Its jobs run on while EKS changes it."""
    world.cluster["status"] = status
    real, asked = world.kubernetes.list, list[Resource]()
    world.kubernetes.list = lambda resource, **more: asked.append(resource) or real(resource, **more)  # pyright: ignore[reportAttributeAccessIssue]
    world.destroy()
    assert ("delete Volcano Job bert" in world.kubernetes.log, bool(asked)) == (is_drained, is_drained)


def test_what_eks_does_not_answer_is_no_cluster_that_is_gone(world: World):
    """Only `not found` says that there is none."""
    world.cloud.wire.faults["eks.DescribeCluster"] = [Refused("ServerException", "try again", 500)] * 20
    with pytest.raises(Exception, match="ServerException"):
        world.destroy(NAMED)
    assert world.is_untouched()


# The state


def grow(world: World, which: str = "fs-new") -> None:
    """Another run of Pulumi makes something."""
    export = world.pulumi.export or state(CLUSTER)
    more = [*export["deployment"]["resources"], resource("aws:fsx/lustreFileSystem:LustreFileSystem", which, {})]
    world.pulumi.export = {**export, "deployment": {**export["deployment"], "resources": more}}


def during_the_question(world: World, consent: dict[str, Any]) -> None:
    consent["confirm"] = lambda question: grow(world) if question.startswith("Destroy stack") else None


def during_the_drain(world: World, consent: dict[str, Any]) -> None:
    world.kubernetes.delete = lambda *given, **more: (type(world.kubernetes).delete(world.kubernetes, *given, **more), grow(world))[0]  # pyright: ignore[reportAttributeAccessIssue]


def during_the_first_try(world: World, consent: dict[str, Any]) -> None:
    world.pulumi.on_run = lambda command: (grow(world), (1, "error: DependencyViolation"))[1] if command[1] == "destroy" else (0, "")


def during_the_refresh(world: World, consent: dict[str, Any]) -> None:
    world.pulumi.on_run = lambda command: (1, "error: x") if command[1] == "destroy" else (grow(world), (0, ""))[1]


def made_again(world: World, consent: dict[str, Any]) -> None:
    """The cluster of the state is another one of the same name and id."""
    consent["confirm"] = lambda question: setattr(world.pulumi, "export", state(CLUSTER, created_at="2026-05-05T00:00:00Z"))


def being_made(world: World, consent: dict[str, Any]) -> None:
    """A run was killed while it made something."""
    consent["confirm"] = lambda question: setattr(
        world.pulumi, "export", state(CLUSTER, pending="aws:fsx/lustreFileSystem:LustreFileSystem")
    )


GROWTHS = [during_the_question, during_the_drain, during_the_first_try, during_the_refresh, made_again, being_made]


@pytest.mark.parametrize("growth", GROWTHS, ids=lambda growth: growth.__name__)
@pytest.mark.parametrize("says", ["yes", "no", "agreed"])
def test_a_state_that_has_grown_is_asked_about_again(world: World, growth: Callable[[World, dict[str, Any]], None], says: str):
    """Right before each run of Pulumi and between its tries; with `--yes` it is left alone and reported."""
    asked, consent = list[str](), dict[str, Any]()
    growth(world, consent)
    if says == "yes":
        # What happens during a question happens without one too.
        world.pulumi.ask = _after_the_first(world, consent.pop("confirm", lambda _: None))  # pyright: ignore[reportAttributeAccessIssue]
    report, ended = report_of(world, Consent(yes=says == "yes", ask=lambda question: asked.append(question) or says == "agreed", **consent))
    between = growth in (during_the_first_try, during_the_refresh)
    assert len(asked) >= (says != "yes")
    if says == "agreed":
        assert destroys(world) == (3 if between else 1)
        return
    assert (ended, report.end, report.left[0]["kind"]) == (None, "left", "state")
    assert (destroys(world), report.destroyed) == (int(between), False)
    assert not locks_of(world.cloud)


def _after_the_first(world: World, act: Callable[[str], Any]) -> Callable[[tuple[str, ...]], tuple[int, str]]:
    """Pulumi, with something that happens after its state was shown."""
    real, asked = world.pulumi.ask, 0

    def ask(command: tuple[str, ...]) -> tuple[int, str]:
        nonlocal asked
        answer = real(command)
        if command[1] == "stack":
            asked += 1
            # Read for whose it is, and to be shown.
            if asked == 2:
                act("Destroy stack")
        return answer

    return ask


def test_what_goes_from_the_state_between_two_tries_is_no_growth(world: World):
    """The first try has destroyed half of it."""

    def half(command: tuple[str, ...]) -> tuple[int, str]:
        if destroys(world) == 1 and command[1] == "destroy":
            world.pulumi.export = state(CLUSTER, with_cluster=False)
            return 1, "error: DependencyViolation"
        return world._destroyed(command)

    world.pulumi.on_run = half
    assert world.destroy().destroyed


def test_a_try_that_ends_while_eks_deletes_the_cluster_is_followed_by_another(world: World):
    """The state does not hold it any more: before Pulumi has begun that would be another stack's cluster."""

    def run(command: tuple[str, ...]) -> tuple[int, str]:
        if destroys(world) > 1:
            return world._destroyed(command)
        world.cluster["status"] = "DELETING"
        whole = state(CLUSTER, "eni-1")
        whole["deployment"]["resources"] = [each for each in whole["deployment"]["resources"] if each.get("id", "eni-1") == "eni-1"]
        world.pulumi.export = whole
        return (1, "error: timeout") if command[1] == "destroy" else (0, "")

    world.pulumi.export, world.pulumi.on_run = state(CLUSTER, "eni-1"), run
    report, ended = report_of(world)
    assert (ended, report.end, report.tries) == (None, "done", 2)


def test_three_tries_that_fail_are_the_end(world: World):
    """What a sweep would delete is not waited for: it comes after Pulumi, or not at all."""
    world.cloud.put("vpc", "vpc-old", {"VpcId": "vpc-old", "Tags": own_tags()})
    world.pulumi.on_run = lambda command: (1, "error: DependencyViolation") if command[1] == "destroy" else (0, "")
    pauses = list[float]()
    report, ended = reported(replace(world.site(), pause=pauses.append), YES)
    assert (ended, report["tries"], destroys(world), report["destroyed"]) == (None, 3, 3, False)
    assert [entry["kind"] for entry in report["left"]] == ["VPC", "state"]
    assert "vpc-old" in world.ids()
    assert len(pauses) < 10


# What hangs


def fails_at_first(world: World, *, with_cluster: bool) -> list[set[str]]:
    """The first try fails, with the cluster gone by then or not; what each command of Pulumi finds of the instances and of an old network."""
    found = list[set[str]]()
    world.cloud.put("vpc", "vpc-old", {"VpcId": "vpc-old", "Tags": own_tags()})

    def run(command: tuple[str, ...]) -> tuple[int, str]:
        found.append({*world.cloud.of("instance"), *world.cloud.of("vpc")})
        if len(found) > 1:
            world.cloud.wire.denied.clear()
            return world._destroyed_but_instances(command)
        if with_cluster:
            # What its drain needed may be destroyed already.
            failing(world, 0, ERRORS["401"])
        else:
            for kind in ("cluster", "node group", "access entry", "nat"):
                world.cloud.of(kind).clear()
            world.pulumi.export = state(CLUSTER, with_cluster=False)
        return 1, "error: DependencyViolation"

    world.pulumi.on_run = run
    return found


@pytest.mark.parametrize("with_cluster", [True, False])
def test_what_hangs_on_a_cluster_that_is_gone_is_deleted_before_the_next_try(world: World, with_cluster: bool):
    """An instance in a subnet that Pulumi deletes. While there is a cluster its controllers do it."""
    found, ended = fails_at_first(world, with_cluster=with_cluster), report_of(world)[1]
    assert (ended, world.cloud.of("instance")) == (None, {})
    assert all("vpc-a" in there for there in found), "what the state holds is Pulumi's"
    assert ["i-a" in there for there in found] == ["vpc-old" in there for there in found] == [True, with_cluster, with_cluster]


def test_what_cannot_be_deleted_before_a_try_is_deleted_after_it(world: World):
    """What refuses it may be Pulumi's own; the try waits for it, and not for ever."""
    world.cloud.wire.denied.add("ec2.TerminateInstances")
    found, (report, ended) = fails_at_first(world, with_cluster=False), report_of(world)
    assert (ended, report.end, report.tries, world.cloud.of("instance")) == (None, "done", 2, {})
    assert ["i-a" in there for there in found] == [True, True, True]


def test_a_destroy_that_ends_well_with_something_in_the_state_is_tried_again(world: World):
    """A signal stopped the CLI half-way, and it ended with 0."""
    world.pulumi.on_run = lambda command: world._destroyed(command) if destroys(world) > 1 else (0, "")
    report, ended = report_of(world)
    assert (ended, report.end, report.tries, report.destroyed) == (None, "done", 2, True)


def test_an_interface_that_its_node_left_goes_with_the_node(world: World):
    """It is listed only once the node is gone."""
    entry = {"NetworkInterfaceId": "eni-late", "Status": "available", "Groups": [], "VpcId": "vpc-a", "SubnetId": "subnet-a"}
    tags = own_tags(**{INSTANCE_TAG: "i-a"})
    world.pulumi.on_run = lambda command: (world.cloud.put("interface", "eni-late", {**entry, "TagSet": tags}), world._destroyed(command))[
        1
    ]
    report, ended = report_of(world)
    assert (ended, report.end, "eni-late" in world.ids()) == (None, "done", False)


# A backup that will not be made


def with_file_system(world: World, **made: Any) -> None:
    """The stack's own file system, as the last `pulumi up` left it."""
    export = state(CLUSTER)
    export["deployment"]["resources"].append({**resource("aws:fsx/lustreFileSystem:LustreFileSystem", "fs-1", made), "inputs": made})
    world.pulumi.export = export


@pytest.mark.parametrize("made", [{"skipFinalBackup": True}, {}])
def test_a_backup_that_only_the_stack_file_wants_is_asked_about(world: World, made: dict[str, Any]):
    """Pulumi goes by its state: a question of its own, which neither `--yes` nor a name covers."""
    with_file_system(world, **made)
    for consent in (YES, NAMED):
        with pytest.raises(OwnershipError, match="no backup will be made of fs-1") as raised:
            world.destroy(consent, final_backup=True)
        assert "`pulumi up --stack dev`" in raised.value.hint
    assert world.is_untouched()
    asked = list[str]()
    assert world.destroy(Consent(confirm=asked.append), final_backup=True).destroyed
    assert [question.startswith("no backup will be made of fs-1") for question in asked][:2] == [True, False]


@pytest.mark.parametrize(("wanted", "made"), [(True, {"skipFinalBackup": False}), (False, {"skipFinalBackup": True})])
def test_a_backup_that_both_want_or_none_is_not_asked_about(world: World, wanted: bool, made: dict[str, Any]):
    """File and state say the same."""
    with_file_system(world, **made)
    assert world.destroy(final_backup=wanted).destroyed


def test_a_backup_that_is_not_made_any_more_is_no_longer_what_was_confirmed(world: World):
    """A run of `pulumi up` wrote so into the state while the question stood."""
    with_file_system(world, skipFinalBackup=False)
    world.pulumi.ask = _after_the_first(world, lambda _: with_file_system(world, skipFinalBackup=True))  # pyright: ignore[reportAttributeAccessIssue]
    report, ended = report_of(world, final_backup=True)
    assert (report.end, destroys(world)) == ("stopped", 0)
    assert "no backup will be made of fs-1" in str(ended)
    assert not world.kubernetes.log


# The report


def interrupted() -> BaseException:
    """Ctrl-C."""
    return KeyboardInterrupt()


@pytest.mark.parametrize("where", ["drain", "pulumi", "sweep", "release"])
def test_the_report_is_there_whatever_ends_a_destroy(world: World, where: str):
    """Ctrl-C, an error of AWS in the midst, a lock that cannot be given back."""
    if where == "drain":
        world.kubernetes.refusals["bert"] = [interrupted()]  # pyright: ignore[reportArgumentType]
    elif where == "pulumi":
        world.pulumi.on_run = _raises(interrupted())
    elif where == "sweep":
        world.pulumi.on_run = lambda command: (world.cloud.wire.denied.add("ec2.DescribeVpcs"), world._destroyed(command))[1]
    else:
        world.cloud.wire.denied.add("ec2.DeleteLaunchTemplate")
    report, ended = report_of(world)
    assert report.identity["clusterArn"]
    assert (report.tries, report.drained) == ((0, False) if where == "drain" else (1, True))
    assert report.destroyed is (where in ("sweep", "release"))
    # A lock that cannot be given back is named, and is no error of what was done.
    assert (report.error, bool(report.lock)) == (understood(ended) if ended else "", where == "release")
    assert (ended is None) is (where == "release")


def _raises(error: BaseException) -> Callable[[tuple[str, ...]], tuple[int, str]]:
    def raising(command: tuple[str, ...]) -> tuple[int, str]:
        raise error

    return raising


@pytest.fixture
def json_file(tmp_path: Path) -> Path:
    """Where the report goes."""
    return tmp_path / "report.json"
