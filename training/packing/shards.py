"""Shards of tokens while they are written: what is on disk at a checkpoint is gone on from, to the byte. Runs in a pod; standard library only.

training/recipes/shared/token_data.py says what is in the files, and reads them.
"""

from __future__ import annotations

import hashlib
import os
from array import array
from pathlib import Path
from typing import Any, BinaryIO

SIZES = {"uint16": "H", "uint32": "I"}
PARTS = ("tokens", "documents", "sentences")
CHUNK = 1 << 20


class Writer:
    """The shards of one split."""

    def __init__(self, folder: Path, split: str, kind: str, has_sentences: bool, limit: int, kept: dict[str, Any] | None) -> None:
        """`kind`: uint16 or uint32; `limit`: tokens, after which a shard ends with its document; `kept`: what `state` said when all was on disk."""
        self.folder, self.split, self.limit = folder, split, limit
        self.types = {"tokens": SIZES[kind], "documents": "I", **({"sentences": "I"} if has_sentences else {})}
        self.shards: list[dict[str, Any]] = kept["shards"] if kept else []
        self.counts: dict[str, int] = kept["counts"] if kept else dict.fromkeys(PARTS, 0)
        self.files: dict[str, BinaryIO] = {}
        self.buffers: dict[str, array[int]] = {}
        self._open()

    def _path(self, part: str) -> Path:
        return self.folder / f"{self.split}-{len(self.shards):05}.{part}"

    def _open(self) -> None:
        """Goes on with a shard where it was: what came after is cut off."""
        for part, code in self.types.items():
            path, size = self._path(part), self.counts[part] * array(code).itemsize
            path.touch()
            if path.stat().st_size < size:
                raise OSError(f"{path} is shorter than it was written")
            os.truncate(path, size)
            self.files[part], self.buffers[part] = path.open("ab"), array(code)

    def add(self, sentences: list[list[int]]) -> None:
        """One document."""
        if self.counts["tokens"] >= self.limit:
            self._end()
        self._put("documents", self.counts["tokens"])
        for ids in sentences:
            if "sentences" in self.types:
                self._put("sentences", self.counts["tokens"])
            self.buffers["tokens"].extend(ids)
            self.counts["tokens"] += len(ids)

    def _put(self, part: str, value: int) -> None:
        self.buffers[part].append(value)
        self.counts[part] += 1

    def flush(self) -> None:
        """Waits until all is on disk."""
        for part, file in self.files.items():
            file.write(self.buffers[part])
            self.buffers[part] = array(self.types[part])
            file.flush()
            os.fsync(file.fileno())

    def _end(self) -> None:
        """Ends a shard, and begins the next one."""
        about: dict[str, Any] = {"name": f"{self.split}-{len(self.shards):05}", **self.counts}
        for part in self.types:
            if part != "tokens":
                self._put(part, about["tokens"])
        self.flush()
        self.close()
        total = hashlib.sha256()
        for part in self.files:
            with self._path(part).open("rb") as written:
                while chunk := written.read(CHUNK):
                    total.update(chunk)
        self.shards.append({**about, "sha256": total.hexdigest()})
        self.counts = dict.fromkeys(PARTS, 0)
        self._open()

    def state(self) -> dict[str, Any]:
        """What another run needs to go on from here, once `flush` has been called."""
        return {"shards": self.shards, "counts": dict(self.counts)}

    def finish(self) -> dict[str, Any]:
        """Ends the last shard; what the index says of the split."""
        if self.counts["tokens"]:
            self._end()
        self.close()
        for part in self.files:
            self._path(part).unlink()
        return {part: sum(shard[part] for shard in self.shards) for part in PARTS} | {"shards": self.shards}

    def close(self) -> None:
        """Lets the files go; what `flush` has not written is lost."""
        for file in self.files.values():
            file.close()

    @property
    def tokens(self) -> int:
        """Of all shards until now."""
        return self.counts["tokens"] + sum(shard["tokens"] for shard in self.shards)
