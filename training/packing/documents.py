"""Documents of a file: plain text, JSON lines or parquet, each also packed by gzip or Zstandard. Runs in a pod; parquet and Zstandard need pyarrow."""

from __future__ import annotations

import fnmatch
import gzip
import io
import itertools
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

KINDS = {".parquet": "parquet", ".jsonl": "lines", ".ndjson": "lines", ".json": "lines", ".txt": "text", ".text": "text"}
"""What a file is, by the end of its name; others are passed over."""
PACKED = (".gz", ".zst")
ROWS = 1024
BLANK_LINE, LINE, FILE = "blank-line", "line", "file"
"""What separates the documents of plain text. By blank lines as in the data of Devlin et al. (google-research/bert, README, pre-training)."""


class Unreadable(Exception):
    """A file has no documents as they are asked for; says why."""


def kind_of(name: str) -> str | None:
    """`parquet`, `lines` or `text` by a file's name; None for any other file."""
    plain = name[: -len(Path(name).suffix)] if Path(name).suffix in PACKED else name
    kind = KINDS.get(Path(plain).suffix)
    return None if kind == "parquet" and plain != name else kind


def is_wanted(name: str, pattern: str | None) -> bool:
    """Whether a file is one of text, and fits the pattern where there is one. What is hidden is another program's."""
    return kind_of(name) is not None and not name.startswith(".") and "/." not in name and (not pattern or fnmatch.fnmatch(name, pattern))


class Documents:
    """The documents of one file, in order. `fraction` says how far they are read."""

    def __init__(self, path: Path, name: str, key: str, division: str) -> None:
        """`name`: decides the kind; `key`: of the text in a line of JSON or a row; `division`: of plain text."""
        self.path, self.name, self.key, self.division = path, name, key, division
        self.fraction = 0.0

    def read(self, skip: int) -> Iterator[str | None]:
        """Text of each document behind the first `skip`; None for one that cannot be read. Raises Unreadable."""
        kind = kind_of(self.name)
        if kind == "parquet":
            return self._rows(skip)
        return self._parsed(skip) if kind == "lines" else itertools.islice(self._divided(), skip, None)

    def _rows(self, skip: int) -> Iterator[str | None]:
        import pyarrow
        import pyarrow.parquet

        try:
            table = pyarrow.parquet.ParquetFile(self.path)
        except (OSError, pyarrow.ArrowInvalid) as error:
            raise Unreadable(f"it is no parquet: {error}") from error
        with table:
            columns = table.schema_arrow.names
            if self.key not in columns:
                raise Unreadable(f"it has no column `{self.key}`; columns there: {', '.join(columns)}")
            groups, done = list(range(table.num_row_groups)), 0
            while groups and done + table.metadata.row_group(groups[0]).num_rows <= skip:
                done += table.metadata.row_group(groups.pop(0)).num_rows
            if not groups:
                return
            for batch in table.iter_batches(ROWS, row_groups=groups, columns=[self.key]):
                for value in batch.column(0).to_pylist():
                    done += 1
                    self.fraction = done / table.metadata.num_rows
                    if done > skip:
                        yield value if isinstance(value, str) else None

    def _parsed(self, skip: int) -> Iterator[str | None]:
        for number, line in enumerate(line for line in self._lines() if line.strip()):
            if number < skip:
                continue
            try:
                found: Any = json.loads(line)
            except (ValueError, RecursionError):
                found = None
            text = found.get(self.key) if isinstance(found, dict) else None
            if number == 0 and not isinstance(text, str):
                raise Unreadable(_no_line(found, self.key))
            yield text if isinstance(text, str) else None

    def _divided(self) -> Iterator[str | None]:
        """Documents of plain text."""
        held = list[bytes]()
        for line in self._lines():
            if self.division == LINE:
                yield _decoded(line)
            elif line.strip() or self.division == FILE:
                held.append(line)
            elif held:
                yield _decoded(b"".join(held))
                held = []
        if held:
            yield _decoded(b"".join(held))

    def _lines(self) -> Iterator[bytes]:
        size = self.path.stat().st_size
        with self.path.open("rb") as raw:
            try:
                for line in _unpacked(raw, self.name):
                    self.fraction = raw.tell() / size if size else 1.0
                    yield line
            except (OSError, EOFError) as error:
                raise Unreadable(f"it breaks off or is not packed as its name says: {error}") from error


def _unpacked(raw: Any, name: str) -> Any:
    if name.endswith(".gz"):
        return gzip.GzipFile(fileobj=raw)
    if name.endswith(".zst"):
        import pyarrow

        return io.BufferedReader(pyarrow.CompressedInputStream(raw, "zstd"))
    return raw


def _decoded(text: bytes) -> str | None:
    """Text of a document, without the line ends around it."""
    try:
        return text.decode().strip("\r\n")
    except UnicodeDecodeError:
        return None


def _no_line(found: Any, key: str) -> str:
    """Why a first line is none of JSON lines with the key."""
    if not isinstance(found, dict):
        return "its first line is no JSON object: JSON lines have one on each line"
    return f"its first line has no text at the key `{key}`; keys there: {', '.join(map(str, found))}"
