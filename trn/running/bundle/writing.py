"""From what was read to the files of a bundle: redacted, no larger than they may be, with an index of what each is."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from trn.cli.control_characters import escaped
from trn.running.bundle.part import YAML, Outcome
from trn.running.bundle.redact import Redactor

PART_BYTES, LOG_BYTES, TOTAL_BYTES = 1 << 20, 64 << 10, 24 << 20
"""Largest file, largest log, and all files together before they are packed."""
READ_BYTES = 4 * LOG_BYTES
"""Of a log that is read: more than is kept, so that no secret is cut in two before it is seen."""
LOG = ".log"


@dataclass(frozen=True)
class Written:
    """Text of a file."""

    text: str
    cut: str = ""
    """What was left out for its size."""


def written(found: Any, file: str, redactor: Redactor) -> str:
    """The text of what was read, without secrets and control characters."""
    if isinstance(found, str):
        text = found[-READ_BYTES:] if file.endswith(LOG) else found[: 4 * PART_BYTES]
        return escaped(redactor.text(text, is_yaml=file.endswith(YAML)))
    return escaped(json.dumps(redactor.value(found), indent=1, ensure_ascii=False, default=str)) + "\n"


def bounded(text: str, file: str) -> Written:
    """The end of a log, or the beginning of any other text, in whole lines."""
    most = LOG_BYTES if file.endswith(LOG) else PART_BYTES
    encoded = text.encode(errors="backslashreplace")
    if len(encoded) <= most:
        return Written(encoded.decode())
    if file.endswith(LOG):
        kept = encoded[-most:].decode(errors="ignore")
        return Written(kept.partition("\n")[2] or kept, f"its last {most >> 10} of {len(encoded) >> 10} KiB")
    kept = encoded[:most].decode(errors="ignore")
    return Written(kept.rpartition("\n")[0] or kept, f"its first {most >> 10} of {len(encoded) >> 10} KiB")


NAME = "index.md"
_BEFORE = """What `trn bundle` could read of the stack, and nothing that was changed.

Secrets are replaced by `[redacted]`: values under names such as `password`, `token` or `key`, all variables of containers but those of
the launchers and of Neuron, tokens and keys of known shapes, private keys, passwords in URLs, Pulumi's secrets; and each of these
wherever else it stands. A password that nothing names is not recognised: look before you send it. Names, addresses, ARNs and
account ids are kept. Secret and ConfigMap objects are never read."""


def index(stack: str, at: datetime, outcomes: Sequence[Outcome], notes: Sequence[str]) -> str:
    """The page."""
    return "\n".join(_lines(stack, at, outcomes, notes)) + "\n"


def _lines(stack: str, at: datetime, outcomes: Sequence[Outcome], notes: Sequence[str]) -> Iterator[str]:
    yield from (f"# Bundle of stack {stack}, {at:%Y-%m-%d %H:%M:%S} UTC", "", _BEFORE, "")
    for note in notes:
        yield from (f"**{note}**", "")
    yield from ("| file | what it is | read by | size | left out |", "| --- | --- | --- | --- | --- |")
    for it in outcomes:
        if it.text is not None:
            yield f"| {it.part.file} | {it.part.what} | {_cell(it.part.source)} | {len(it.text.encode()):,} bytes | {_cell(it.why)} |"
    for title, wanted in (("Could not be got", False), ("Not there", True)):
        found = [it for it in outcomes if it.text is None and it.is_absent == wanted]
        yield from ("", f"## {title}", "")
        yield from (f"- {it.part.what} ({it.part.file}, by {it.part.source}): {it.why}" for it in found)
        if not found:
            yield "Nothing."


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")
