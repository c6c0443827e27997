"""`trn data export` and `trn data status`, against a simulated account."""

import json
from typing import Any

import pytest

from facts.names import CLUSTER_TAG, STACK_TAG
from simulator.aws_endpoint.repository_tasks import TASK
from tests.trn.aws.cloud import STACK, tag_list
from tests.trn.given import Given
from tests.trn.jobs.data.linked import BUCKET, FILE_SYSTEM, FOLDER, KEYS, Linked, reached, trn
from tests.trn.kubernetes.healthy_cluster import NAME
from tests.trn.test_kube_rights import resource
from trn.rights import RIGHTS


@pytest.fixture
def linked(monkeypatch: pytest.MonkeyPatch, given: Given) -> Linked:
    """Commands reach it."""
    return reached(monkeypatch, Linked(), given)


def made(linked: Linked) -> list[dict[str, Any]]:
    """Requests for an export."""
    return [given for name, given in linked.cloud.wire.calls if name == "fsx.CreateDataRepositoryTask"]


def test_an_export_is_begun_with_the_clusters_tags(linked: Linked):
    """Of the folder as FSx names it, from the root of the file system."""
    result = trn("export", FOLDER, "--yes", "--json", "-")
    assert result.exit_code == 0, result.output
    (given,) = made(linked)
    assert (given["FileSystemId"], given["Type"], given["Paths"]) == (FILE_SYSTEM, "EXPORT_TO_REPOSITORY", ["data/checkpoints/bert"])
    assert {tag["Key"]: tag["Value"] for tag in given["Tags"]} == {CLUSTER_TAG: NAME, STACK_TAG: STACK}
    said = json.loads(result.stdout)
    assert (said["to"], said["started"], said["task"] in linked.cloud.of(TASK)) == (f"s3://{BUCKET}/{KEYS}", True, True)


def test_a_dry_run_of_an_export_begins_nothing(linked: Linked):
    """It shows where to."""
    result = trn("export", FOLDER, "--dry-run")
    assert (result.exit_code, "nothing was started" in result.stdout, f"to s3://{BUCKET}/{KEYS}" in result.stderr) == (0, True, True)
    assert made(linked) == []


def test_without_consent_nothing_is_exported(linked: Linked):
    """No answer is a no."""
    assert (trn("export", FOLDER).exit_code, made(linked)) == (1, [])


@pytest.mark.parametrize("state", ["PENDING", "EXECUTING"])
def test_a_second_export_waits_for_the_first(linked: Linked, state: str):
    """FSx runs one at a time; many older ones, on other pages of the answer, are no reason."""
    for number in range(2, 7):
        linked.task(number, "SUCCEEDED", number)
    linked.task(7, state, 100)
    result = trn("export", FOLDER, "--yes")
    assert (result.exit_code, f"task-{7:0>17} exports already" in result.stderr, "trn data status" in result.stderr) == (1, True, True)
    assert made(linked) == []


def test_two_that_begin_at_once_end_in_one_export(linked: Linked):
    """FSx's own refusal is one line: between look and request the other began."""
    assert trn("export", FOLDER, "--yes").exit_code == 0
    linked.cloud.wire.handlers["fsx.DescribeDataRepositoryTasks"] = lambda given: {"DataRepositoryTasks": []}
    result = trn("export", FOLDER, "--yes")
    assert (result.exit_code, "DataRepositoryTaskExecuting" in result.stderr, len(linked.cloud.of(TASK))) == (1, True, 1)


@pytest.mark.parametrize("path", ["/fsx/checkpoints", "/fsx/data2/c", "/fsx/data", "/scratch/data/c", "checkpoints", "/fsx/data/../c"])
def test_a_folder_that_is_not_linked_is_misuse(linked: Linked, path: str):
    """It would never be in S3; the hint names where it would."""
    result = trn("export", path, "--yes")
    assert (result.exit_code, "is not linked to S3" in result.stderr, "below /fsx/data" in result.stderr) == (2, True, True)
    assert made(linked) == []


def break_link(linked: Linked) -> None:
    """No association."""
    linked.cloud.of("repository association").clear()


def make_foreign(linked: Linked) -> None:
    """Another stack made it."""
    linked.file_system["Tags"] = tag_list({CLUSTER_TAG: NAME, STACK_TAG: "organization/elsewhere/dev"})


def make_of_another_organization(linked: Linked) -> None:
    """A stack of the same project and name made it, in another organization."""
    linked.file_system["Tags"] = tag_list({CLUSTER_TAG: NAME, STACK_TAG: STACK.replace("organization", "acme")})


def make_two(linked: Linked) -> None:
    """A second one with the cluster's tag."""
    linked.cloud.put("fsx", f"fs-{3:0>17}", linked.file_system | {"FileSystemId": f"fs-{3:0>17}"})


WRONG = {
    "no association": (break_link, "is linked to no S3 prefix"),
    "a file system of another stack": (make_foreign, "another stack made this"),
    "a file system of another organization": (make_of_another_organization, "another stack made this"),
    "no file system": (lambda it: it.cloud.of("fsx").clear(), "has no file system"),
    "two file systems": (make_two, "has 2 file systems"),
    "a cluster of another stack": (
        lambda it: it.control_plane.update(createdAt="2020-01-01T00:00:00Z"),
        "this is not the cluster of stack",
    ),
}


@pytest.mark.parametrize("command", [("export", FOLDER, "--yes"), ("status", "bert")])
@pytest.mark.parametrize("case", WRONG)
def test_what_is_not_the_stacks_own_is_refused_before_anything_is_changed(linked: Linked, case: str, command: tuple[str, ...]):
    """By both commands, with a hint."""
    breaks, says = WRONG[case]
    breaks(linked)
    result = trn(*command)
    assert (result.exit_code, says in result.stderr, "hint: " in result.stderr) == (1, True, True), result.stderr
    assert made(linked) == []


def test_a_file_system_of_a_claim_is_not_the_stacks(linked: Linked):
    """The CSI driver makes them, with the cluster's tag and its own."""
    tags = {CLUSTER_TAG: NAME, "kubernetes.io/created-for/pvc/name": "scratch", "CSIVolumeName": "pvc-1"}
    linked.cloud.put("fsx", f"fs-{3:0>17}", linked.file_system | {"FileSystemId": f"fs-{3:0>17}", "Tags": tag_list(tags)})
    assert trn("export", FOLDER, "--dry-run").exit_code == 0


@pytest.mark.parametrize("command", [("export", FOLDER, "--yes"), ("status", "bert")])
def test_any_one_call_that_is_denied_is_reported(monkeypatch: pytest.MonkeyPatch, given: Given, command: tuple[str, ...]):
    """One after the other: each time exit code 1, and AWS's own word."""
    first = reached(monkeypatch, Linked(), given)
    first.run_job((100, 30, 0))
    first.store(f"{KEYS}/step-{100:09}", 30, 0)
    assert trn(*command).exit_code == 0
    for operation in sorted(first.cloud.wire.count()):
        linked = reached(monkeypatch, Linked(), given)
        linked.run_job((100, 30, 0))
        linked.cloud.wire.denied.add(operation)
        result = trn(*command)
        assert (operation, result.exit_code, "AccessDenied" in result.stderr) == (operation, 1, True)


# status


def test_status_says_since_which_step_a_job_is_safe(linked: Linked):
    """Over the whole way: log, bucket of several pages, tasks."""
    linked.run_job((100, 30, 0), (200, 40, 100))
    for step in (100, 200):
        for number in range(3):
            linked.store(f"{KEYS}/step-{step:09}/{number}", 10, step)
    result = trn("status", "bert")
    assert result.exit_code == 0, result.output
    assert "bert: safe in S3 since step 100, 30 bytes" in result.stdout
    assert "the newest, of step 200, is on the file system alone so far" in result.stdout
    linked.store(f"{KEYS}/step-{200:09}/3", 10, 200)
    said = json.loads(trn("status", "bert", "--json", "-").stdout)
    assert (said["safeStep"], said["newestStep"], said["to"]) == (200, 200, f"s3://{BUCKET}/set")


def test_a_run_again_into_the_same_folder_is_not_safe_by_its_old_bytes(linked: Linked):
    """Until they are exported again."""
    linked.run_job((100, 30, 500))
    linked.store(f"{KEYS}/step-{100:09}", 30, 0)
    assert trn("status", "bert").exit_code == 1
    linked.task(1, "SUCCEEDED", 600)
    result = trn("status", "bert")
    assert (result.exit_code, f"safe in S3 since step 100, exported by task-{1:0>17}" in result.stdout) == (0, True)


@pytest.mark.parametrize("state", ["FAILED", "EXECUTING", "CANCELED"])
def test_an_export_that_has_not_succeeded_makes_nothing_safe(linked: Linked, state: str):
    """It is shown as it is."""
    linked.run_job((100, 30, 0))
    counts = {"TotalCount": 4, "SucceededCount": 1, "FailedCount": 3}
    why = {"FailureDetails": {"Message": "access denied"}} if state == "FAILED" else {}
    linked.task(1, state, 10, more={"Status": counts, **why})
    result = trn("status", "bert")
    assert (result.exit_code, f"{state}, data/checkpoints/bert, 1 of 4 files, 3 failed" in result.stdout) == (1, True)
    assert ("access denied" in result.stdout) == (state == "FAILED")
    assert "no checkpoint is known to be in S3; the newest, of step 100" in result.stdout


def test_an_export_is_followed_to_its_end(linked: Linked):
    """Each look shows it nearer to it."""
    assert trn("export", FOLDER, "--yes").exit_code == 0
    states = [json.loads(trn("status", "--json", "-").stdout)["tasks"][0]["state"] for _ in range(3)]
    assert states == ["PENDING", "EXECUTING", "SUCCEEDED"]


def test_without_a_job_status_shows_the_link_and_its_exports(linked: Linked):
    """The newest five, and what FSx does by itself."""
    for number in range(1, 8):
        linked.task(number, "SUCCEEDED", number)
    result = trn("status")
    assert (result.exit_code, result.stdout.count("SUCCEEDED"), f"task-{7:0>17}" in result.stdout) == (0, 5, True)
    assert "nothing is exported by itself" in result.stdout
    linked.link["S3"] = {"AutoExportPolicy": {"Events": ["NEW", "CHANGED", "DELETED"]}}
    assert "FSx exports what is new or changed by itself" in trn("status").stdout


def test_checkpoints_outside_the_linked_folder_are_named(linked: Linked):
    """They are never exported, whatever is done."""
    linked.run_job((100, 30, 0))
    linked.link["FileSystemPath"] = "/other"
    result = trn("status", "bert")
    assert (result.exit_code, f"{FOLDER}/step-{100:09} is not below /fsx/other: it is never exported" in result.stdout) == (1, True)


def test_a_bucket_that_may_not_be_read_is_an_error_of_one_line(linked: Linked):
    """FSx may do what the caller may not."""
    linked.run_job((100, 30, 0))
    linked.cloud.wire.denied.add("s3.ListObjectsV2")
    result = trn("status", "bert")
    assert (result.exit_code, "AccessDenied" in result.stderr) == (1, True)


def test_status_uses_the_rights_that_are_listed_and_no_others(linked: Linked):
    """It only reads."""
    linked.run_job((100, 30, 0))
    trn("status", "bert")
    assert {(verb, resource(path)) for verb, path in linked.cluster.seen} == {
        (verb, kind) for kind, verbs in RIGHTS["data status"].items() for verb in verbs
    }
