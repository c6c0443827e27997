"""A container's log on disk, in the format of the container runtime interface, and the part of it that a request wants. Pure.

A line: time, stream, `F` for a full line or `P` for a part of one, text (kubernetes/design-proposals-archive:node/kubelet-cri-logging.md).
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from tests.kubernetes.kubelet.times import as_seconds


@dataclass(frozen=True)
class Wanted:
    """What of a log a request wants."""

    tail_lines: int | None = None
    since_s: float | None = None
    """Only lines from this time on; seconds since 1970."""
    limit_bytes: int | None = None
    timestamps: bool = False


class BadRequest(ValueError):
    """A query that the kubelet does not understand."""


def read_query(query: Mapping[str, str], now_s: float) -> Wanted:
    """A request's query as the API server passes it on. Raises BadRequest."""
    try:
        since = as_seconds(query["sinceTime"]) if query.get("sinceTime") else None
        if query.get("sinceSeconds"):
            since = now_s - int(query["sinceSeconds"])
        return Wanted(
            int(query["tailLines"]) if query.get("tailLines") else None,
            since,
            int(query["limitBytes"]) if query.get("limitBytes") else None,
            query.get("timestamps") == "true",
        )
    except ValueError as error:
        raise BadRequest(str(error)) from error


def format_line(time_text: str, stream: str, text: bytes, full: bool) -> bytes:
    """One line of the file."""
    return b"%s %s %s %s\n" % (time_text.encode(), stream.encode(), b"F" if full else b"P", text)


def select(lines: Iterable[bytes], wanted: Wanted) -> bytes:
    """The text of the lines that are wanted, as `kubectl logs` prints it."""
    chosen = [line for line in lines if line.endswith(b"\n") and (wanted.since_s is None or _time_s(line) >= wanted.since_s)]
    if wanted.tail_lines is not None:
        chosen = chosen[-wanted.tail_lines :] if wanted.tail_lines else []
    text = b"".join(show(line, wanted.timestamps) for line in chosen)
    return text if wanted.limit_bytes is None else text[: wanted.limit_bytes]


def show(line: bytes, timestamps: bool) -> bytes:
    """A line of the file as it is printed: a part of a line has no line end."""
    time_text, _, flag, text = line.rstrip(b"\n").split(b" ", 3)
    return (time_text + b" " if timestamps else b"") + text + (b"\n" if flag == b"F" else b"")


def _time_s(line: bytes) -> float:
    return as_seconds(line.partition(b" ")[0].decode())
