"""The script that brings a data set to the file system, run on files of this machine over HTTP."""

import gzip
import hashlib
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.training.file_server import Server, serving
from training.staging import stage

MIB = 1 << 20


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    """It runs until the test ends."""
    monkeypatch.setattr(stage, "WAIT_S", 0)
    with serving() as found:
        yield found


def item(server: Server, name: str, **more: Any) -> dict[str, Any]:
    """A file as the list has it."""
    return {"name": name, "url": f"{server.address}/{name}", "size": len(server.files[name]), **more}


def run(into: Path, items: list[dict[str, Any]], capsys: pytest.CaptureFixture[str]) -> tuple[int, dict[str, Any]]:
    """Exit code, and the last line."""
    code = stage.run(items, into, 2)
    return code, json.loads(capsys.readouterr().out.splitlines()[-1])


def etag_of_parts(body: bytes, length: int) -> str:
    """As S3 makes it."""
    digests = [hashlib.md5(body[at : at + length]).digest() for at in range(0, len(body), length)]
    return f"{hashlib.md5(b''.join(digests)).hexdigest()}-{len(digests)}"


def test_files_are_verified_by_the_best_that_is_known(server: Server, tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    """A sum of the user's, S3's own of the whole or of parts, else the size; under a key of KMS an ETag is no sum."""
    server.files = {name: name.encode() * 1000 for name in ("a", "sub/b", "c", "d")} | {"parts": b"x" * (9 * MIB)}
    md5 = hashlib.md5(server.files["sub/b"]).hexdigest()
    server.headers = {"c": {"x-amz-server-side-encryption": "aws:kms"}}
    items = [
        item(server, "a", sha256=hashlib.sha256(server.files["a"]).hexdigest()), item(server, "sub/b", etag=md5), item(server, "c", etag="0" * 32),
        item(server, "d"), item(server, "parts", etag=etag_of_parts(server.files["parts"], 8 * MIB)),
    ]  # fmt: skip
    code, said = run(tmp_path, items, capsys)
    assert (code, said["verified"]) == (0, {"sha256": 1, "md5": 1, "size": 2, "md5 of parts": 1})
    assert {name: (tmp_path / name).read_bytes() for name in server.files} == server.files
    record = json.loads((tmp_path / stage.RECORD).read_text())
    assert record["d"]["sha256"] == hashlib.sha256(server.files["d"]).hexdigest()
    assert list(tmp_path.rglob("*.part")) == []


THEIRS = b"theirs" * 100


def failures(into: Path, items: list[dict[str, Any]], capsys: pytest.CaptureFixture[str]) -> dict[str, str]:
    """Names and reasons of what a run did not bring."""
    stage.run(items, into, 2)
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    return {line["name"]: line["why"] for line in lines if line["stage"] == "failed"}


@pytest.mark.parametrize("known", ["size", "etag", "sha256", "nothing"])
@pytest.mark.parametrize("length", [len(THEIRS), 5000])
def test_another_file_of_the_name_is_left_as_it_is(
    server: Server, tmp_path: Path, capsys: pytest.CaptureFixture[str], known: str, length: int
):
    """Somebody's results, or another set in the same folder: whatever is known of ours, and nothing of it is read before."""
    server.files = {"a": b"a" * length, "b": b"b"}
    wanted = item(server, "a")
    if known == "nothing":
        wanted["size"] = None
    elif known != "size":
        wanted[known] = (hashlib.md5 if known == "etag" else hashlib.sha256)(server.files["a"]).hexdigest()
    (tmp_path / "a").write_bytes(THEIRS)
    found = failures(tmp_path, [wanted, item(server, "b")], capsys)
    assert ("no staging wrote it" in found["a"], "--replace" in found["a"], len(found)) == (True, True, 1)
    assert ((tmp_path / "a").read_bytes(), (tmp_path / "b").exists()) == (THEIRS, True)
    assert [name for name, _ in server.asked] == ["b"]
    assert failures(tmp_path, [{**wanted, "replace": True}], capsys) == {}
    assert (tmp_path / "a").read_bytes() == server.files["a"]


@pytest.mark.parametrize("known", ["etag", "sha256"])
def test_the_wanted_file_is_kept_whoever_brought_it(server: Server, tmp_path: Path, capsys: pytest.CaptureFixture[str], known: str):
    """By its sums; from then on it is recorded."""
    server.files = {"a": b"a" * 5000}
    sums = {known: (hashlib.md5 if known == "etag" else hashlib.sha256)(server.files["a"]).hexdigest()}
    (tmp_path / "a").write_bytes(server.files["a"])
    for _ in range(2):
        assert run(tmp_path, [item(server, "a", **sums)], capsys)[1]["verified"] == {"kept": 1}
    assert server.asked == []


def test_what_was_staged_and_changed_since_is_left_as_it_is(server: Server, tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    """And what was staged and not changed makes room for what the bucket has by now."""
    server.files = {"a": b"a" * 5000, "b": b"b" * 5000}
    run(tmp_path, [item(server, name) for name in server.files], capsys)
    (tmp_path / "a").write_bytes(THEIRS)
    server.files = {"a": b"A" * 6000, "b": b"B" * 6000}
    assert set(failures(tmp_path, [item(server, name) for name in server.files], capsys)) == {"a"}
    assert ((tmp_path / "a").read_bytes(), (tmp_path / "b").read_bytes()) == (THEIRS, server.files["b"])


def test_a_file_that_is_written_while_ours_is_read_is_left_as_it_is(
    server: Server, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
):
    """It is looked at again right before ours gets its name."""
    server.files = {"a": b"a" * 5000}
    real = stage.download

    def meanwhile(*given: Any) -> Any:
        (tmp_path / "a").write_bytes(THEIRS)
        return real(*given)

    monkeypatch.setattr(stage, "download", meanwhile)
    assert "meanwhile" in failures(tmp_path, [item(server, "a")], capsys)["a"]
    assert (tmp_path / "a").read_bytes() == THEIRS


def test_a_folder_and_a_link_of_the_name_are_left_as_they_are(server: Server, tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    """They are no file that a staging wrote."""
    server.files = {"a": b"a", "b": b"b"}
    (tmp_path / "a").mkdir()
    (tmp_path / "b").symlink_to("nowhere")
    assert set(failures(tmp_path, [item(server, name) for name in server.files], capsys)) == {"a", "b"}
    assert ((tmp_path / "a").is_dir(), (tmp_path / "b").is_symlink()) == (True, True)


def test_another_programs_part_is_left_as_it_is(server: Server, tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    """A download of `wget`, say, of the same name."""
    server.files = {"a": b"a" * 5000}
    (tmp_path / "a.part").write_bytes(b"theirs")
    assert run(tmp_path, [item(server, "a")], capsys)[0] == 0
    assert ((tmp_path / "a.part").read_bytes(), (tmp_path / "a").read_bytes()) == (b"theirs", server.files["a"])


def test_a_second_run_reads_nothing(server: Server, tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    """But one that is another in the bucket by now, and one that somebody deleted."""
    server.files = {"a": b"a" * 5000, "b": b"b" * 5000, "c": b"c" * 5000}
    run(tmp_path, [item(server, name, etag="") for name in server.files], capsys)
    server.asked.clear()
    assert run(tmp_path, [item(server, name) for name in server.files], capsys)[1]["verified"] == {"kept": 3}
    assert server.asked == []
    (tmp_path / "b").unlink()
    server.files["c"] = b"C" * 5000
    items = [item(server, "a"), item(server, "b"), item(server, "c", etag=hashlib.md5(server.files["c"]).hexdigest())]
    assert run(tmp_path, items, capsys)[1]["verified"] == {"kept": 1, "size": 1, "md5": 1}
    assert (tmp_path / "b").read_bytes() == server.files["b"]


@pytest.mark.parametrize("stop", [1, MIB - 1, MIB, 2 * MIB + 7])
def test_a_file_that_breaks_off_goes_on_where_it_was(server: Server, tmp_path: Path, capsys: pytest.CaptureFixture[str], stop: int):
    """Wherever that is; what it becomes has the sum of the whole."""
    server.files = {"a": bytes(range(256)) * (3 * 4096)}
    server.breaks = {"a": [stop]}
    code, said = run(tmp_path, [item(server, "a", etag=hashlib.md5(server.files["a"]).hexdigest())], capsys)
    assert (code, said["verified"]) == (1, {}) or (tmp_path / "a").read_bytes() == server.files["a"]
    server.headers = {"a": {"ETag": f'"{hashlib.md5(server.files["a"]).hexdigest()}"'}}
    code, said = run(tmp_path, [item(server, "a", etag=hashlib.md5(server.files["a"]).hexdigest())], capsys)
    assert (code, (tmp_path / "a").read_bytes() == server.files["a"]) == (0, True)
    assert server.asked[1] == ("a", f"bytes={stop}-")


def test_a_server_that_passes_over_ranges_begins_again(server: Server, tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    """The second half is not written behind a first one that came twice."""
    server.files, server.breaks, server.passes_over_ranges = {"a": b"ab" * MIB}, {"a": [MIB]}, True
    assert run(tmp_path, [item(server, "a")], capsys)[0] == 0
    assert (tmp_path / "a").read_bytes() == server.files["a"]


def test_a_part_that_is_whole_is_verified_as_any_other(server: Server, tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    """A run that was killed before the file had its name; a part with a wrong byte in it is read again."""
    server.files = {"a": b"a" * 5000, "b": b"b" * 5000}
    (tmp_path / f"a{stage.PART}").write_bytes(server.files["a"])
    (tmp_path / f"b{stage.PART}").write_bytes(b"x" + server.files["b"][1:])
    items = [item(server, name, sha256=hashlib.sha256(server.files[name]).hexdigest()) for name in server.files]
    assert run(tmp_path, items, capsys)[1]["verified"] == {"sha256": 2}
    assert {name: (tmp_path / name).read_bytes() for name in server.files} == server.files


@pytest.mark.parametrize("more", [{"sha256": "0" * 64}, {"etag": "0" * 32}, {"size": 4}])
def test_what_is_not_what_it_should_be_gets_no_name(
    server: Server, tmp_path: Path, capsys: pytest.CaptureFixture[str], more: dict[str, Any]
):
    """It was read twice, and is said; the other files are brought."""
    server.files = {"a": b"a" * 5000, "b": b"b"}
    code = stage.run([{**item(server, "a"), **more}, item(server, "b")], tmp_path, 1)
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert (code, [line["name"] for line in lines if line["stage"] == "failed"], lines[-1]["files"]) == (1, ["a"], 1)
    assert not (tmp_path / "a").exists()
    assert [name for name, _ in server.asked].count("a") == 2


def test_addresses_that_have_ended_are_not_tried_on(server: Server, tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    """New ones are made by running the command again."""
    server.files = {"a": b"a", "b": b"b"}
    server.status = {"a": 403, "b": 403}
    assert run(tmp_path, [item(server, "a"), item(server, "b")], capsys)[0] == stage.ENDED


@pytest.mark.parametrize("name", ["../a", "/etc/a", "a/../../b", ""])
def test_a_name_leads_nowhere_else(server: Server, tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str):
    """A bucket's keys may be anything."""
    server.files = {"a": b"a"}
    assert run(tmp_path / "in", [{**item(server, "a"), "name": name}], capsys)[0] == 1
    assert server.asked == []


def test_a_token_is_told_to_the_addresss_own_host_alone(
    server: Server, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
):
    """Hugging Face leads on to another host, whose addresses are signed, and which must not see it."""
    server.files = {"a": b"a"}
    asked = list[Any]()
    real = stage.urllib.request.urlopen
    monkeypatch.setattr(stage.urllib.request, "urlopen", lambda request, **more: (asked.append(request), real(request, **more))[1])
    assert run(tmp_path, [{**item(server, "a"), "token": "mine"}], capsys)[0] == 0
    assert [(request.headers, request.unredirected_hdrs["Authorization"]) for request in asked] == [({}, "Bearer mine")]


def test_it_runs_by_itself(server: Server, tmp_path: Path):
    """As the pod starts it, with nothing but Python."""
    server.files = {"a": b"a" * 100}
    listed = tmp_path / "list.json.gz"
    listed.write_bytes(gzip.compress(json.dumps([item(server, "a")]).encode()))
    command = [sys.executable, "-I", stage.__file__, "--list", str(listed), "--into", str(tmp_path / "set")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, (tmp_path / "set/a").read_bytes()) == (0, server.files["a"]), done.stderr
