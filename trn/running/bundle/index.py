"""The index of a bundle: what each file is, where it is from, and what could not be got and why."""

from collections.abc import Iterator, Sequence
from datetime import datetime

from trn.running.bundle.part import Outcome

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
