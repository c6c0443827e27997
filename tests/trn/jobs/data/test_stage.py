"""`trn data stage`, against a simulated account and a cluster in memory whose pod is the real script."""

import base64
import contextlib
import gzip
import hashlib
import io
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from typer.testing import CliRunner

from facts.kubernetes_kinds import Resource
from simulator.aws_endpoint.wire import Refused
from tests.documents import checked
from tests.support import ROOT
from tests.training.file_server import Server, serving
from tests.trn.given import Given
from tests.trn.jobs.data.linked import BUCKET, NAME, Linked, reached, trn
from tests.trn.test_kube_rights import resource
from training.staging import stage
from trn.app import app
from trn.cli.errors import CommandError
from trn.jobs.data.source import SourceFile, files_of, packed
from trn.jobs.data.staging import STAGE_LABEL, name_of, parsed
from trn.kubernetes.job_pods import PODS
from trn.rights import RIGHTS

INTO = "/fsx/data/tokens"
JOBS = Resource("Job", "/apis/batch/v1", "jobs")


def of_kind(linked: Linked, kind: str) -> list[dict[str, Any]]:
    """What the command has made of a kind."""
    return [body for body in linked.cluster.served.values() if body.get("kind") == kind]


def listed(linked: Linked) -> list[dict[str, Any]]:
    """The list that the pod reads."""
    (secret,) = of_kind(linked, "Secret")
    return json.loads(gzip.decompress(base64.b64decode(secret["data"]["list.json.gz"])))


class Pod:
    """The Job's pod: at each pause of the command it goes on; its folder is one of this machine."""

    def __init__(self, linked: Linked, folder: Path) -> None:
        self.linked, self.folder, self.ends = linked, folder, True
        linked.cluster.objects[JOBS] = []

    def __call__(self) -> None:
        """Run what is there."""
        cluster = self.linked.cluster
        for job in of_kind(self.linked, "Job"):
            name = job["metadata"]["name"]
            if self.ends and not job.get("status"):
                said = io.StringIO()
                with contextlib.redirect_stdout(said):
                    code = stage.run(listed(self.linked), self.folder, 1)
                job["status"] = {"failed" if code else "succeeded": 1}
                labels = {"batch.kubernetes.io/job-name": name}
                cluster.objects[PODS] = []
                cluster.put(PODS, f"{name}-x", metadata={"labels": labels}, status={"phase": "Failed" if code else "Succeeded"})
                cluster.texts[f"/api/v1/namespaces/training/pods/{name}-x/log?container=work"] = said.getvalue()


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    """One file of 5,000 bytes."""
    monkeypatch.setattr(stage, "WAIT_S", 0)
    with serving() as found:
        found.files = {"tokens.npy": b"t" * 5000}
        yield found


@pytest.fixture
def linked(monkeypatch: pytest.MonkeyPatch, given: Given) -> Linked:
    """Commands reach it."""
    return reached(monkeypatch, Linked(), given)


@pytest.fixture
def pod(linked: Linked, given: Given, tmp_path: Path) -> Pod:
    """It runs when the command waits."""
    made = Pod(linked, tmp_path / "fsx")
    given.on_pause = lambda _: made()
    return made


def from_server(server: Server, *more: str) -> Any:
    """Stage the file."""
    return trn("stage", f"{server.address}/tokens.npy", INTO, "--yes", *more)


def sums(tmp_path: Path, *lines: str) -> tuple[str, str]:
    """A file as sha256sum writes it."""
    path = tmp_path / "sums"
    path.write_text("\n".join(lines))
    return "--sha256", str(path)


def changes(linked: Linked) -> list[str]:
    """What was changed in the cluster."""
    return [line for line in linked.cluster.log if line.startswith(("make", "apply", "delete"))]


def test_a_file_is_staged_and_verified(linked: Linked, pod: Pod, server: Server, tmp_path: Path):
    """The whole way: list, Secret, Job, script, log, answer."""
    digest = hashlib.sha256(server.files["tokens.npy"]).hexdigest()
    result = from_server(server, *sums(tmp_path, f"{digest.upper()} *tokens.npy"), "--json", "-")
    assert result.exit_code == 0, result.output
    said = checked(result.stdout)
    assert said["schema"] == "trn-data-stage"
    assert (said["files"], said["staged"], said["verified"], said["failed"]) == (1, 1, {"sha256": 1}, {})
    assert (pod.folder / "tokens.npy").read_bytes() == server.files["tokens.npy"]


def test_a_second_run_keeps_what_is_there(linked: Linked, pod: Pod, server: Server):
    """It deletes the ended Job and reads nothing again."""
    assert from_server(server).exit_code == 0
    asked = len(server.asked)
    result = from_server(server)
    assert (result.exit_code, f"1 of 1 files are in {INTO}: 1 there already" in result.stdout, len(server.asked)) == (0, True, asked), (
        result.output
    )


def test_another_file_of_the_name_is_replaced_only_where_it_is_named(linked: Linked, pod: Pod, server: Server):
    """The pod refuses it; the command says which, and ends with 1."""
    pod.folder.mkdir()
    (pod.folder / "tokens.npy").write_bytes(b"results")
    result = from_server(server)
    assert (result.exit_code, "tokens.npy: another file of this name is there" in result.stderr) == (1, True), result.output
    assert (pod.folder / "tokens.npy").read_bytes() == b"results"
    assert from_server(server, "--replace", "tokens.npy").exit_code == 0
    assert (pod.folder / "tokens.npy").read_bytes() == server.files["tokens.npy"]


def test_what_is_replaced_is_in_the_question_and_a_slip_in_its_name_is_misuse(linked: Linked, pod: Pod, server: Server):
    """A yes is to what is shown."""
    result = trn("stage", f"{server.address}/tokens.npy", INTO, "--replace", "tokens.npy")
    assert (result.exit_code, "over what has the name of tokens.npy there?" in result.stderr, changes(linked)) == (1, True, [])
    result = from_server(server, "--replace", "token.npy")
    assert (result.exit_code, "--replace names `token.npy`" in result.stderr, changes(linked)) == (2, True, [])


def test_a_run_that_broke_off_goes_on_where_it_was(linked: Linked, pod: Pod, server: Server):
    """After the pod has failed, from the byte where it was."""
    server.breaks = {"tokens.npy": [1000] + [0] * (stage.TRIES - 1)}
    result = from_server(server)
    assert (result.exit_code, f"no file is in {INTO}" in result.stdout) == (1, True)
    assert "tokens.npy: it broke off after 1000 bytes" in result.stderr
    server.asked.clear()
    assert from_server(server).exit_code == 0
    assert server.asked[0] == ("tokens.npy", "bytes=1000-")
    assert (pod.folder / "tokens.npy").read_bytes() == server.files["tokens.npy"]


def test_a_wrong_sum_is_a_failure_and_leaves_no_file(linked: Linked, pod: Pod, server: Server, tmp_path: Path):
    """With both sums; the file never has its name."""
    result = from_server(server, *sums(tmp_path, f"{'0' * 64}  tokens.npy"))
    assert (result.exit_code, f"not {'0' * 64}" in result.stderr) == (1, True)
    assert not (pod.folder / "tokens.npy").exists()


def test_addresses_that_have_ended_are_said(linked: Linked, pod: Pod, server: Server):
    """And what to do."""
    server.status = {"tokens.npy": 403}
    result = from_server(server)
    assert (result.exit_code, "the addresses have ended: run it again, what is there is kept" in result.stdout) == (1, True)


def test_two_sets_of_one_folder_do_not_come_at_once(linked: Linked, pod: Pod, server: Server):
    """Be it the same set or another: the second changes nothing. Another folder is another staging."""
    pod.ends = False
    assert from_server(server, "--detach").exit_code == 0
    before = changes(linked)
    server.files["other.npy"] = b"o" * 5000
    for name in ("tokens", "other"):
        result = trn("stage", f"{server.address}/{name}.npy", INTO, "--yes")
        assert (result.exit_code, "is being staged to this folder already" in result.stderr, changes(linked)) == (1, True, before)
    assert trn("stage", f"{server.address}/tokens.npy", f"{INTO}-2", "--yes", "--detach").exit_code == 0


def test_an_object_of_others_with_the_name_is_not_touched(linked: Linked, pod: Pod, server: Server):
    """It has no label of a staging of this cluster."""
    name = name_of(INTO)
    linked.cluster.served[f"/apis/batch/v1/namespaces/training/jobs/{name}"] = {"metadata": {"name": name}, "status": {"failed": 1}}
    result = from_server(server)
    assert (result.exit_code, "is not a staging of trainium-dev" in result.stderr, changes(linked)) == (1, True, [])


def test_an_ended_job_that_was_made_again_is_not_deleted(linked: Linked, pod: Pod, server: Server):
    """What was confirmed is the deletion of the one that was seen, by its uid."""
    name = name_of(INTO)
    metadata = {"name": name, "namespace": "training", "uid": "uid-seen", "labels": {STAGE_LABEL: NAME}}
    linked.cluster.served[f"/apis/batch/v1/namespaces/training/jobs/{name}"] = {"metadata": metadata, "status": {"failed": 1}}
    linked.cluster.put(JOBS, name, metadata={"uid": "uid-of-another-run"})
    result = from_server(server)
    assert (result.exit_code, "409 Conflict" in result.stderr, changes(linked)) == (1, True, []), result.output


def test_a_job_that_is_gone_ends_the_wait(linked: Linked, pod: Pod, server: Server, given: Given):
    """It was deleted; what is on the file system stays."""
    given.on_pause = lambda _: linked.cluster.served.clear()
    result = from_server(server)
    assert (result.exit_code, "is gone" in result.stdout, "run it again" in result.stdout) == (1, True, True)


def test_a_prefix_is_staged_by_addresses_that_are_signed(linked: Linked, pod: Pod):
    """The pod has no right of its own: no service account, no role, no key, and a list that only a Secret holds."""
    for number in range(5):
        linked.store(f"tokens/{number}/part.npy", 100 + number)
    linked.store("tokens/", 0)
    linked.store("tokens-2/other.npy", 7)
    result = trn("stage", f"s3://{BUCKET}/tokens", INTO, "--yes", "--detach")
    assert result.exit_code == 0, result.output
    files = listed(linked)
    assert [item["name"] for item in files] == [f"{number}/part.npy" for number in range(5)]
    assert [(item["size"], item["etag"]) for item in files[:1]] == [(100, f"{100:032x}")]
    address = urlsplit(files[0]["url"])
    assert (BUCKET in address.netloc + address.path, address.path.endswith("tokens/0/part.npy")) == (True, True)
    assert {"X-Amz-Signature", "Signature"} & set(parse_qs(address.query))
    (job,) = of_kind(linked, "Job")
    spec = job["spec"]["template"]["spec"]
    assert ("AWS_" in json.dumps(spec), spec.get("serviceAccountName"), job["spec"]["backoffLimit"]) == (False, None, 0)
    assert "aws.amazon.com/neuron" not in json.dumps(spec)
    owned = [body for kind in ("Secret", "ConfigMap") for body in of_kind(linked, kind)]
    assert [body["metadata"]["ownerReferences"][0]["name"] for body in owned] == [job["metadata"]["name"]] * 2


def test_a_dry_run_starts_nothing(linked: Linked):
    """It lists, and says the Job's name."""
    linked.store("tokens/a", 100)
    result = trn("stage", f"s3://{BUCKET}/tokens/", INTO, "--dry-run", "--json", "-")
    said = checked(result.stdout)
    assert (result.exit_code, said["schema"], said["files"], said["bytes"]) == (0, "trn-data-stage-plan", 1, 100)
    assert changes(linked) == []


def test_without_consent_nothing_is_staged(linked: Linked, pod: Pod):
    """No answer is a no."""
    linked.store("tokens/a", 100)
    assert (trn("stage", f"s3://{BUCKET}/tokens/", INTO).exit_code, changes(linked)) == (1, [])


def test_a_cluster_of_another_stack_is_refused(linked: Linked, pod: Pod):
    """Before anything is made in it."""
    linked.store("tokens/a", 100)
    linked.control_plane["createdAt"] = "2020-01-01T00:00:00Z"
    result = trn("stage", f"s3://{BUCKET}/tokens/", INTO, "--yes")
    assert (result.exit_code, "this is not the cluster of stack" in result.stderr, changes(linked)) == (1, True, [])


def test_a_bucket_that_is_not_there_is_an_error_of_one_line(linked: Linked, pod: Pod):
    """AWS's own words; nothing is made."""
    result = trn("stage", "s3://another-bucket/tokens/", INTO, "--yes")
    assert (result.exit_code, "NoSuchBucket" in result.stderr, changes(linked)) == (1, True, [])


def test_a_job_file_names_set_and_folder(linked: Linked, tmp_path: Path):
    """Its own, unless another folder is given."""
    linked.store("tokens/a", 100)
    file = tmp_path / "job.yaml"
    text = (ROOT / "training/recipes/bert/job.yaml").read_text()
    file.write_text("\n".join(line for line in text.splitlines() if not line.startswith("data:")) + "\n")
    data = f"data: {{path: {INTO}, source: s3://{BUCKET}/tokens/}}\n"
    file.write_text(file.read_text() + data)
    assert json.loads(trn("stage", str(file), "--dry-run", "--json", "-").stdout)["path"] == INTO
    assert json.loads(trn("stage", str(file), "/fsx/b", "--dry-run", "--json", "-").stdout)["path"] == "/fsx/b"
    file.write_text(file.read_text().replace(f", source: s3://{BUCKET}/tokens/", ""))
    result = trn("stage", str(file), "--dry-run")
    assert (result.exit_code, "has no `data.source`" in result.stderr) == (2, True)


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["tokens", INTO], "neither an S3 prefix nor an address"),
        (["ftp://x/y", INTO], "neither an S3 prefix nor an address"),
        (["s3://X_Y/z", INTO], "is no S3 URI"),
        (["https://example.com/", INTO], "names no file"),
        (["https://example.com/a"], "the folder is ``"),
        (["https://example.com/a", "/scratch/a"], "the folder is `/scratch/a`"),
        (["https://example.com/a", "/fsx/../etc"], "the folder is `/fsx/../etc`"),
        (["https://example.com/a", "fsx/a"], "the folder is `fsx/a`"),
        (["https://example.com/a", "/fsx//a"], "the folder is `/fsx//a`"),
        (["https://example.com/a", "/fsx/./a"], "the folder is `/fsx/./a`"),
        ([f"s3://{BUCKET}/nothing/", INTO], "there is nothing in"),
        (["https://example.com/a", INTO, "--sha256", "none"], "cannot read `none`"),
        (["https://example.com/a", INTO, "--sha256", "README.md"], "has the line"),
    ],
)
def test_misuse_is_refused_with_a_hint(linked: Linked, words: list[str], says: str):
    """Before anything is made."""
    result = trn("stage", *words, "--yes")
    assert (result.exit_code, says in result.stderr, "hint: " in result.stderr, changes(linked)) == (2, True, True, []), result.stderr


def test_a_sum_of_no_file_is_misuse(linked: Linked, tmp_path: Path):
    """A slip would leave a file without its check."""
    linked.store("tokens/a", 100)
    result = trn("stage", f"s3://{BUCKET}/tokens/", INTO, "--yes", *sums(tmp_path, f"{'0' * 64}  b"))
    assert (result.exit_code, "names `b`" in result.stderr, "files there: a" in result.stderr) == (2, True, True)


def test_one_object_is_a_set_too(linked: Linked):
    """Under its own name; an object that only begins so is another."""
    linked.store("tokens/a.npy", 100)
    linked.store("tokens/a.npy.old", 100)
    assert [item.name for item in files_of(f"s3://{BUCKET}/tokens/a.npy", linked.cloud.api, {})] == ["a.npy"]


def test_a_list_that_no_secret_holds_is_refused(monkeypatch: pytest.MonkeyPatch):
    """Kubernetes would refuse it when half is made. What counts is its size in base64."""
    files = [SourceFile(str(number), hashlib.sha256(str(number).encode()).hexdigest()) for number in range(100)]
    size = len(packed(files)) * 4 // 3
    monkeypatch.setattr("trn.jobs.data.source.SECRET_LIMIT", size)
    packed(files)
    monkeypatch.setattr("trn.jobs.data.source.SECRET_LIMIT", size - 1)
    with pytest.raises(CommandError, match="longer than a Secret can hold"):
        packed(files)


def test_lines_that_are_not_the_scripts_are_passed_over():
    """Python's own, and those that were cut off."""
    log = (
        'Traceback\n[1]\n{"stage": "file", "name": "a", "by": "md5", "of": 2}\n{"stage": "fi\n{"stage": "failed", "name": "b", "why": "no"}'
    )
    found = parsed(log)
    assert (found.files, found.total, dict(found.verified), found.failed, found.is_done) == (1, 2, {"md5": 1}, {"b": "no"}, False)


def test_no_container_runs_in_practice(monkeypatch: pytest.MonkeyPatch):
    """It says so instead of waiting for one."""
    monkeypatch.chdir(ROOT)
    monkeypatch.setattr("trn.practice.access.Practice.aws", lambda _, stack, region: Linked().cloud.api)
    result = CliRunner().invoke(app, ["--practice", "data", "stage", "https://example.com/a", INTO, "--yes"])
    assert (result.exit_code, "no container runs in a practice account" in result.stderr) == (2, True)


def test_staging_uses_the_rights_that_are_listed_and_no_others(linked: Linked, pod: Pod, server: Server):
    """A run, a second over it, and one that the server refuses."""
    from_server(server)
    from_server(server)
    del linked.cluster.served[next(path for path, body in linked.cluster.served.items() if body.get("kind") == "Job")]
    (name,) = {body["metadata"]["name"] for body in of_kind(linked, "Secret")}
    linked.cluster.refusals[f"Job {name}"] = [Refused("no")]
    with pytest.raises(Refused):
        from_server(server)
    used = {(verb, resource(path)) for verb, path in linked.cluster.seen}
    assert used == {(verb, kind) for kind, verbs in RIGHTS["data stage"].items() for verb in verbs}
