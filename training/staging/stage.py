"""Brings files to a folder by HTTP: `python3 stage.py --list LIST.json.gz --into FOLDER`. Runs in a pod; standard library only.

Each file is written beside its place, verified, and named when it is whole. A file that broke off goes on where it was, one that is there
is not read again, so the script can be run as often as it takes. What is there under its name, differs and was written by nobody's run of
this script is left as it is. LIST: [{"name", "url", "size", "etag", "sha256", "replace", "token"}], of which `name` and `url` must be there;
`replace` is true where it may take the place of another's file; `token` is sent to the address's own host. What a file is verified by, the best that is known of it: its SHA-256; the MD5 that S3's ETag is, or is made of
(Amazon S3 user guide, checking object integrity); else its size alone, and the last line says of how many that holds.

Exit codes: 0 all there; 1 a file could not be had or is not what it should be; 75 the addresses have ended, make new ones and run it again.
"""

from __future__ import annotations

import argparse
import gzip
import hashlib
import http.client
import json
import os
import re
import sys
import threading
import time
import urllib.error
import urllib.request
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

RECORD = ".trn-stage.json"
PART = ".trn-stage.part"
"""End of the name of what is not whole: no other program's."""
CHUNK = 1 << 20
TRIES = 5
ENDED = 75
PARTS_MIB = (5, 8, 10, 15, 16, 20, 25, 32, 50, 64, 100, 128, 256, 512)
"""Part sizes of usual clients: by them an ETag of parts can be made again (8 is the AWS CLI's)."""
LOCK = threading.Lock()


class Ended(Exception):
    """An address is no longer good."""


class Wrong(Exception):
    """A file is not what it should be."""


def say(**line: Any) -> None:
    """One line of progress."""
    with LOCK:
        print(json.dumps({"stage": line.pop("event"), **line}), flush=True)


class Sums:
    """All sums of a file that may be asked for, over one reading."""

    def __init__(self, etag: str, size: int | None) -> None:
        self.etag, self.size = etag, size
        self.sha256, self.md5 = hashlib.sha256(), hashlib.md5(usedforsecurity=False)
        parts = re.fullmatch(r"[0-9a-f]{32}-([0-9]+)", etag)
        count = int(parts[1]) if parts else 0
        fits = [mib << 20 for mib in PARTS_MIB if count and size is not None and -(-size // (mib << 20)) == count]
        self.parts = [Parts(length) for length in fits]

    def update(self, data: bytes) -> None:
        """More of the file."""
        self.sha256.update(data)
        self.md5.update(data)
        for parts in self.parts:
            parts.update(data)

    def verified(self, sha256: str, encryption: str) -> str:
        """By what the file is verified; raises Wrong. `encryption`: S3's, under a key of KMS an ETag is no sum."""
        if sha256:
            if self.sha256.hexdigest() != sha256:
                raise Wrong(f"SHA-256 is {self.sha256.hexdigest()}, not {sha256}")
            return "sha256"
        if re.fullmatch("[0-9a-f]{32}", self.etag) and encryption in ("", "AES256"):
            if self.md5.hexdigest() != self.etag:
                raise Wrong(f"MD5 is {self.md5.hexdigest()}, not {self.etag}")
            return "md5"
        return "md5 of parts" if any(parts.etag() == self.etag for parts in self.parts) else "size"


class Parts:
    """The ETag of an upload in parts of one length."""

    def __init__(self, length: int) -> None:
        self.length, self.filled = length, 0
        self.now, self.done = hashlib.md5(usedforsecurity=False), list[bytes]()

    def update(self, data: bytes) -> None:
        """More of the file."""
        while data:
            taken, data = data[: self.length - self.filled], data[self.length - self.filled :]
            self.now.update(taken)
            self.filled += len(taken)
            if self.filled == self.length:
                self.done.append(self.now.digest())
                self.now, self.filled = hashlib.md5(usedforsecurity=False), 0

    def etag(self) -> str:
        """As S3 writes it."""
        digests = [*self.done, *([self.now.digest()] if self.filled else [])]
        return f"{hashlib.md5(b''.join(digests), usedforsecurity=False).hexdigest()}-{len(digests)}"


class Folder:
    """The folder, and the record of what is whole in it."""

    def __init__(self, path: Path) -> None:
        self.path = path
        path.mkdir(parents=True, exist_ok=True)
        try:
            self.record: dict[str, Any] = json.loads((path / RECORD).read_text())
        except (OSError, ValueError):
            self.record = {}

    def place(self, name: str) -> Path:
        """Where a file goes; raises Wrong for a name that leads out of the folder."""
        if not name or name.startswith("/") or ".." in name.split("/"):
            raise Wrong("its name leads out of the folder")
        return self.path / name

    def has(self, item: dict[str, Any]) -> bool:
        """Whether a file is there as it should be: recorded when it was verified, and of the same size since."""
        kept, place = self.record.get(item["name"]), self.place(item["name"])
        if kept is None or not place.is_file() or place.stat().st_size != kept["bytes"]:
            return False
        return all(not item.get(key) or item[key] == kept.get(key) for key in ("etag", "sha256")) and item.get("size") in (
            None,
            kept["bytes"],
        )

    def may_write(self, item: dict[str, Any]) -> bool:
        """Whether the name is free, what is there was written by a run of this script, or may be replaced.

        False where the wanted file is there already, by its sums: it is recorded. Raises Wrong for anything else.
        """
        place, kept = self.place(item["name"]), self.record.get(item["name"])
        if item.get("replace") or not os.path.lexists(place):
            return True
        if place.is_file():
            size = place.stat().st_size
            sums = Sums(item.get("etag") or "", item.get("size"))
            with place.open("rb") as file:
                while chunk := file.read(CHUNK):
                    sums.update(chunk)
            try:
                by = "size" if item.get("size") not in (None, size) else sums.verified(item.get("sha256") or "", "")
            except Wrong:
                by = "size"
            if by != "size":
                self.keep(item, size, sums.sha256.hexdigest(), by)
                return False
            if kept is not None and kept["sha256"] == sums.sha256.hexdigest():
                return True
        raise Wrong(
            "another file of this name is there, and no staging wrote it: it is left as it is; --replace brings this one in its place"
        )

    def keep(self, item: dict[str, Any], size: int, sha256: str, by: str) -> None:
        """Note that a file is whole."""
        with LOCK:
            self.record[item["name"]] = {"bytes": size, "sha256": sha256, "etag": item.get("etag", ""), "by": by}
            partial = self.path / f"{RECORD}.part"
            partial.write_text(json.dumps(self.record, indent=0))
            os.replace(partial, self.path / RECORD)


def stamp(place: Path) -> tuple[int, int, int] | None:
    """What changes where a file is written: another one, its length, its time. None where there is none."""
    try:
        found = os.lstat(place)
    except FileNotFoundError:
        return None
    return found.st_ino, found.st_size, found.st_mtime_ns


def fetch(item: dict[str, Any], folder: Folder) -> tuple[str, int]:
    """Bring one file; by what it was verified, and the bytes that were read. Raises Ended, Wrong, OSError."""
    if folder.has(item):
        return "kept", 0
    place = folder.place(item["name"])
    before = stamp(place)
    if not folder.may_write(item):
        return "kept", 0
    part = place.with_name(f"{place.name}{PART}")
    part.parent.mkdir(parents=True, exist_ok=True)
    read, again = 0, False
    for attempt in range(TRIES):
        try:
            sums, size, encryption, more = download(item, part)
            read += more
            if item.get("size") not in (None, size):
                raise Wrong(f"it has {size} bytes, not {item['size']}")
            by = sums.verified(item.get("sha256") or "", encryption)
        except Wrong:
            part.unlink(missing_ok=True)
            # Once more from the beginning: what was there before may have been the wrong half.
            if again:
                raise
            again = True
            continue
        except urllib.error.HTTPError as error:
            if error.code == 403:
                raise Ended(str(error)) from error
            if error.code in (412, 416):
                part.unlink(missing_ok=True)
            elif error.code < 500 or attempt == TRIES - 1:
                raise
            time.sleep(WAIT_S * 2**attempt)
            continue
        except (OSError, http.client.HTTPException):
            if attempt == TRIES - 1:
                raise
            time.sleep(WAIT_S * 2**attempt)
            continue
        with part.open("rb") as file:
            os.fsync(file.fileno())
        if stamp(place) != before:
            raise Wrong("somebody wrote a file of this name meanwhile: it is left as it is")
        os.replace(part, place)
        folder.keep(item, size, sums.sha256.hexdigest(), by)
        return by, read
    raise OSError(f"it broke off {TRIES} times")


def download(item: dict[str, Any], part: Path) -> tuple[Sums, int, str, int]:
    """The rest of a file: its sums, its size, how S3 keeps it, and the bytes that were read."""
    sums, start = Sums(item.get("etag") or "", item.get("size")), part.stat().st_size if part.exists() else 0
    if item.get("size") is not None and start >= item["size"] > 0:
        # Its last byte is read again: what the file is verified by depends on what the server says with it.
        start = item["size"] - 1
        os.truncate(part, start)
    if start:
        with part.open("rb") as file:
            while chunk := file.read(CHUNK):
                sums.update(chunk)
    headers = {"Range": f"bytes={start}-"} if start else {}
    if start and item.get("etag"):
        headers["If-Match"] = f'"{item["etag"]}"'
    request = urllib.request.Request(item["url"], headers=headers)
    if item.get("token"):
        # Where it leads to another host, that one is not told.
        request.add_unredirected_header("Authorization", f"Bearer {item['token']}")
    with urllib.request.urlopen(request, timeout=60) as answer:
        if start and answer.status != 206:
            # The whole file again: the server passes over the range.
            sums, start = Sums(item.get("etag") or "", item.get("size")), 0
        expected = answer.headers.get("Content-Length")
        read = 0
        with part.open("ab" if start else "wb") as file:
            while chunk := answer.read(CHUNK):
                file.write(chunk)
                sums.update(chunk)
                read += len(chunk)
        if expected is not None and read != int(expected):
            raise OSError(f"it broke off after {start + read} bytes")
        return sums, start + read, answer.headers.get("x-amz-server-side-encryption", ""), read


WAIT_S = 1.0


def run(items: list[dict[str, Any]], into: Path, threads: int) -> int:
    """Bring all files; the exit code."""
    folder, began = Folder(into), time.monotonic()
    ways: Counter[str] = Counter()
    failed, ended, total = list[str](), False, 0

    def one(item: dict[str, Any]) -> None:
        nonlocal ended, total
        if ended:
            return
        try:
            by, read = fetch(item, folder)
        except Ended as error:
            ended = True
            say(event="ended", name=item["name"], why=str(error))
        except (Wrong, OSError, http.client.HTTPException) as error:
            failed.append(item["name"])
            say(event="failed", name=item["name"], why=str(error))
        else:
            with LOCK:
                ways[by] += 1
                total += read
            say(event="file", name=item["name"], by=by, bytes=read, files=sum(ways.values()), of=len(items))

    with ThreadPoolExecutor(threads) as pool:
        list(pool.map(one, items))
    say(event="done", files=sum(ways.values()), of=len(items), bytes=total, verified=dict(ways), seconds=round(time.monotonic() - began, 1))
    return ENDED if ended else 1 if failed else 0


def main() -> int:
    """The command line."""
    parser = argparse.ArgumentParser(description="bring files to a folder by HTTP")
    parser.add_argument("--list", type=Path, required=True)
    parser.add_argument("--into", type=Path, required=True)
    parser.add_argument("--threads", type=int, default=8)
    asked = parser.parse_args()
    return run(json.loads(gzip.decompress(asked.list.read_bytes())), asked.into, asked.threads)


if __name__ == "__main__":
    sys.exit(main())
