"""How a fault is written on the command line: `NAME[@resource][:n]`."""

import re
from dataclasses import dataclass

_FORM = re.compile(r"(?P<name>[a-z][a-z0-9-]*)(@(?P<resource>[^@:\s]+))?(:(?P<count>\d+))?")


class FaultSyntaxError(ValueError):
    """A fault that is not of the form."""

    def __init__(self, wrong: str, hint: str) -> None:
        super().__init__(wrong)
        self.hint = hint


@dataclass(frozen=True)
class FaultRequest:
    """One fault as it was asked for; whether there is such a fault and such a resource is not known here."""

    name: str
    resource: str | None = None
    """Logical name; None where the text names none."""
    count: int | None = None
    """How often it happens, at least 1; None where the text does not say."""

    def __str__(self) -> str:
        return self.name + (f"@{self.resource}" if self.resource else "") + (f":{self.count}" if self.count else "")


def parse_fault(text: str) -> FaultRequest:
    """A fault from its text, such as `no-capacity@trn1-32xl:2`.

    Raises FaultSyntaxError, with a hint.
    """
    found = _FORM.fullmatch(text)
    if found is None:
        raise FaultSyntaxError(
            f"`{text}` is no fault\n  allowed: NAME, NAME@RESOURCE, NAME:TIMES or NAME@RESOURCE:TIMES",
            "write for example `no-capacity@trn1-32xl:2`",
        )
    count = found["count"]
    if count is not None and int(count) == 0:
        raise FaultSyntaxError(f"the fault `{text}` would happen 0 times\n  allowed: at least 1", f"leave it out, or write `{text[:-1]}1`")
    return FaultRequest(found["name"], found["resource"], None if count is None else int(count))
