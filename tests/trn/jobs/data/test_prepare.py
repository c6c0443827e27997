"""`trn data prepare`, against a simulated account, a hub and a cluster in memory; the script itself is run in tests/frameworks/test_packing.py."""

import base64
import gzip
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from facts.kubernetes_kinds import Resource
from tests.documents import checked
from tests.training.objects import errors
from tests.trn.given import Given
from tests.trn.jobs.data.linked import BUCKET, Linked, reached, trn
from tests.trn.test_kube_rights import resource
from training import packing
from trn.jobs.data.hub import HUB
from trn.jobs.data.prepare_plan import how_far, outcome, parsed
from trn.kubernetes.job_pods import PODS
from trn.rights import RIGHTS

INTO, JOBS = "/fsx/data/wiki", Resource("Job", "/apis/batch/v1", "jobs")
COMMIT, SUM = "c" * 40, "5" * 64
DONE = {
    "pack": "done", "fingerprint": "f" * 64, "documents": 100, "empty": 1, "unreadable": 0, "tokens_per_s": 1_250_000,
    "splits": {"train": {"tokens": 90_000, "documents": 99}, "validation": {"tokens": 1_000, "documents": 1}},
}  # fmt: skip
PROGRESS = {"pack": "progress", "files": 3, "of": 12, "share": 0.25, "tokens": 3_000_000, "documents": 9, "tokens_per_s": 10_000}


@dataclass
class Hub:
    """Hugging Face's answers, as `urllib3.PoolManager` gives them; a page for each address."""

    pages: dict[str, Any] = field(default_factory=dict)
    asked: list[tuple[str, Mapping[str, str]]] = field(default_factory=list)

    def request(self, method: str, url: str, headers: Mapping[str, str]) -> Any:
        """One answer; 404 for what there is not."""
        assert method == "GET"
        self.asked.append((url.removeprefix(HUB), headers))
        found = self.pages.get(url.removeprefix(HUB))
        body, link = found if isinstance(found, tuple) else (found, "")
        return SimpleNamespace(status=404 if found is None else 200, data=json.dumps(body).encode(), headers={"Link": link} if link else {})

    def add_set(self, **info: Any) -> None:
        """A data set in two pages, and a model with a tokenizer."""
        tree = f"/api/datasets/wikimedia/wikipedia/tree/{COMMIT}?recursive=true"
        entries = [
            {"type": "directory", "path": "en", "oid": "d", "size": 0},
            {"type": "file", "path": "README.md", "oid": "r", "size": 9},
            {"type": "file", "path": "en/b.parquet", "oid": "b", "size": 1000, "lfs": {"oid": SUM, "size": 1000}},
        ]
        more = [
            {"type": "file", "path": "en/a b.parquet", "oid": "a", "size": 500},
            {"type": "file", "path": "de/a.parquet", "oid": "a", "size": 7},
        ]
        self.pages |= {
            "/api/datasets/wikimedia/wikipedia/revision/main": {"sha": COMMIT, "gated": False, **info},
            tree: (entries, f'<{HUB}{tree}&cursor=x>; rel="next"'),
            f"{tree}&cursor=x": more,
            "/api/models/google-bert/bert/revision/main": {"sha": COMMIT, "gated": False},
            f"/api/models/google-bert/bert/tree/{COMMIT}?recursive=true": [
                {"type": "file", "path": "tokenizer.json", "oid": "t", "size": 3}
            ],
        }


@pytest.fixture
def hub(given: Given) -> Hub:
    """Commands reach it."""
    found = Hub()
    found.add_set()
    given.pool = found
    return found


@pytest.fixture
def linked(monkeypatch: pytest.MonkeyPatch, given: Given) -> Linked:
    """Commands reach it, with text in its bucket."""
    made = reached(monkeypatch, Linked(), given)
    made.cluster.objects[JOBS] = []
    for name in ("b.jsonl", "a.txt.gz", "LICENSE"):
        made.store(f"text/{name}", 1000)
    return made


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """A job file."""
    return written(tmp_path)


def written(folder: Path, source: str = f"s3://{BUCKET}/text/", tokenizer: str = "/fsx/tokenizer.json", more: str = "") -> Path:
    """A job file of a source."""
    path = folder / "job.yaml"
    prepare = f"{{tokenizer: {tokenizer}{more}}}"
    path.write_text(f"name: bert\nrecipe: bert\ndata: {{path: {INTO}, source: {source}, prepare: {prepare}}}\n")
    return path


def pod(linked: Linked, given: Given, *runs: tuple[str, list[Mapping[str, Any]]]) -> None:
    """Its phase, and what it says, one pod after the other at each look."""
    left = list(runs)

    def goes_on(_: float) -> None:
        jobs = of_kind(linked, "Job")
        if not jobs or not left:
            return
        phase, lines = left.pop(0)
        name = f"{jobs[0]['metadata']['name']}-{9 - len(left)}"
        labels = {"batch.kubernetes.io/job-name": jobs[0]["metadata"]["name"]}
        time = f"2026-11-01T00:0{9 - len(left)}:00Z"
        linked.cluster.put(PODS, name, metadata={"labels": labels, "creationTimestamp": time}, status={"phase": phase})
        linked.cluster.texts[f"/api/v1/namespaces/training/pods/{name}/log?container=work"] = "".join(
            f"{json.dumps(line)}\n" for line in lines
        )
        if phase != "Running" and not left:
            jobs[0]["status"] = (
                {"failed": 1, "conditions": [{"type": "Failed", "status": "True"}]} if phase == "Failed" else {"succeeded": 1}
            )
        elif phase == "Failed":
            jobs[0]["status"] = {"failed": 1, "active": 1}

    given.on_pause = goes_on


def of_kind(linked: Linked, kind: str) -> list[dict[str, Any]]:
    """What the command has made of a kind."""
    return [body for body in linked.cluster.served.values() if body.get("kind") == kind]


def request(linked: Linked) -> Any:
    """What the pod reads."""
    (secret,) = of_kind(linked, "Secret")
    return json.loads(gzip.decompress(base64.b64decode(secret["data"]["list.json.gz"])))


def test_a_set_is_made_by_a_job_that_is_no_training(linked: Linked, given: Given, file: Path):
    """On a node without Neuron, without any right of its own, with all that the script imports; the report has what it said."""
    pod(linked, given, ("Running", [PROGRESS]), ("Succeeded", [PROGRESS, DONE]))
    result = trn("prepare", str(file), "--yes", "--json", "-")
    said = checked(result.stdout)
    assert said["schema"] == "trn-data-prepare"
    assert (result.exit_code, said["fingerprint"], said["tokens"], said["tokensPerSecond"]) == (
        0, "f" * 64, {"train": 90_000, "validation": 1_000}, 1_250_000,
    )  # fmt: skip
    assert "25%, 3 of 12 files, 3,000,000 tokens, 10,000 tokens/s, about 15 min left" in result.stderr
    (job,), (scripts,) = of_kind(linked, "Job"), of_kind(linked, "ConfigMap")
    spec = job["spec"]["template"]["spec"]
    assert "neuron" not in json.dumps(spec)
    assert (spec["automountServiceAccountToken"], spec["restartPolicy"], spec.get("tolerations")) == (False, "Never", None)
    assert spec["containers"][0]["volumeMounts"][0]["mountPath"] == "/fsx"
    assert spec["containers"][0]["resources"]["requests"] == {"cpu": "2", "memory": "4Gi"}
    assert scripts["data"] == packing.files()


def test_the_pod_is_told_text_and_options(linked: Linked, tmp_path: Path):
    """Files of text alone, in the order of their names, at addresses that were made for it."""
    trn("prepare", str(written(tmp_path, more=", documents: file, validation: 0.1, end: ''")), "--yes", "--detach")
    asked = request(linked)
    assert [item["name"] for item in asked["files"]] == ["a.txt.gz", "b.jsonl"]
    assert all("Signature" in item["url"] for item in asked["files"])
    assert asked["tokenizer"] == {"name": "/fsx/tokenizer.json", "path": "/fsx/tokenizer.json"}
    assert asked["options"] == {
        "files": None, "text": "text", "documents": "file", "sentences": None, "begin": None, "end": "", "validation": 0.1,
    }  # fmt: skip


def test_a_set_of_the_hub_is_read_at_one_commit(linked: Linked, hub: Hub, tmp_path: Path):
    """What the branch is at later is another set; files of large file storage have their sum, and names are quoted."""
    more = ', files: "en/*.parquet"'
    trn("prepare", str(written(tmp_path, "wikimedia/wikipedia", "google-bert/bert", more)), "--yes", "--detach")
    asked = request(linked)
    page = f"{HUB}/datasets/wikimedia/wikipedia/resolve/{COMMIT}/en"
    assert [(item["name"], item["url"], item["size"], item["sha256"], item["token"]) for item in asked["files"]] == [
        ("en/a b.parquet", f"{page}/a%20b.parquet", 500, "", ""), ("en/b.parquet", f"{page}/b.parquet", 1000, SUM, ""),
    ]  # fmt: skip
    assert (asked["tokenizer"]["url"], asked["tokenizer"]["title"]) == (
        f"{HUB}/google-bert/bert/resolve/{COMMIT}/tokenizer.json",
        "google-bert/bert",
    )
    assert all("Authorization" not in headers for _, headers in hub.asked)


def test_the_callers_token_goes_with_each_address(linked: Linked, hub: Hub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """And is in the Secret alone."""
    monkeypatch.setenv("HF_TOKEN", "hf_mine")
    hub.add_set(gated="auto")
    result = trn("prepare", str(written(tmp_path, "wikimedia/wikipedia")), "--yes", "--detach")
    assert {headers["Authorization"] for _, headers in hub.asked} == {"Bearer hf_mine"}
    assert {item["token"] for item in request(linked)["files"]} == {"hf_mine"}
    assert "hf_mine" not in result.output + json.dumps(of_kind(linked, "Job") + of_kind(linked, "ConfigMap"))


@pytest.mark.parametrize(
    ("info", "source", "says"),
    [
        ({"gated": "manual"}, "wikimedia/wikipedia", "is for those who accepted its terms"),
        ({}, "wikimedia/wikipaedia", "has no data set wikimedia/wikipaedia at `main`, or not for everyone (HTTP 404)"),
    ],
)
def test_what_the_hub_does_not_give_is_said_before_anything_is_made(
    linked: Linked, hub: Hub, tmp_path: Path, info: dict[str, Any], source: str, says: str
):
    """With the page to look at."""
    hub.add_set(**info)
    result = trn("prepare", str(written(tmp_path, source)), "--yes")
    assert (result.exit_code, says in result.stderr, f"{HUB}/datasets/" in result.stderr) == (1, True, True), result.stderr
    assert of_kind(linked, "Job") == []


def test_a_model_without_a_tokenizer_file_is_refused(linked: Linked, hub: Hub, tmp_path: Path):
    """Older ones have a vocabulary alone."""
    hub.pages[f"/api/models/google-bert/bert/tree/{COMMIT}?recursive=true"] = [{"type": "file", "path": "vocab.txt", "oid": "t", "size": 3}]
    result = trn("prepare", str(written(tmp_path, tokenizer="google-bert/bert")), "--yes")
    assert (result.exit_code, "google-bert/bert has no tokenizer.json" in result.stderr) == (2, True)


def test_a_pod_that_ended_is_followed_by_the_next_one(linked: Linked, given: Given, file: Path):
    """The Job starts it; the command reads the newest, and goes on until the Job has ended."""
    resumed = {"pack": "resumed", "files": 3, "of": 12, "records": 5}
    pod(linked, given, ("Running", [PROGRESS]), ("Failed", [PROGRESS]), ("Succeeded", [resumed, DONE]))
    assert trn("prepare", str(file), "--yes").exit_code == 0
    (job,) = of_kind(linked, "Job")
    rules = job["spec"]["podFailurePolicy"]["rules"]
    assert errors(job) == []
    assert job["spec"]["backoffLimit"] > 0
    assert rules[0] == {"action": "Ignore", "onPodConditions": [{"type": "DisruptionTarget"}]}
    assert rules[1]["onExitCodes"]["values"] == [1, 2, 75]


def test_why_there_is_no_set_is_said(linked: Linked, given: Given, file: Path):
    """In the script's own words, and the exit code is 1."""
    pod(linked, given, ("Failed", [{"pack": "failed", "why": "a.jsonl: its first line is no JSON object"}]))
    result = trn("prepare", str(file), "--yes", "--json", "-")
    assert (result.exit_code, checked(result.stdout)["why"]) == (1, "a.jsonl: its first line is no JSON object")
    assert "a.jsonl: its first line is no JSON object" in result.stderr


def test_a_dry_run_starts_nothing(linked: Linked, file: Path):
    """It says what would be read."""
    result = trn("prepare", str(file), "--dry-run", "--json", "-")
    said = checked(result.stdout)
    assert (result.exit_code, said["schema"], said["files"], said["bytes"]) == (0, "trn-data-prepare-plan", 2, 2000)
    assert linked.cluster.log == []


def test_text_on_the_file_system_is_listed_by_the_pod(linked: Linked, tmp_path: Path):
    """Nobody else sees it."""
    assert trn("prepare", str(written(tmp_path, "/fsx/text")), "--yes", "--detach").exit_code == 0
    asked = request(linked)
    assert (asked["from"], "files" in asked) == ("/fsx/text", False)


@pytest.mark.parametrize(
    ("text", "words", "says"),
    [
        ("name: a\nrecipe: bert\n", (), "has no `data.prepare`"),
        ("name: a\nrecipe: bert\ndata: {path: /scratch/a, source: a/b, prepare: {tokenizer: /fsx/t.json}}\n", (), "`data.path` is `/scratch/a`"),
        ("name: a\nrecipe: bert\ndata: {path: /fsx/a, source: /tmp/a, prepare: {tokenizer: /fsx/t.json}}\n", (), "`data.source` is `/tmp/a`"),
        ("name: a\nrecipe: bert\ndata: {path: /fsx/a, source: /fsx/b, prepare: {tokenizer: /t.json}}\n", (), "`data.prepare.tokenizer` is `/t.json`"),
        (f"name: a\nrecipe: bert\ndata: {{path: /fsx/a, source: s3://{BUCKET}/text/, prepare: {{tokenizer: /fsx/t.json, files: x}}}}\n", (), "fits `x`"),
        (f"name: a\nrecipe: bert\ndata: {{path: /fsx/a, source: s3://{BUCKET}/none/, prepare: {{tokenizer: /fsx/t.json}}}}\n", (), "there is nothing in"),
        ("name: a\nrecipe: bert\ndata: {path: /fsx/a, source: /fsx/b, prepare: {tokenizer: /fsx/t.json}}\n", ("--from", "x"), "which no pod sees"),
    ],
)  # fmt: skip
def test_misuse_is_refused_with_a_hint(linked: Linked, hub: Hub, tmp_path: Path, text: str, words: tuple[str, ...], says: str):
    """Before anything is made."""
    (tmp_path / "job.yaml").write_text(text)
    result = trn("prepare", str(tmp_path / "job.yaml"), "--yes", *words)
    assert (result.exit_code, says in result.stderr, "hint: " in result.stderr) == (2, True, True), result.stderr
    assert linked.cluster.log == []


def test_a_set_that_is_prepared_is_not_staged(linked: Linked, file: Path):
    """Its text would stand where shards are read; to another folder it may be copied."""
    result = trn("stage", str(file), "--dry-run")
    assert (result.exit_code, f"`trn data prepare {file}` makes it" in result.stderr) == (2, True)
    assert trn("stage", str(file), "/fsx/text", "--dry-run").exit_code == 0


def fake_script(monkeypatch: pytest.MonkeyPatch, *lines: Mapping[str, Any], code: int = 0) -> None:
    """In place of the packer, which this Python cannot run."""
    text = f"import json, sys\nfor line in {list(lines)!r}: print(json.dumps(line))\nsys.exit({code})\n"
    monkeypatch.setattr(packing, "files", lambda: {packing.SCRIPT: text, packing.REQUIREMENTS: ""})


def test_a_set_is_made_on_this_machine_without_a_cluster(linked: Linked, file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """From text that is here."""
    fake_script(monkeypatch, PROGRESS, DONE)
    result = trn("prepare", str(file), "--here", str(tmp_path / "out"), "--from", str(tmp_path), "--json", "-")
    said = checked(result.stdout)
    assert (result.exit_code, said["schema"], said["tokens"]["train"]) == (0, "trn-data-prepare-here", 90_000)
    assert "25%, 3 of 12 files" in result.stderr
    assert linked.cluster.log == []


def test_text_that_is_not_there_is_said_by_the_script_itself(linked: Linked, file: Path, tmp_path: Path):
    """The real one: it lists its files before it needs a package that this Python may lack, and installs nothing here."""
    result = trn("prepare", str(file), "--here", str(tmp_path / "out"), "--from", str(tmp_path / "none"))
    assert (result.exit_code, f"{tmp_path / 'none'} is not there" in result.stderr) == (1, True), result.stderr


def test_a_run_that_was_stopped_here_says_how_to_go_on(linked: Linked, file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Ctrl-C reaches the script too, which records what is done."""
    fake_script(monkeypatch, PROGRESS, {"pack": "stopped"}, code=143)
    result = trn("prepare", str(file), "--here", str(tmp_path / "out"), "--from", str(tmp_path))
    assert (result.exit_code, "the same command goes on where it was" in result.stderr) == (1, True)


def test_what_the_script_says_is_read_line_by_line():
    """Others' lines are passed over, and those that were cut off."""
    assert how_far(parsed("")) == ""
    assert how_far(parsed('{"pack": "resumed", "files": 3, "of": 12}')) == "going on with file 4 of 12"
    assert (
        how_far(parsed('pip: hello\n{"pack": "installing", "packages": "tokenizers, pyarrow"}\n[1]\n{"pa'))
        == "installing tokenizers, pyarrow"
    )
    assert how_far(parsed(json.dumps({**PROGRESS, "share": 1.0}))) == "100%, 3 of 12 files, 3,000,000 tokens, 10,000 tokens/s"
    assert parsed('{"pack": "ended", "why": "HTTP 403"}').why.startswith("the addresses have ended; run it again")
    assert outcome("/fsx/a", {**DONE, "tokens_per_s": None})[0].endswith("made before")
    assert outcome("/fsx/a", DONE)[-1] == "passed over: 1 empty documents"


def test_preparing_uses_the_rights_that_are_listed_and_no_others(linked: Linked, given: Given, file: Path):
    """A run, and a second over what it left."""
    pod(linked, given, ("Failed", []))
    trn("prepare", str(file), "--yes")
    trn("prepare", str(file), "--yes", "--detach")
    used = {(verb, resource(path)) for verb, path in linked.cluster.seen}
    assert used <= {(verb, kind) for kind, verbs in RIGHTS["data prepare"].items() for verb in verbs}
    assert {("create", "jobs.batch"), ("list", "pods"), ("get", "pods/log"), ("delete", "jobs.batch")} <= used
