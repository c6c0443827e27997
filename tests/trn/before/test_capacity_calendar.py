"""`trn capacity calendar`: what does not fit in time is said before it stops a job."""

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
import yaml
from typer.testing import CliRunner

from addons import volcano
from stacks.config import parse_settings
from tests.support import copy_project, dev_configuration, merged
from tests.trn.aws.regions import Regions
from tests.trn.given import Given
from tests.trn.running.test_scale import NODES, bert, made_cluster
from trn.app import app
from trn.aws.zones import Reservation
from trn.before.capacity.calendar import Calendar, RunningJob, calendar, running_jobs
from trn.before.capacity.timeline import BAR, LABEL, lines, report_of
from trn.kubernetes.jobs.look import look

NOW = datetime(2026, 12, 1, 12, 0, tzinfo=UTC)
FIRST, SECOND = "cr-0123456789abcdef0", "cr-0123456789abcdef1"
GROUP = "trn1-32xl"


def day(number: int) -> datetime:
    """The time at which blocks begin and end, on a day of December."""
    return datetime(2026, 12, number, 11, 30, tzinfo=UTC)


def block(which: str, starts: int, ends: int | None, **changes: Any) -> Reservation:
    """A block of two instances."""
    state = "active" if day(starts) <= NOW else "scheduled"
    given = {
        "id": which, "is_block": True, "instance_type": "trn1.32xlarge", "zone_id": "usw2-az4", "state": state, "total_count": 2,
        "available_count": 2, "starts": day(starts), "ends": None if ends is None else day(ends), **changes,
    }  # fmt: skip
    return Reservation(**given)


def told(*found: Reservation, jobs: tuple[RunningJob, ...] = (), unseen: str = "", times: bool = True, **group: Any) -> Calendar:
    """The calendar of the shipped stack with its group on the first block."""
    on = {"capacityType": "CAPACITY_BLOCK", "capacityReservationId": FIRST, **group}
    first = next((one for one in found if one.id == FIRST), None)
    if times and first is not None and first.starts is not None and first.ends is not None:
        on.setdefault("capacityBlock", {"startsAt": f"{first.starts:%Y-%m-%dT%H:%M:%SZ}", "endsAt": f"{first.ends:%Y-%m-%dT%H:%M:%SZ}"})
    settings = parse_settings(merged(dev_configuration(), nodeGroups={GROUP: on}), "dev", rehearsal=True)
    return calendar(settings, {one.id: one for one in found}, jobs, unseen, NOW)


def said(made: Calendar, check: str) -> list[tuple[str, str]]:
    """Verdicts and texts of one kind of finding."""
    return [(finding.verdict, finding.what) for finding in made.findings if finding.check == check]


def job(limit_h: float | None, name: str = "bert", group: str = GROUP) -> RunningJob:
    """A job that began an hour ago."""
    return RunningJob(name, group, NOW - timedelta(hours=1), True, None if limit_h is None else timedelta(hours=limit_h))


def test_a_job_that_fits_and_one_that_passes_the_end():
    """The end is when nodes are drained, an hour before the block's own by default."""
    ((verdict, what),) = said(told(block(FIRST, 1, 2), jobs=(job(23.5),)), "job")
    assert (verdict, what) == ("pass", "bert ends by 2026-12-02 10:30; cr-0123456789abcdef0 is emptied at 2026-12-02 10:30")
    ((verdict, what),) = said(told(block(FIRST, 1, 2), jobs=(job(23.6),)), "job")
    assert (verdict, "may run until 2026-12-02 10:36" in what) == ("fail", True)
    ((verdict, what),) = said(told(block(FIRST, 1, 2), jobs=(job(None),)), "job")
    assert (verdict, "bert has no time limit" in what) == ("warn", True)
    assert said(told(block(FIRST, 1, 2), jobs=(job(99, group="trn1n-32xl"), job(99, group=""))), "job") == []


def test_gaps_between_blocks_of_a_type():
    """Blocks that meet, or overlap, leave none; a reservation without an end closes none of them."""
    assert said(told(block(FIRST, 1, 3), block(SECOND, 3, 4)), "gap") == []
    assert said(told(block(FIRST, 1, 3), block(SECOND, 2, 4)), "gap") == []
    ((verdict, what),) = said(told(block(FIRST, 1, 3), block(SECOND, 5, 6)), "gap")
    assert (verdict, what) == ("warn", "48 h without trn1.32xlarge, 2026-12-03 11:30 to 2026-12-05 11:30")
    assert said(told(block(FIRST, 1, 3), block(SECOND, 5, 6, instance_type="trn1n.32xlarge")), "gap") == []


def test_a_long_block_leaves_no_gap_behind_a_short_one():
    """Which begins after it and ends before it; and a block of another cluster fills none."""
    third = "cr-0123456789abcdef2"
    assert said(told(block(FIRST, 1, 9), block(SECOND, 2, 3), block(third, 5, 6)), "gap") == []
    ((_, what),) = said(told(block(FIRST, 1, 3), block(SECOND, 2, 6, tags={"trn:cluster": "other"}), block(third, 5, 6)), "gap")
    assert what == "48 h without trn1.32xlarge, 2026-12-03 11:30 to 2026-12-05 11:30"


def test_a_block_of_another_cluster_is_not_offered_to_this_one():
    """It is drawn, and no advice says to name it: its own cluster would lose it."""
    made = told(block(FIRST, 1, 3), block(SECOND, 3, 4, tags={"trn:cluster": "other"}))
    assert said(made, "not in the stack file") == []
    assert any(line.endswith("of cluster other") for line in lines(made))
    assert [each.other_cluster for each in report_of(made, "dev").reservations] == [None, "other"]
    mine = told(block(FIRST, 1, 3), block(SECOND, 3, 4, tags={"trn:cluster": "trainium-dev"}))
    assert len(said(mine, "not in the stack file")) == 1


def test_a_job_on_a_group_that_is_empty_at_night():
    """On Tuesday at noon; the group goes down at 20:00 in Berlin, an hour earlier in UTC."""
    night = {"downAt": "0 20 * * MON-FRI", "upAt": "0 7 * * MON-FRI", "timeZone": "Europe/Berlin"}
    on = {"capacityType": "ON_DEMAND", "capacityReservationId": None, "schedule": night}
    assert said(told(jobs=(job(8),), **on), "job") == []
    ((verdict, what),) = said(told(jobs=(job(8.1),), **on), "job")
    assert (verdict, what) == (
        "warn",
        "bert may run until 2026-12-01 19:06; the schedule of `nodeGroups.trn1-32xl` empties it at 2026-12-01 19:00",
    )
    ((verdict, what),) = said(told(jobs=(job(None),), **on), "job")
    assert (verdict, "bert has no time limit" in what) == ("warn", True)


def test_what_is_paid_for_and_named_nowhere():
    """A block, or a reservation that others pay for as well."""
    made = told(block(FIRST, 1, 3), block(SECOND, 5, None, is_block=False))
    assert said(made, "not in the stack file") == [("warn", f"reservation {SECOND}, 2026-12-05 11:30, without an end")]
    assert [one.paths for one in made.held] == [(f"nodeGroups.{GROUP}",), ()]


@pytest.mark.parametrize(
    ("found", "wrong"),
    [
        ((), f"{FIRST} is not in us-west-2"),
        ((block(FIRST, 1, 3, state="expired"),), f"{FIRST} is expired"),
        ((block(FIRST, 1, 3, state="payment-failed"),), f"{FIRST} is payment-failed"),
    ],
)
def test_an_id_in_the_stack_file_that_gives_no_instances(found: tuple[Reservation, ...], wrong: str):
    """Nor is one that is over drawn."""
    made = told(*found)
    ((verdict, what),) = said(made, "stack file")
    assert (verdict, wrong in what, made.held) == ("fail", True, ())


def test_what_starts_by_itself_and_what_does_not():
    """A group with times goes up at the start; one without fails before it, or stays empty."""
    assert said(told(block(FIRST, 5, 7)), "start") == [("pass", f"`nodeGroups.{GROUP}` goes to 2 nodes at 2026-12-05 11:30")]
    ((verdict, what),) = said(told(block(FIRST, 5, 7), times=False), "start")
    assert (verdict, "wants 2 nodes before" in what) == ("fail", True)
    ((verdict, what),) = said(told(block(FIRST, 5, 7), times=False, size=0), "start")
    assert (verdict, "has size 0" in what) == ("warn", True)
    schedule = {"downAt": "0 20 * * MON-FRI", "upAt": "0 7 * * MON-FRI"}
    made = told(block(FIRST, 1, None, is_block=False), times=False, capacityType="ON_DEMAND", schedule=schedule)
    assert said(made, "schedule") == [("pass", f"`nodeGroups.{GROUP}` goes to 0 at 0 20 * * MON-FRI, to 2 at 0 7 * * MON-FRI, UTC")]


def test_times_that_ec2_has_otherwise():
    """After an extension the stack file's end is the old one: the group would be emptied a day early."""
    times = {"startsAt": "2026-12-01T11:30:00Z", "endsAt": "2026-12-03T11:30:00Z"}
    ((verdict, what),) = said(told(block(FIRST, 1, 4), capacityBlock=times), "times")
    assert (verdict, "EC2 has 2026-12-01 11:30 to 2026-12-04 11:30" in what) == ("fail", True)
    assert said(told(block(FIRST, 1, 3), capacityBlock=times), "times") == []


def test_the_drawing_is_in_time_and_fits_a_terminal():
    """Each bar begins and ends where its times are; a job on nodes that are gone by then is marked."""
    made = told(block(FIRST, 1, 3), block(SECOND, 5, 7), jobs=(job(24 * 5), job(3, "waits", "")))
    drawn = list(lines(made))
    assert max(len(line) for line in drawn) <= 80
    bars = {line[:LABEL].strip(): line[LABEL + 2 :] for line in drawn if set(line[LABEL + 2 :]) & set("=#|")}
    assert [bars[name].count("=") > 5 for name in (FIRST, SECOND)] == [True, True]
    assert bars[SECOND].index("=") > bars[FIRST].rindex("=")
    assert (bars[SECOND].rindex("="), len(bars[SECOND])) == (BAR - 1, BAR)
    assert bars["bert"].index("!") == pytest.approx(bars[FIRST].rindex("="), abs=2)
    assert "!" not in bars["waits"]
    assert bars["now"].index("|") == pytest.approx(bars["bert"].index("#"), abs=1)
    assert list(lines(calendar(parse_settings(dev_configuration(), "dev", rehearsal=True), {}, [], "", NOW))) == [
        "no capacity block, no reservation and no job"
    ]


def test_a_jobs_group_start_and_limit_are_read_from_the_cluster():
    """From its node, its pods' start and the shortest limit in it; one that is over is no concern."""
    pod = bert(status={"phase": "Running", "startTime": "2026-12-01T10:00:00Z"})
    cluster = made_cluster(pod)
    task = {"replicas": 1, "template": {"spec": {"activeDeadlineSeconds": 7200}}}
    cluster.put(volcano.JOBS, "bert", "training", spec={"tasks": [task]}, status={"state": {"phase": "Running"}})
    cluster.put(volcano.JOBS, "waits", "training", spec={"tasks": [{"replicas": 1}]}, status={"state": {"phase": "Pending"}})
    cluster.put(volcano.JOBS, "done", "training", spec={"tasks": [task]}, status={"state": {"phase": "Completed"}})
    found = {entry.name: entry for entry in running_jobs(look(cluster, "training"), NOW)}
    assert found == {
        "bert": RunningJob("bert", GROUP, NOW - timedelta(hours=2), True, timedelta(hours=2)),
        "waits": RunningJob("waits", "", NOW, False, None),
    }


def test_a_job_of_a_pool_and_one_whose_launcher_is_elsewhere():
    """Nodes of a pool have a label of their own; the pod that asks for devices says where a job runs, not one on a core node."""
    asks = {"containers": [{"resources": {"limits": {"aws.amazon.com/neuron": "16"}}}]}
    metadata = {"name": "a-launcher", "namespace": "training", "labels": {"volcano.sh/job-name": "bert"}}
    launcher = {"metadata": metadata, "spec": {"nodeName": "core-1"}, "status": {"phase": "Running"}}
    cluster = made_cluster(launcher, bert(spec={"nodeName": "pool-1", **asks}))
    cluster.put(NODES, "pool-1", metadata={"labels": {"trn/node-pool": "spare"}})
    cluster.put(volcano.JOBS, "bert", "training", spec={"tasks": [{"replicas": 1}]}, status={"state": {"phase": "Running"}})
    (found,) = running_jobs(look(cluster, "training"), NOW)
    assert (found.group, found.pool, found.path) == ("", "spare", "addons.karpenter.neuronPools.spare")


def test_a_job_on_a_pool_is_held_against_the_pools_block():
    """Karpenter drains its nodes 40 minutes before the end."""
    pool = {"instanceType": "trn1.32xlarge", "maxNodes": 2, "capacityType": "CAPACITY_BLOCK", "capacityReservationId": FIRST}
    karpenter = {"enabled": True, "neuronPools": {"spare": pool}}
    settings = parse_settings(merged(dev_configuration(), addons={"karpenter": karpenter}), "dev", rehearsal=True)
    long = RunningJob("bert", "", NOW, True, timedelta(hours=24), "spare")
    made = calendar(settings, {FIRST: block(FIRST, 1, 2)}, [long], "", NOW)
    ((verdict, what),) = said(made, "job")
    assert (verdict, "emptied at 2026-12-02 10:50" in what) == ("fail", True)
    assert [each.pool for each in report_of(made, "dev").jobs] == ["spare"]
    assert [line.strip() for line in lines(made)][-1].startswith("bert")


def test_the_command_reads_the_account_and_says_when_the_jobs_are_not_known(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, given: Given):
    """Before the stack is up there is no cluster; the blocks are shown all the same."""
    copy_project(tmp_path)
    monkeypatch.chdir(tmp_path)
    regions = Regions(NOW)
    given.api = regions.api
    path = tmp_path / "Pulumi.dev.yaml"
    loaded = yaml.safe_load(path.read_text())
    loaded["config"]["trn:nodeGroups"][GROUP] |= {"capacityType": "CAPACITY_BLOCK", "capacityReservationId": FIRST}
    path.write_text(yaml.safe_dump(loaded))
    words = ["capacity", "calendar", "dev", "--json", "-"]
    result = CliRunner().invoke(app, words, catch_exceptions=False)
    data = json.loads(result.stdout)
    assert (result.exit_code, data["findings"][0]["verdict"]) == (1, "fail")
    later = datetime.now(UTC) + timedelta(days=9)
    regions.around("us-west-2").reservations[FIRST] = {
        "CapacityReservationId": FIRST, "InstanceType": "trn1.32xlarge", "AvailabilityZoneId": "usw2-az4", "State": "active",
        "TotalInstanceCount": 2, "AvailableInstanceCount": 2, "ReservationType": "capacity-block", "EndDate": f"{later:%Y-%m-%dT%H:%M:%SZ}",
    }  # fmt: skip
    result = CliRunner().invoke(app, words, catch_exceptions=False)
    data = json.loads(result.stdout)
    assert (result.exit_code, [one["id"] for one in data["reservations"]], data["findings"]) == (0, [FIRST], [])
    assert "there is no cluster `trainium-dev`" in data["jobsUnknown"]
    assert FIRST in CliRunner().invoke(app, ["capacity", "calendar", "dev", "--no-cluster"]).stdout
