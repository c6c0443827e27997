"""Documents of files and shards of tokens, as far as they need the standard library alone; tests/frameworks/test_packing.py has the rest."""

import gzip
import json
from array import array
from pathlib import Path
from typing import Any

import pytest

from training import packing
from training.packing.documents import Documents, Unreadable, is_wanted, kind_of
from training.packing.shards import Writer

TEXT = b"one\nmore of one\n\n\ntwo\r\n \nthree"


def read(folder: Path, name: str, body: bytes, skip: int = 0, division: str = "blank-line") -> list[str | None]:
    """Documents of a file."""
    (folder / name).write_bytes(body)
    return list(Documents(folder / name, name, "text", division).read(skip))


@pytest.mark.parametrize(
    ("division", "found"),
    [
        ("blank-line", ["one\nmore of one", "two", "three"]),
        ("line", ["one", "more of one", "", "", "two", " ", "three"]),
        ("file", [TEXT.decode()]),
    ],
)
def test_plain_text_is_divided_as_it_is_said(tmp_path: Path, division: str, found: list[str]):
    """A gap of two blank lines is one gap."""
    assert read(tmp_path, "a.txt", TEXT, division=division) == found
    assert read(tmp_path, "a.txt.gz", gzip.compress(TEXT), division=division) == found


@pytest.mark.parametrize("skip", range(5))
def test_a_file_is_gone_on_with_behind_what_is_done(tmp_path: Path, skip: int):
    """However many documents that are, also all of them."""
    texts = ["a", None, "c", "d"]
    lines = b"".join(json.dumps({"text": text}).encode() + b"\n" for text in texts)
    assert read(tmp_path, "a.jsonl", lines, skip) == texts[skip:]
    assert read(tmp_path, "a.txt", b"a\n\nb\n\nc\n\nd", skip) == ["a", "b", "c", "d"][skip:]


def test_lines_that_are_no_documents_count_as_documents_that_cannot_be_read(tmp_path: Path):
    """But for blank ones. So that the number of what is done does not depend on what could be read."""
    lines = b'\n{"text": "a"}\n\nno json\n[1]\n{"text": 3}\n{"other": "b"}\n{"text": ""}\n\xff\n{"text": "e"}'
    assert read(tmp_path, "a.jsonl", lines) == ["a", None, None, None, None, "", None, "e"]


def test_a_first_line_without_the_key_is_a_mistake_and_no_gap(tmp_path: Path):
    """It names the keys that are there."""
    with pytest.raises(Unreadable, match="no text at the key `text`; keys there: content, id"):
        read(tmp_path, "a.jsonl", b'{"content": "a", "id": 3}\n')
    with pytest.raises(Unreadable, match="JSON lines have one on each line"):
        read(tmp_path, "a.json", b"[\n")


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("a.txt", "text"),
        ("a.jsonl.zst", "lines"),
        ("x/a.parquet", "parquet"),
        ("a.parquet.gz", None),
        ("README.md", None),
        ("a.gz", None),
        ("a", None),
    ],
)
def test_the_end_of_a_name_says_what_a_file_is(name: str, kind: str | None):
    """Parquet packs its columns itself."""
    assert kind_of(name) == kind


@pytest.mark.parametrize(
    ("name", "pattern", "is_so"),
    [
        ("en/a.txt", None, True),
        ("en/a.txt", "en/*", True),
        ("de/a.txt", "en/*", False),
        (".git/a.txt", None, False),
        ("x/.a.txt", None, False),
    ],
)
def test_which_files_count(name: str, pattern: str | None, is_so: bool):
    """Those that are asked for; what is hidden is another program's."""
    assert is_wanted(name, pattern) is is_so


def ids_of(folder: Path, shard: str, part: str, code: str) -> list[int]:
    """Entries of a file."""
    return list(array(code, (folder / f"{shard}.{part}").read_bytes()))


def test_a_shard_ends_with_its_document(tmp_path: Path):
    """Behind the limit; starts of documents and sentences, and at the end the number of tokens."""
    writer = Writer(tmp_path, "train", "uint16", True, 3, None)
    for document in ([[1, 2], [3, 4]], [[5]], [[6], [7]]):
        writer.add(document)
    found = writer.finish()
    assert [(shard["name"], shard["tokens"], shard["documents"], shard["sentences"]) for shard in found["shards"]] == [
        ("train-00000", 4, 1, 2), ("train-00001", 3, 2, 3),
    ]  # fmt: skip
    assert (found["tokens"], found["documents"], found["sentences"]) == (7, 3, 5)
    assert ids_of(tmp_path, "train-00001", "tokens", "H") == [5, 6, 7]
    assert ids_of(tmp_path, "train-00001", "documents", "I") == [0, 1, 3]
    assert ids_of(tmp_path, "train-00001", "sentences", "I") == [0, 1, 2, 3]
    assert sorted({path.name.partition(".")[0] for path in tmp_path.iterdir()}) == ["train-00000", "train-00001"]


def test_a_set_without_sentences_has_no_file_of_them(tmp_path: Path):
    """And ids above 65,535 take four bytes."""
    writer = Writer(tmp_path, "train", "uint32", False, 3, None)
    writer.add([[70_000]])
    writer.finish()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["train-00000.documents", "train-00000.tokens"]
    assert ids_of(tmp_path, "train-00000", "tokens", "I") == [70_000]


def test_what_was_written_after_the_last_record_is_cut_off(tmp_path: Path):
    """Also where a whole shard came after it."""
    documents = [[[number] * 2] for number in range(9)]
    whole, broken = Writer(tmp_path, "whole", "uint16", True, 5, None), Writer(tmp_path, "train", "uint16", True, 5, None)
    for document in documents:
        whole.add(document)
    expected = whole.finish()
    for document in documents[:2]:
        broken.add(document)
    broken.flush()
    kept: dict[str, Any] = json.loads(json.dumps(broken.state()))
    for document in documents[2:]:
        broken.add(document)
    broken.flush()
    broken.close()
    again = Writer(tmp_path, "train", "uint16", True, 5, kept)
    for document in documents[2:]:
        again.add(document)
    assert [shard["sha256"] for shard in again.finish()["shards"]] == [shard["sha256"] for shard in expected["shards"]]


def test_a_shard_that_lost_what_was_recorded_is_refused(tmp_path: Path):
    """Somebody cut it off: a set with a hole would have been made."""
    writer = Writer(tmp_path, "train", "uint16", False, 5, None)
    writer.add([[1, 2, 3]])
    writer.flush()
    writer.close()
    (tmp_path / "train-00000.tokens").write_bytes(b"12")
    with pytest.raises(OSError, match="shorter than it was written"):
        Writer(tmp_path, "train", "uint16", False, 5, writer.state())


def test_the_pod_has_all_files_that_the_script_imports():
    """They lie side by side, with the list of packages."""
    assert set(packing.files()) == {"documents.py", "pack.py", "packing.txt", "shards.py", "stage.py", "tokens.py"}
    assert all("==" in line for line in packing.files()["packing.txt"].splitlines() if not line.startswith("#"))
