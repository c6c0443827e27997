"""The packer as it runs in a pod: every form of text, killed anywhere, gives the same set to the byte; and nothing of a document is lost."""

import hashlib
import json
import signal
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest

from tests.frameworks.packer import Packer
from tests.frameworks.packer import packer as laid_out

pytestmark = pytest.mark.frameworks


@pytest.fixture(scope="module")
def packer(python, tmp_path_factory) -> Packer:
    """With text in five files."""
    return laid_out(python("torch"), tmp_path_factory.mktemp("packer"), tmp_path_factory.mktemp("text"))


@pytest.fixture(scope="module")
def whole(packer, tmp_path_factory) -> Path:
    """A set that nothing disturbed."""
    into = tmp_path_factory.mktemp("sets") / "whole"
    code, said = packer.run(into)
    assert (code, said[-1]["pack"]) == (0, "done"), said
    return into


def sums(into: Path) -> dict[str, str]:
    """What is in a folder."""
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in sorted(into.iterdir()) if not path.name.startswith(".")}


def index_of(into: Path) -> dict[str, Any]:
    """Of a set."""
    return json.loads((into / "index.json").read_text())


def test_a_set_has_every_document_once(packer, whole):
    """From text, JSON lines, both ways of packing, and parquet; what is hidden or no text is left out."""
    index = index_of(whole)
    documents = {split: found["documents"] for split, found in index["splits"].items()}
    assert sum(documents.values()) == len(json.loads((packer.text / "texts.json").read_text()))
    assert 10 < documents["validation"] < 60
    assert len(index["splits"]["train"]["shards"]) > 2
    assert index["counts"] == {"documents": sum(documents.values()), "empty": 0, "unreadable": 0}
    assert [path.name for path in whole.iterdir() if path.name.startswith(".trn-")] == [".trn-pack.lock"]


def test_what_is_in_the_shards_is_the_text(packer, tmp_path):
    """Decoded again, to the byte: no document is cut, filled up or joined to another."""
    code, said = packer.run(tmp_path / "set", "pairs", begin="<|begin_of_text|>")
    assert code == 0, said
    script = """if True:
        import json, sys
        from array import array
        from pathlib import Path
        from tokenizers import Tokenizer
        made, into = Tokenizer.from_file(sys.argv[1]), Path(sys.argv[2])
        found = []
        for shard in [shard for split in json.loads((into / "index.json").read_text())["splits"].values() for shard in split["shards"]]:
            tokens, starts = (array(code, (into / f"{shard['name']}.{part}").read_bytes()) for part, code in (("tokens", "H"), ("documents", "I")))
            found += [made.decode(tokens[begin:end].tolist(), skip_special_tokens=False) for begin, end in zip(starts, starts[1:])]
        print(json.dumps(found))"""
    done = subprocess.run([packer.python, "-c", script, packer.text / "pairs.json", tmp_path / "set"], capture_output=True, check=True)
    texts = json.loads((packer.text / "texts.json").read_text())
    assert sorted(json.loads(done.stdout)) == sorted(f"<|begin_of_text|>{text}<|end_of_text|>" for text in texts)
    special = index_of(tmp_path / "set")["special"]
    assert (special["begin"], special["end"], special["mask"]) == (0, 1, None)


KILLS = {
    "while it packs": "n = [0]; add = pack.Writer.add\ndef die(self, ids):\n    n[0] += 1\n    if n[0] == {count}: pack.os.kill(pack.os.getpid(), 9)\n    add(self, ids)\npack.Writer.add = die",
    "before it records": "w = pack.write; n = [0]\ndef die(path, value):\n    n[0] += 1\n    if n[0] == {count}: pack.os.kill(pack.os.getpid(), 9)\n    w(path, value)\npack.write = die",
    "after a shard ended": "end = pack.Writer._end\ndef die(self):\n    end(self)\n    if len(self.shards) == {count}: pack.os.kill(pack.os.getpid(), 9)\npack.Writer._end = die",
}


@pytest.mark.parametrize(
    ("kill", "count"),
    [
        (kill, count)
        for kill, counts in (("while it packs", (3, 100, 270)), ("before it records", (2, 30)), ("after a shard ended", (1, 2)))
        for count in counts
    ],
)
def test_a_run_that_was_killed_gives_the_same_set(packer, whole, tmp_path, kill, count):
    """Twice at the same place, and once whole: every file is the one of a run that nothing disturbed."""
    into = tmp_path / "set"
    code, _ = packer.run(into, more=f"exec({KILLS[kill].format(count=count)!r})")
    assert code == -signal.SIGKILL
    assert not (into / "index.json").exists()
    packer.run(into, more=f"exec({KILLS[kill].format(count=count)!r})")
    code, said = packer.run(into)
    assert (code, sums(into)) == (0, sums(whole)), said


def test_one_that_was_asked_to_stop_has_recorded_what_is_done(packer, whole, tmp_path):
    """As a pod of a node that is drained."""
    into = tmp_path / "set"
    process = packer.start(into, more="add = pack.Pack._add; pack.Pack._add = lambda self, held: (add(self, held), pack.time.sleep(0.02))")
    while "progress" not in (process.stdout.readline() if process.stdout else ""):
        time.sleep(0)
    process.send_signal(signal.SIGTERM)
    said, _ = process.communicate(timeout=60)
    assert (process.returncode, json.loads(said.splitlines()[-1])["pack"]) == (143, "stopped")
    done = json.loads((into / ".trn-pack.json").read_text())["counts"]["documents"]
    code, said = packer.run(into)
    assert (code, said[0]["pack"], said[0]["documents"], sums(into)) == (0, "resumed", done, sums(whole))
    assert done > 0


def test_a_set_that_is_there_is_not_made_again(packer, whole):
    """The same request is done at once."""
    before = {path: path.stat().st_mtime_ns for path in whole.iterdir() if not path.name.startswith(".")}
    code, said = packer.run(whole)
    assert (code, said[-1]["pack"], said[-1]["tokens_per_s"]) == (0, "done", None)
    assert {path: path.stat().st_mtime_ns for path in before} == before


def test_another_set_is_left_as_it_is(packer, whole, tmp_path):
    """Whole or begun: by other options, or another tokenizer."""
    before = sums(whole)
    for given in ({"validation": 0.2}, {"tokenizer": "pairs"}):
        code, said = packer.run(whole, **given)
        assert (code, "from other text, options or tokenizer" in said[-1]["why"], sums(whole)) == (1, True, before)
    packer.run(tmp_path / "set", more=f"exec({KILLS['while it packs'].format(count=100)!r})")
    code, said = packer.run(tmp_path / "set", validation=0.2)
    assert (code, "the beginning of a set" in said[-1]["why"]) == (1, True)


@pytest.mark.parametrize(
    ("name", "body", "options", "why"),
    [
        ("a.jsonl", b'{"body": "x", "id": 1}\n', {}, "no text at the key `text`; keys there: body, id"),
        ("a.jsonl", b'[{"text": "x"}]\n', {}, "its first line is no JSON object"),
        ("a.jsonl", b'{"text": "x"}\nnot json\n', {}, "1 of its 2 documents have no text"),
        ("a.jsonl", b'{"text": "\\ud800"}\n', {}, "1 of its 1 documents have no text"),
        ("a.json.gz", b"not packed", {}, "not packed as its name says"),
        ("a.jsonl.zst", b"not packed", {}, "not packed as its name says"),
        ("a.parquet", b"no parquet", {}, "it is no parquet"),
        ("a.txt", b"", {}, "there is no document in it"),
        ("a.txt", b"   \n", {}, "there is no document in it"),
        ("a.txt", b"\xff\xfe\n", {}, "not in UTF-8"),
        ("a.csv", b"a,b\n", {}, "has no file that ends with .parquet"),
        ("a.txt", b"a b c", {"files": "*.jsonl"}, "and fits *.jsonl"),
        ("a.txt", b"a b c", {"end": "<none>"}, "does not have as one token"),
    ],
)
def test_what_is_wrong_with_the_text_is_said(packer, tmp_path, name, body, options, why):
    """With the file's name; nothing is called a set."""
    (tmp_path / "text").mkdir()
    (tmp_path / "text" / name).write_bytes(body)
    (tmp_path / "wordpiece.json").write_bytes((packer.text / "wordpiece.json").read_bytes())
    code, said = Packer(packer.python, packer.place, tmp_path).run(tmp_path / "set", **options)
    assert (code, said[-1]["pack"]) == (1, "failed"), said
    assert why in said[-1]["why"]
    assert not (tmp_path / "set" / "index.json").exists()


def test_two_runs_do_not_write_into_one_folder(packer, tmp_path):
    """The second ends at once."""
    process = packer.start(
        tmp_path / "set", more="add = pack.Pack._add; pack.Pack._add = lambda self, held: (add(self, held), pack.time.sleep(0.1))"
    )
    while "progress" not in (process.stdout.readline() if process.stdout else ""):
        time.sleep(0)
    code, said = packer.run(tmp_path / "set")
    process.kill()
    process.communicate()
    assert (code, "another run makes a set in" in said[-1]["why"]) == (1, True)
