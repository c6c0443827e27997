"""The lock of a cluster: taken at once or not at all, given up by its id, and never in the way of what the command has to say."""

import json
import re
from dataclasses import asdict
from typing import Any

import pytest
from botocore.exceptions import ReadTimeoutError

from facts.names import LOCK_TAG, launch_template_name, lock_name, lock_parameter, part_lock_name
from simulator.aws_endpoint.inventory import Delays
from simulator.aws_endpoint.wire import Refused
from tests.trn.aws.cloud import ACCOUNT, CREATED_AT, Cloud
from tests.trn.aws.locked import locked
from tests.trn.change.owned import locks_of, put_lock
from trn.aws import lock as lock_module
from trn.aws import locks
from trn.aws.lock import Holder, Lock, this_run
from trn.cli.errors import OwnershipError

CLUSTER = "train"
OTHER = Holder("arn:aws:iam::123456789012:user/berta", "berta@desk", "drain dev", CREATED_AT, "other")
NO_ANSWER = ReadTimeoutError(endpoint_url="https://ec2")
CREATE, DESCRIBE, DELETE = "ec2.CreateLaunchTemplate", "ec2.DescribeLaunchTemplates", "ec2.DeleteLaunchTemplate"


@pytest.fixture
def cloud(monkeypatch: pytest.MonkeyPatch) -> Cloud:
    """An empty account, in which nobody waits for a list that lags."""
    monkeypatch.setattr(lock_module, "PAUSE_S", 0)
    return Cloud()


def mine() -> Holder:
    """This run."""
    return this_run("arn:aws:iam::123456789012:user/anton", "sweep dev")


def answered_late(cloud: Cloud, operation: str, error: Exception, *, times: int = 1) -> None:
    """The call does its work, and its answer is lost; so often."""
    act, lost = cloud.wire.handlers[operation], [error] * times

    def handler(given: dict[str, Any]) -> dict[str, Any]:
        answer = act(given)
        if lost:
            raise lost.pop()
        return answer

    cloud.wire.handlers[operation] = handler


def test_it_launches_nothing_and_says_who_holds_it(cloud: Cloud):
    """EC2 itself notes who made it and when; the rest is in tags, none of which makes it the cluster's own."""
    holder = mine()
    with locked(cloud.api, CLUSTER, holder):
        (entry,) = (cloud.of("template")[which] for which in locks_of(cloud))
        (given,) = (given for name, given in cloud.wire.calls if name == CREATE)
    assert (entry["LaunchTemplateName"], given["LaunchTemplateData"]) == ("trn/lock/train", {"MetadataOptions": {"HttpTokens": "required"}})
    assert given["ClientToken"]
    assert {tag["Key"]: tag["Value"] for tag in entry["Tags"]} == {LOCK_TAG: CLUSTER, **holder.tags}
    assert locks_of(cloud) == set()


def test_its_name_is_no_groups_and_fits():
    """EC2's own form: 128 characters, of which a cluster's name has 100 at most; a slash is none of them in a cluster or a group."""
    shape: Any = Cloud().wire.session().client("ec2", "us-west-2").meta.service_model.shape_for("LaunchTemplateName")
    longest = lock_name("c" * 100)
    assert len(longest) <= shape.metadata["max"]
    assert set("/-_") <= set(shape.metadata["pattern"])
    assert lock_name("train").count("/") > launch_template_name("trn", "lock").count("/")


def test_a_lock_of_a_part_is_nobody_elses_and_fits(cloud: Cloud):
    """Of one image; its cluster, and other images, stay free. It is made and deleted by the same operators."""
    shape: Any = Cloud().wire.session().client("ec2", "us-west-2").meta.service_model.shape_for("LaunchTemplateName")
    parts = ["train/training:1.0", "train/training:1.1", f"{'a' * 200}:1", f"{'a' * 200}:2"]
    names = [part_lock_name("image", part) for part in parts]
    assert len({lock_name(CLUSTER), lock_name("image"), *names}) == 6
    for name in names:
        assert re.fullmatch(shape.metadata["pattern"], name)
        assert len(name) <= shape.metadata["max"]
    assert names[0] == "trn/lock/image/train/training/1.0"
    held = [Lock(cloud.api, CLUSTER, mine(), part=("image", part)) for part in parts]
    with locked(cloud.api, CLUSTER, mine()):
        for lock in held:
            lock.take(lambda line: None, break_lock=False)
            lock.refuse_lost()
        with pytest.raises(OwnershipError, match=r"the image train/training:1\.0 is locked by"):
            Lock(cloud.api, CLUSTER, mine(), part=("image", parts[0])).take(lambda line: None, break_lock=False)
        tags = [{tag["Key"]: tag["Value"] for tag in cloud.of("template")[lock.id]["Tags"]}[LOCK_TAG] for lock in held]
        assert tags == [CLUSTER] * 4
    for lock in held:
        lock.release()
    assert locks_of(cloud) == set()


def test_a_long_name_of_a_computer_is_cut(cloud: Cloud):
    """A tag's value has 256 characters."""
    assert locks.create(cloud.api, lock_name(CLUSTER), CLUSTER, {"trn:lock-where": "x" * 300})
    kept = locks.read(cloud.api, lock_name(CLUSTER))
    assert kept is not None
    assert len(kept.tags["trn:lock-where"]) == 256


def test_of_two_runs_one_gets_it(cloud: Cloud):
    """The other is told who has it and since when, and leaves it there."""
    with locked(cloud.api, CLUSTER, mine()) as first:
        with pytest.raises(OwnershipError, match=rf"assumed-role/deployer/practice on .*@.*, `trn sweep dev`, since {CREATED_AT}"):  # noqa: SIM117
            with locked(cloud.api, CLUSTER, mine()):
                raise AssertionError
        first.refuse_lost()
    with locked(cloud.api, CLUSTER, mine()), locked(cloud.api, "another", mine()):
        pass


def test_a_lock_that_was_broken_ends_the_run_that_lost_it(cloud: Cloud):
    """And what that run gives up is not the lock of the run that broke it."""
    with locked(cloud.api, CLUSTER, mine()) as lost:  # noqa: SIM117
        with locked(cloud.api, CLUSTER, mine(), break_lock=True) as theirs:
            with pytest.raises(OwnershipError, match=r"has lost its lock .*practice on .* holds it"):
                lost.refuse_lost()
            lost.release()
            theirs.refuse_lost()
    with locked(cloud.api, CLUSTER, mine()) as gone:
        locks.delete(cloud.api, gone.id)
        with pytest.raises(OwnershipError, match="no run holds it"):
            gone.refuse_lost()


def test_giving_it_up_reads_nothing(cloud: Cloud):
    """Between a look and a deletion another run may take it: the id alone decides."""
    with locked(cloud.api, CLUSTER, mine()):
        cloud.wire.calls.clear()
    assert [name for name, _ in cloud.wire.calls] == [DELETE]


def test_break_lock_deletes_the_lock_that_was_shown_and_no_other(cloud: Cloud):
    """A third run took it in between: its lock stays, and the breaker is refused."""
    put_lock(cloud, CLUSTER, OTHER)
    third, told = Holder("third", "c@host", "scale dev", CREATED_AT, "third"), list[str]()

    def tell(line: str) -> None:
        told.append(line)
        cloud.of("template").pop("lt-other", None)
        put_lock(cloud, CLUSTER, third)

    with pytest.raises(OwnershipError, match="another run took the lock trn/lock/train first"):  # noqa: SIM117
        with locked(cloud.api, CLUSTER, mine(), tell, break_lock=True):
            raise AssertionError
    assert told == [f"taking the lock trn/lock/train from {OTHER}"]
    assert locks_of(cloud) == {"lt-third"}


def test_break_lock_takes_the_lock_of_a_run_that_died(cloud: Cloud):
    """And none where none is shown: what cannot be shown is not deleted."""
    put_lock(cloud, CLUSTER, OTHER)
    with locked(cloud.api, CLUSTER, mine(), break_lock=True) as taken:
        assert locks_of(cloud) == {taken.id}
    put_lock(cloud, CLUSTER, OTHER)
    cloud.wire.handlers[DESCRIBE] = lambda given: {"LaunchTemplates": []}
    with pytest.raises(OwnershipError, match="a run that has just begun or ended"), locked(cloud.api, CLUSTER, mine(), break_lock=True):
        raise AssertionError
    assert locks_of(cloud) == {"lt-other"}


@pytest.mark.parametrize("error", [NO_ANSWER, Refused("InternalError", "An internal error has occurred", 500)])
def test_a_lost_answer_is_settled_by_the_token(cloud: Cloud, error: Exception):
    """The lock is there and is this run's."""
    answered_late(cloud, CREATE, error)
    with locked(cloud.api, CLUSTER, mine()) as taken:
        assert locks_of(cloud) == {taken.id}
        taken.refuse_lost()
    assert locks_of(cloud) == set()


def test_a_lost_answer_is_not_settled_by_anothers_token(cloud: Cloud):
    """Nothing is done without the lock, and the other run keeps its own."""
    put_lock(cloud, CLUSTER, OTHER)
    cloud.wire.faults[CREATE] = [NO_ANSWER]
    with pytest.raises(ReadTimeoutError), locked(cloud.api, CLUSTER, mine()):
        raise AssertionError
    assert locks_of(cloud) == {"lt-other"}


def test_a_lost_answer_that_cannot_be_settled_is_the_error_and_leaves_no_lock(cloud: Cloud):
    """The list gives no answer either; at the end it does, and the lock that this run has made goes."""
    answered_late(cloud, CREATE, NO_ANSWER)
    cloud.wire.faults[DESCRIBE] = [Refused("UnauthorizedOperation", "no", 403)]
    with pytest.raises(ReadTimeoutError), locked(cloud.api, CLUSTER, mine()):
        raise AssertionError
    assert locks_of(cloud) == set()


def test_ctrl_c_while_the_answer_is_awaited_leaves_no_lock(cloud: Cloud):
    """What was made is known by its token."""
    act = cloud.wire.handlers[CREATE]

    def interrupted(given: dict[str, Any]) -> dict[str, Any]:
        act(given)
        raise KeyboardInterrupt

    cloud.wire.handlers[CREATE] = interrupted
    with pytest.raises(KeyboardInterrupt), locked(cloud.api, CLUSTER, mine()):
        raise AssertionError
    assert locks_of(cloud) == set()


def test_a_request_that_boto3_sends_twice_makes_one_lock(cloud: Cloud):
    """Its token is the same: EC2 answers with what the first has made, and not that the name is in use."""
    answers = list[dict[str, Any]]()
    act = cloud.wire.handlers[CREATE]
    cloud.wire.handlers[CREATE] = lambda given: answers.extend([act(given), act(given)]) or answers[-1]
    with locked(cloud.api, CLUSTER, mine()) as taken:
        assert [answer["LaunchTemplate"]["LaunchTemplateId"] for answer in answers] == [taken.id] * 2


def test_a_list_that_lags_is_not_a_lock_that_is_lost(monkeypatch: pytest.MonkeyPatch):
    """EC2 may show for some seconds what was before."""
    monkeypatch.setattr(lock_module, "PAUSE_S", 0)
    cloud = Cloud(delays=Delays(unseen=3))
    with locked(cloud.api, CLUSTER, mine()) as taken:
        taken.refuse_lost()


def test_a_run_of_0_1_0_is_at_the_cluster(cloud: Cloud):
    """It sees no lock of later releases, and its own cannot be deleted by anything but its name: a person does that."""
    held = {"Name": lock_parameter(CLUSTER), "Value": json.dumps(asdict(OTHER)), "Type": "String"}
    cloud.put("parameter", lock_parameter(CLUSTER), held)
    for is_broken in (False, True):
        with pytest.raises(OwnershipError, match=r"locked by trn 0\.1\.0: .*user/berta on berta@desk, `trn drain dev`") as raised:  # noqa: SIM117
            with locked(cloud.api, CLUSTER, mine(), break_lock=is_broken):
                raise AssertionError
        assert "aws ssm delete-parameter --region us-west-2 --name /trn/lock/train" in raised.value.hint
        assert (locks_of(cloud), list(cloud.of("parameter"))) == (set(), [lock_parameter(CLUSTER)])
    cloud.of("parameter")[lock_parameter(CLUSTER)]["Value"] = "what nobody wrote"
    with pytest.raises(OwnershipError, match=r"trn 0\.1\.0: what nobody wrote"):
        Lock(cloud.api, CLUSTER, mine()).take(lambda line: None, break_lock=False)


def test_an_older_lock_that_cannot_be_read_is_not_none(cloud: Cloud):
    """An error is no answer."""
    cloud.wire.denied.add("ssm.GetParameter")
    with pytest.raises(Exception, match="AccessDenied"), locked(cloud.api, CLUSTER, mine()):
        raise AssertionError
    assert locks_of(cloud) == set()


def test_a_template_of_the_name_that_no_command_made_is_a_lock(cloud: Cloud):
    """By hand, to keep others from the cluster for a day."""
    cloud.put("template", "lt-hand", {
        "LaunchTemplateId": "lt-hand", "LaunchTemplateName": lock_name(CLUSTER), "CreateTime": CREATED_AT, "CreatedBy": f"arn:aws:iam::{ACCOUNT}:root",
    })  # fmt: skip
    with pytest.raises(OwnershipError, match=rf"{ACCOUNT}:root on an unknown host"):
        Lock(cloud.api, CLUSTER, mine()).take(lambda line: None, break_lock=False)
