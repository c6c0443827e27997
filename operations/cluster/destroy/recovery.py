"""What `pulumi destroy` may fail with, and what is tried next: a pure function of what it printed.

Sources of the texts: the Kubernetes provider 4.34 and the engine, measured without an account, 2026-11-21.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from operations.errors import MISUSE, CommandError

TRIES = 3
UNREACHABLE = ("configured Kubernetes cluster is unreachable", "unreachable cluster")
LOCKED = ("the stack is currently locked", "Another update is currently in progress")
NO_STACK = ("no stack named",)
UNREACHABLE_SWITCH = "PULUMI_K8S_DELETE_UNREACHABLE"


@dataclass(frozen=True)
class Attempt:
    """Pulumi commands of one try, with their environment variables."""

    commands: tuple[tuple[str, ...], ...]
    environment: tuple[tuple[str, str], ...] = ()
    why: str = ""


def first(stack: str) -> Attempt:
    """The plain way."""
    return Attempt((_destroy(stack),))


def following(stack: str, printed: str, tried: Sequence[Attempt]) -> Attempt | None:
    """What to try after a failure, None when the tries are used up.

    Raises CommandError where trying again would be wrong.
    """
    refuse_misuse(stack, printed)
    if len(tried) >= TRIES:
        return None
    switch = ((UNREACHABLE_SWITCH, "true"),) if _says(printed, UNREACHABLE) or any(attempt.environment for attempt in tried) else ()
    # A refresh drops what is gone, a release whose uninstall ran out of time among it: destroy would fail on it for ever. With the
    # switch it drops what lived in a cluster that is gone; destroy alone does not drop releases. What a killed run was making, and
    # may have made, is cleared from the state: the sweep finds it by its tags.
    why = "the API server is gone: dropping what lived in it" if switch else "reading again what is there"
    return Attempt((_refresh(stack), _destroy(stack)), switch, why)


def refuse_misuse(stack: str, printed: str) -> None:
    """Raises CommandError where Pulumi failed for a reason that only a person can fix."""
    if _says(printed, NO_STACK):
        raise CommandError(
            f"Pulumi knows no stack `{stack}` here", "`pulumi stack ls` lists them; `pulumi login` chooses where", code=MISUSE
        )
    if _says(printed, LOCKED):
        hint = f"wait for the other run; if there is none, `pulumi cancel --stack {stack}`, then run this again"
        raise CommandError(f"another run holds the lock of stack `{stack}`", hint)


def _destroy(stack: str) -> tuple[str, ...]:
    return ("pulumi", "destroy", "--yes", "--stack", stack)


def _refresh(stack: str) -> tuple[str, ...]:
    return ("pulumi", "refresh", "--yes", "--clear-pending-creates", "--stack", stack)


def _says(printed: str, texts: Sequence[str]) -> bool:
    return any(text.lower() in printed.lower() for text in texts)
