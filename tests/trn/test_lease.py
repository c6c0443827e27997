"""The lock of a job's name: made or refused by the API server, given up by its uid, and in nobody's way."""

import pytest

from simulator.kubernetes_endpoint.server import ApiServer
from tests.simulator.account.standing import standing
from trn.aws.lock import Holder
from trn.cli.errors import CommandError, OwnershipError
from trn.ending.drain.plan import plan_drain
from trn.kubernetes.client import Kubernetes, KubernetesClient, Unreachable
from trn.kubernetes.jobs.look import look
from trn.kubernetes.lease import LEASES, LeaseLock
from trn.practice.kubernetes import SimulatedClient

BERTA = Holder("arn:aws:iam::123456789012:user/berta", "berta@desk", "cancel dev bert", "", "of-berta")


@pytest.fixture
def kubernetes() -> Kubernetes:
    """The simulated API server."""
    return KubernetesClient(SimulatedClient(ApiServer(standing()), lambda: None), lambda: "t")


def lock(kubernetes: Kubernetes, of: str = "bert", *, holder: Holder = BERTA) -> LeaseLock:
    """A run's."""
    return LeaseLock(kubernetes, "training", of, holder)


def anton(kubernetes: Kubernetes, of: str = "bert") -> LeaseLock:
    """Another run's."""
    return lock(kubernetes, of, holder=Holder("arn:aws:iam::123456789012:user/anton", "anton@desk", "submit dev job.yaml", "", "of-anton"))


def silent(line: str) -> None:
    """Whoever is told this does not care."""


def names(kubernetes: Kubernetes) -> list[str]:
    """Locks that are there."""
    return [item["metadata"]["name"] for item in kubernetes.list(LEASES, namespace="training") or ()]


def test_two_people_hold_two_jobs_at_once(kubernetes: Kubernetes):
    """And one of them each: the second is told who has it, and since when."""
    first, second = lock(kubernetes), anton(kubernetes, "gpt")
    first.take(silent, break_lock=False)
    second.take(silent, break_lock=False)
    assert sorted(names(kubernetes)) == ["trn-bert", "trn-gpt"]
    with pytest.raises(
        OwnershipError, match=r"the job bert is locked by arn:.*berta on berta@desk, `trn cancel dev bert`, since 2"
    ) as refused:
        anton(kubernetes).take(silent, break_lock=False)
    assert "--break-lock" in refused.value.hint
    first.release()
    assert names(kubernetes) == ["trn-gpt"]


def test_a_lock_that_was_broken_is_not_given_up_by_the_one_who_lost_it(kubernetes: Kubernetes):
    """Its name is another run's by now."""
    first, second, told = lock(kubernetes), anton(kubernetes), list[str]()
    first.take(silent, break_lock=False)
    second.take(told.append, break_lock=True)
    assert told[0].startswith("taking the lock training/trn-bert from arn:aws:iam::123456789012:user/berta")
    with pytest.raises(OwnershipError, match=r"has lost its lock training/trn-bert: arn:.*anton"):
        first.refuse_lost()
    first.release()
    second.refuse_lost()
    second.release()
    assert names(kubernetes) == []
    with pytest.raises(OwnershipError, match="no run holds it"):
        second.refuse_lost()


@pytest.mark.parametrize("is_made", [True, False])
def test_a_lost_answer_is_settled_by_the_token(kubernetes: Kubernetes, monkeypatch: pytest.MonkeyPatch, is_made: bool):
    """The server has made it, or has not: then the error is what it was, and nothing stays."""
    make, first = kubernetes.make, lock(kubernetes)

    def lost(*arguments: object) -> None:
        if is_made:
            make(*arguments)  # pyright: ignore[reportArgumentType]
        raise Unreachable("the API server does not answer")

    monkeypatch.setattr(kubernetes, "make", lost)
    if is_made:
        first.take(silent, break_lock=False)
        first.refuse_lost()
    else:
        with pytest.raises(Unreachable):
            first.take(silent, break_lock=False)
    first.release()
    assert names(kubernetes) == []


def test_a_lock_of_which_nothing_is_known_is_looked_for_at_the_end(kubernetes: Kubernetes, monkeypatch: pytest.MonkeyPatch):
    """The server went away for a moment, after it had made it."""
    make, read, first = kubernetes.make, kubernetes.read, lock(kubernetes)

    def lost(*arguments: object) -> None:
        make(*arguments)  # pyright: ignore[reportArgumentType]
        raise Unreachable("the API server does not answer")

    def away(_: str) -> None:
        raise Unreachable("the API server does not answer")

    monkeypatch.setattr(kubernetes, "make", lost)
    monkeypatch.setattr(kubernetes, "read", away)
    with pytest.raises(Unreachable):
        first.take(silent, break_lock=False)
    monkeypatch.setattr(kubernetes, "read", read)
    first.release()
    assert names(kubernetes) == []


def test_a_lock_that_somebody_wrote_to_is_given_up(kubernetes: Kubernetes):
    """`kubectl annotate` changes its resourceVersion, and not whose it is."""
    first = lock(kubernetes)
    first.take(silent, break_lock=False)
    kubernetes.patch(LEASES, "trn-bert", "training", {"metadata": {"annotations": {"note": "mine"}}})
    first.release()
    assert names(kubernetes) == []


def test_it_is_given_up_by_uid_and_version(kubernetes: Kubernetes, monkeypatch: pytest.MonkeyPatch):
    """Both are sent: another lock of the name differs in one of them at least."""
    asked, delete, first = list[dict[str, object]](), kubernetes.delete, lock(kubernetes)

    def noted(*arguments: object, **more: object) -> None:
        asked.append(more)
        delete(*arguments, **more)  # pyright: ignore[reportArgumentType, reportCallIssue]

    first.take(silent, break_lock=False)
    (own,) = (item["metadata"] for item in kubernetes.list(LEASES) or ())
    monkeypatch.setattr(kubernetes, "delete", noted)
    first.release()
    assert asked == [{"uid": own["uid"], "version": own["resourceVersion"]}]


def test_the_server_deletes_it_only_as_it_was_read(kubernetes: Kubernetes):
    """Between a look and `--break-lock` another run may have taken it."""
    first = lock(kubernetes)
    first.take(silent, break_lock=False)
    with pytest.raises(CommandError, match="409 Conflict"):
        kubernetes.delete(LEASES, "trn-bert", "training", version="1")
    assert names(kubernetes) == ["trn-bert"]


def test_what_a_kill_left_is_no_job_and_nothing_to_drain(kubernetes: Kubernetes):
    """It holds no node."""
    jobs, plan = look(kubernetes, "training").jobs, plan_drain(kubernetes)
    lock(kubernetes).take(silent, break_lock=False)
    assert (look(kubernetes, "training").jobs, plan_drain(kubernetes)) == (jobs, plan)
