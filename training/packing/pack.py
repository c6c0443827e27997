"""Makes a set of token shards from text: `python3 pack.py --request REQUEST.json.gz --into FOLDER`. Runs in a pod, or on any machine.

Files come one by one (stage.py), are tokenised and deleted again. Every half minute what is done is on disk and recorded, so a run that
was killed goes on there, and the set is the same to the byte as if nothing had happened. The index comes last: without it there is no set.
REQUEST: {"options": data.prepare of the job file, "tokenizer": FILE, "files": [FILE]} or {..., "from": PATH} for all files of text below it;
FILE: {"name", "size", "path"}, or with "url" in place of "path" what stage.py takes. An image without the tokenizers library gets it by pip.

Exit codes: 0 the set is whole; 1 it cannot be made, the last line says why; 75 the addresses have ended, make new ones and run it again;
143 it was asked to stop: what is done is recorded, run it again.
"""

from __future__ import annotations

import argparse
import fcntl
import gzip
import hashlib
import http.client
import importlib.util
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import stage
from documents import KINDS, Documents, Unreadable, is_wanted
from shards import Writer
from tokens import Text, Unfit

FORMAT, INDEX, STATE, LOCK, RAW = "trn-tokens-1", "index.json", ".trn-pack.json", ".trn-pack.lock", ".trn-raw"
TRAIN, VALIDATION = "train", "validation"
SHARD_TOKENS = 1 << 27
"""Tokens, after which a shard ends with its document: 256 MiB of ids below 65,536."""
BATCH_CHARACTERS = 2_000_000
"""Text that is tokenised at once, on all processors."""
RECORD_S, SAY_S = 30.0, 5.0
WRONG, ENDED, ASKED_TO_STOP = 1, 75, 143
LEAST_READABLE = 0.99
"""Share of a file's documents; below it the key or the kind of the file is wrong rather than a document."""
PACKAGES = f"/tmp/trn-packages-{os.getuid()}"


class Wrong(Exception):
    """The set cannot be made; says why."""


class AskedToStop(Exception):
    """By SIGTERM; what is done is recorded."""


def say(event: str, **line: Any) -> None:
    """One line of progress."""
    print(json.dumps({"pack": event, **line}), flush=True)


class Pack:
    """One set while it is made."""

    def __init__(self, into: Path, text: Text, asked: Mapping[str, Any], request: str) -> None:
        """`request`: its digest. Raises Wrong where another one was begun in the folder."""
        self.into, self.text, self.request = into, text, request
        self.options, self.files = asked["options"], asked["files"]
        self.share = float(self.options.get("validation") or 0)
        kept = self._kept()
        self.file: int = kept.get("file", 0)
        self.records: int = kept.get("records", 0)
        """Documents of the file that are done, and of them those that could not be read."""
        self.unreadable: int = kept.get("unreadable", 0)
        self.counts: dict[str, int] = kept.get("counts") or {"documents": 0, "empty": 0, "unreadable": 0}
        self.writers = {
            split: Writer(into, split, text.kind, text.has_sentences, SHARD_TOKENS, kept.get("writers", {}).get(split))
            for split in (TRAIN, *([VALIDATION] if self.share else []))
        }
        self.began = self.recorded = self.said = time.monotonic()
        self.first = self.tokens
        self.is_stopping = False

    def _kept(self) -> dict[str, Any]:
        try:
            kept: dict[str, Any] = json.loads((self.into / STATE).read_text())
        except FileNotFoundError:
            return {}
        if kept["request"] != self.request:
            raise Wrong(another_set(self.into, "the beginning of a set"))
        say("resumed", files=kept["file"], of=len(self.files), records=kept["records"], **kept["counts"])
        return kept

    @property
    def tokens(self) -> int:
        """Of all splits."""
        return sum(writer.tokens for writer in self.writers.values())

    @property
    def speed(self) -> int:
        """Tokens per second of this run."""
        return round((self.tokens - self.first) / max(time.monotonic() - self.began, 1e-9))

    def run(self, get: Any) -> dict[str, Any]:
        """Packs all files; `get` brings one and gives its path. Returns the index. Raises Wrong, and AskedToStop."""
        while self.file < len(self.files):
            item = self.files[self.file]
            path = get(item)
            try:
                self._pack(Documents(path, item["name"], self.options.get("text") or "text", self.options.get("documents") or "blank-line"))
            except Unreadable as error:
                raise Wrong(f"{item['name']}: {error}") from error
            self.file, self.records, self.unreadable = self.file + 1, 0, 0
            self._record()
            self._progress(0.0)
            if "url" in item:
                path.unlink(missing_ok=True)
        return self._finish()

    def _pack(self, found: Documents) -> None:
        held, characters = list[str | None](), 0
        for text in found.read(self.records):
            held.append(whole(text))
            characters += len(text or "")
            if characters >= BATCH_CHARACTERS:
                self._add(held)
                held, characters = [], 0
                self._look_around(found.fraction)
        self._add(held)
        if not self.records:
            raise Unreadable("there is no document in it")
        if self.unreadable > (1 - LEAST_READABLE) * self.records:
            raise Unreadable(f"{self.unreadable} of its {self.records} documents have no text at `{found.key}`, or not in UTF-8")

    def _add(self, held: list[str | None]) -> None:
        documents = [text for text in held if text is not None]
        self.records += len(held)
        self.unreadable += len(held) - len(documents)
        self.counts["unreadable"] += len(held) - len(documents)
        for document, sentences in zip(documents, self.text.tokens(documents), strict=True):
            self.counts["documents" if sentences else "empty"] += 1
            if sentences:
                self.writers[self._split(document)].add(sentences)

    def _split(self, document: str) -> str:
        """By the text itself, so that a document that is there twice is not in both."""
        number = int.from_bytes(hashlib.blake2b(document.encode(), digest_size=8).digest(), "big")
        return VALIDATION if number < self.share * 2**64 else TRAIN

    def _look_around(self, fraction: float) -> None:
        now = time.monotonic()
        if self.is_stopping or now - self.recorded >= RECORD_S:
            self._record()
        if self.is_stopping:
            raise AskedToStop
        if now - self.said >= SAY_S:
            self._progress(fraction)

    def _record(self) -> None:
        """Puts on disk what is done, and notes how far that is."""
        for writer in self.writers.values():
            writer.flush()
        state = {split: writer.state() for split, writer in self.writers.items()}
        done = {"file": self.file, "records": self.records, "unreadable": self.unreadable, "counts": self.counts}
        write(self.into / STATE, {"request": self.request, **done, "writers": state})
        self.recorded = time.monotonic()

    def _progress(self, fraction: float) -> None:
        """Says how far it is; `fraction`: of the file that is read."""
        self.said = time.monotonic()
        sizes = [item.get("size") or 0 for item in self.files]
        known = sum(sizes[: self.file]) + (sizes[self.file] * fraction if self.file < len(sizes) else 0)
        share = known / sum(sizes) if all(sizes) else (self.file + fraction) / len(sizes)
        say("progress", files=self.file, of=len(sizes), share=round(share, 4), tokens=self.tokens, **self.counts, tokens_per_s=self.speed)

    def _finish(self) -> dict[str, Any]:
        splits = {split: writer.finish() for split, writer in self.writers.items()}
        if not splits[TRAIN]["tokens"]:
            raise Wrong(f"there is no text for training in the {len(self.files)} files, beside what `validation` keeps back")
        said = {"format": FORMAT, "type": self.text.kind, "tokenizer": self.text.about, "special": self.text.special, "splits": splits}
        # Of what is in the set and nothing else: the same text gives the same one, wherever it is made and however often it was killed.
        same = {**said, "tokenizer": {**self.text.about, "name": ""}}
        return {**said, "fingerprint": digest(same), "request": self.request, "counts": self.counts}


def whole(text: str | None) -> str | None:
    """The text; None where half a character is in it, which JSON can carry (a lone surrogate)."""
    try:
        (text or "").encode()
    except UnicodeEncodeError:
        return None
    return text


def digest(value: Any) -> str:
    """SHA-256 of plain values."""
    return hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()


def write(path: Path, value: Any) -> None:
    """Writes plain values in one piece."""
    partial = path.with_name(f"{path.name}.part")
    with partial.open("w") as file:
        json.dump(value, file, indent=1)
        file.flush()
        os.fsync(file.fileno())
    os.replace(partial, path)


def another_set(into: Path, what: str) -> str:
    """Why a folder is left as it is."""
    return f"{into} has {what} from other text, options or tokenizer: take another folder for `data.path`, or delete this one"


def files_below(place: Path, pattern: str | None) -> list[dict[str, Any]]:
    """Files of text in a folder, in the order of their names; or the one file. Raises Wrong."""
    found = {str(path.relative_to(place)): path for path in place.rglob("*") if path.is_file()} if place.is_dir() else {place.name: place}
    files = [{"name": name, "path": str(path), "size": path.stat().st_size} for name, path in sorted(found.items()) if path.is_file()]
    wanted = [item for item in files if is_wanted(item["name"], pattern)]
    if not wanted:
        why = "is not there" if not place.exists() else f"has no file that ends with {', '.join(KINDS)}, or with .gz or .zst behind it"
        raise Wrong(f"{place} {why}{f', and fits {pattern}' if pattern and place.exists() else ''}")
    return wanted


def import_packages() -> None:
    """Makes tokenizers and pyarrow importable. Raises Wrong where this Python has none and pip brings none."""
    sys.path.append(PACKAGES)
    if all(map(importlib.util.find_spec, ("tokenizers", "pyarrow"))):
        return
    listed = Path(__file__).with_name("packing.txt")
    if not listed.exists():
        raise Wrong(f"{sys.executable} has no tokenizers and pyarrow: `{sys.executable} -m pip install tokenizers pyarrow`")
    say("installing", packages="tokenizers, pyarrow")
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--target", PACKAGES, "--requirement", str(listed)]
    done = subprocess.run(pip, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, check=False)
    if done.returncode:
        last = (done.stderr.strip().splitlines() or [f"exit code {done.returncode}"])[-1]
        raise Wrong(f"this Python has no tokenizers and pyarrow, and pip brings none ({last}): name an image that has them by --image")
    importlib.invalidate_caches()


def run(asked: dict[str, Any], into: Path) -> dict[str, Any]:
    """Makes the set; what is said at the end. Raises Wrong, AskedToStop, and what stage.py raises."""
    asked = {**asked, "files": asked.get("files") or files_below(Path(asked["from"]), asked["options"].get("files"))}
    raw = into / RAW

    def get(item: Mapping[str, Any], place: Path = raw / "text") -> Path:
        if "url" not in item:
            return Path(item["path"])
        say("fetching", name=item["name"], size=item.get("size"))
        folder = stage.Folder(place)
        stage.fetch(dict(item), folder)
        return folder.place(item["name"])

    import_packages()
    tokenizer = asked["tokenizer"]
    # Apart: a file of the text may have its name.
    path = get(tokenizer, raw / "tokenizer")
    if not path.is_file():
        raise Wrong(f"the tokenizer {path} is not there")
    try:
        text = Text(tokenizer.get("title") or tokenizer["name"], path.read_bytes(), asked["options"])
    except Unfit as error:
        raise Wrong(str(error)) from error
    named = [[item["name"], *(item.get(key) or "" for key in ("size", "etag", "sha256"))] for item in asked["files"]]
    options = {key: value for key, value in asked["options"].items() if key not in ("tokenizer", "revision")}
    request = digest([FORMAT, SHARD_TOKENS, text.about["sha256"], options, named])
    if (into / INDEX).exists():
        index: dict[str, Any] = json.loads((into / INDEX).read_text())
        if index.get("request") != request:
            raise Wrong(another_set(into, "a set"))
        speed = None
    else:
        pack = Pack(into, text, asked, request)

        def stop(_number: int, _frame: object) -> None:
            pack.is_stopping = True

        signal.signal(signal.SIGTERM, stop)
        signal.signal(signal.SIGINT, stop)
        index, speed = pack.run(get), pack.speed
        shutil.copyfile(path, into / "tokenizer.json")
        write(into / INDEX, index)
    (into / STATE).unlink(missing_ok=True)
    shutil.rmtree(raw, ignore_errors=True)
    splits = {name: {part: split[part] for part in ("tokens", "documents")} for name, split in index["splits"].items()}
    return {"fingerprint": index["fingerprint"], "splits": splits, **index["counts"], "tokens_per_s": speed}


def main() -> int:
    """The command line."""
    parser = argparse.ArgumentParser(description="make a set of token shards from text")
    parser.add_argument("--request", type=Path, required=True)
    parser.add_argument("--into", type=Path, required=True)
    given = parser.parse_args()
    given.into.mkdir(parents=True, exist_ok=True)
    with (given.into / LOCK).open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            say("done", **run(json.loads(gzip.decompress(given.request.read_bytes())), given.into))
        except BlockingIOError:
            say("failed", why=f"another run makes a set in {given.into}")
            return WRONG
        except stage.Ended as error:
            say("ended", why=str(error))
            return ENDED
        except AskedToStop:
            say("stopped")
            return ASKED_TO_STOP
        except (Wrong, stage.Wrong, OSError, http.client.HTTPException) as error:
            say("failed", why=str(error))
            return WRONG
    return 0


if __name__ == "__main__":
    sys.exit(main())
