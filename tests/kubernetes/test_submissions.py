"""Submissions of one name at the same moment, and after one that was cut off, on a real API server: one job, whole, or none."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest

from local_kubernetes.api import Api, Object, wait
from local_kubernetes.control_plane import ControlPlane
from tests.kubernetes.client import client_of
from tests.training.sites import EVERYTHING, job
from training.launchers import launcher
from trn.aws.lock import Holder
from trn.cli.errors import CommandError, OwnershipError
from trn.jobs.rendering import path_of, resource_of
from trn.jobs.submit.apply import dry_run, submit
from trn.kubernetes.client import Kubernetes
from trn.kubernetes.lease import LeaseLock

pytestmark = pytest.mark.kubernetes
PEOPLE = 4


def objects(namespace: str, *, word: str = "train.py") -> list[Object]:
    """A job of plain Kubernetes and what is beside it; another word makes another job of the name."""
    on = replace(EVERYTHING, namespace=namespace, gang=False, queues={})
    return launcher("indexed-job").render(job(launcher="indexed-job", command=["python3", word]), on)


def tried(client: Kubernetes, namespace: str, word: str) -> str:
    """Submit it; what was wrong, empty for nothing."""
    try:
        dry_run(objects(namespace, word=word), client)
        submit(objects(namespace, word=word), client, lambda line: None)
    except CommandError as error:
        return str(error.args[0])
    return ""


@pytest.mark.parametrize("words", [["train.py"] * PEOPLE, [f"train-{number}.py" for number in range(PEOPLE)]], ids=["same", "others"])
def test_of_several_at_once_one_is_taken_whole(control_plane: ControlPlane, api: Api, namespace: str, words: list[str]):
    """The others are told, and leave nothing; what is beside the job is its own, and goes with it."""
    with ThreadPoolExecutor(PEOPLE) as pool:
        said = list(pool.map(lambda word: tried(client_of(control_plane), namespace, word), words))
    assert said.count("") == 1, said
    *others, wanted = objects(namespace, word=words[said.index("")])
    made = api.get(wanted).ok()
    worker = made["spec"]["template"]["spec"]["containers"][0]
    assert worker["command"] == wanted["spec"]["template"]["spec"]["containers"][0]["command"]
    for each in others:
        kept = api.get(each).ok()
        assert [owner["uid"] for owner in kept["metadata"]["ownerReferences"]] == [made["metadata"]["uid"]]
        assert kept.get("data") == each.get("data")
    api.delete(wanted)
    wait(lambda: not any(api.exists(each) for each in (*others, wanted)), "all of it is gone")


def test_of_several_who_take_a_name_one_has_it(control_plane: ControlPlane, api: Api, namespace: str):
    """The others are told who; what it gives up is the lock that it took, and no other that has the name by then."""
    locks = [
        LeaseLock(client_of(control_plane), namespace, "bert", Holder(f"user-{number}", "desk", "submit", "", f"t{number}"))
        for number in range(PEOPLE)
    ]

    def taken(lock: LeaseLock) -> str:
        try:
            lock.take(lambda line: None, break_lock=False)
        except OwnershipError as error:
            return str(error.args[0])
        return ""

    with ThreadPoolExecutor(PEOPLE) as pool:
        said = list(pool.map(taken, locks))
    holder = said.index("")
    assert all(f"the job bert is locked by user-{holder} on desk" in each for each in said if each), said
    assert said.count("") == 1
    other = locks[holder - 1]
    other.take(lambda line: None, break_lock=True)
    locks[holder].release()
    other.refuse_lost()
    other.release()
    assert api.items(f"/apis/coordination.k8s.io/v1/namespaces/{namespace}/leases") == []


def test_what_a_killed_submission_left_is_completed_or_named(control_plane: ControlPlane, api: Api, namespace: str):
    """It was killed when its files were there and its job was not. The same job file goes on; another's says what is there."""
    client, (files, *_) = client_of(control_plane), objects(namespace)
    client.make(resource_of(files), namespace, {**files, "data": {**files["data"], "other.py": ""}})
    assert tried(client, namespace, "train.py") == ""
    api.delete(objects(namespace)[-1])
    wait(lambda: not api.exists(files) and not api.exists(objects(namespace)[-1]), "the job and its files are gone")
    client.make(resource_of(files), namespace, {**files, "data": {"entry.py": "another's"}})
    assert "without a job, and says something else" in tried(client, namespace, "train.py")
    assert client.read(path_of(files)) is not None
    assert not api.exists(objects(namespace)[-1])
