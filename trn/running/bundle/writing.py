"""From what was read to the text of a file: redacted, and no larger than it may be."""

import json
from dataclasses import dataclass
from typing import Any

from trn.change.clients import access
from trn.cli.control_characters import escaped
from trn.running.bundle.part import YAML
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
        return access().words(escaped(redactor.text(text, is_yaml=file.endswith(YAML))))
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
