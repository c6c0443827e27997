"""What `pulumi destroy` may fail with, and what is tried next: a pure function of what it printed.

Sources of the texts: the Kubernetes provider 4.34 and the engine, measured without an account, 2026-11-21.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from facts.typed import typed
from trn.cli.errors import MISUSE, CommandError
from trn.cli.voice import current
from trn.engine.pulumi import NO_STACK, Pulumi, says

TRIES = 3
UNREACHABLE = ("configured Kubernetes cluster is unreachable", "unreachable cluster")
LOCKED = ("the stack is currently locked", "Another update is currently in progress")
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


def following(stack: str, printed: str, tried: Sequence[Attempt], status: Callable[[], str]) -> Attempt | None:
    """What to try after a failure, None when the tries are used up.

    `status`: EKS's word for the stack's cluster, empty where EKS says that there is none: only that is gone. Raises CommandError
    where trying again would be wrong.
    """
    refuse_misuse(stack, printed)
    unreachable = says(printed, UNREACHABLE)
    if unreachable:
        refuse_still_there(stack, status())
    if len(tried) >= TRIES:
        return None
    switch = ((UNREACHABLE_SWITCH, "true"),) if unreachable or any(attempt.environment for attempt in tried) else ()
    # A refresh drops what is gone, a release whose uninstall ran out of time among it: destroy would fail on it for ever. With the
    # switch it drops what lived in a cluster that is gone; destroy alone does not drop releases. What a killed run was making, and
    # may have made, is cleared from the state: the sweep finds it by its tags.
    why = "the API server is gone: dropping what lived in it" if switch else "reading again what is there"
    return Attempt((_refresh(stack), _destroy(stack)), switch, why)


def refuse_still_there(stack: str, status: str) -> None:
    """Raises CommandError where EKS still has the cluster that cannot be reached: a way to it is missing, the cluster is not."""
    if status:
        wrong = f"the API server of stack `{stack}` cannot be reached, but EKS still has the cluster ({status}): nothing in it was dropped"
        hint = (
            f"`{typed('trn kubeconfig')}` and kubectl show whether you get there: your address in `controlPlane.publicAccessCidrs`, the VPN;"
            " then run this again; while it is DELETING, wait until it is gone"
        )
        raise CommandError(wrong, hint)


def refuse_misuse(stack: str, printed: str) -> None:
    """Raises CommandError where Pulumi failed for a reason that only a person can fix."""
    if says(printed, NO_STACK):
        voice = current()
        there = (
            f"`{typed('pulumi up')}` brings it up"
            if voice is not None and voice.is_practice
            else f"`{typed('pulumi stack ls')}` lists them, `pulumi login` chooses where"
        )
        raise CommandError(
            f"Pulumi knows no stack `{stack}` here",
            f"{there}; if it was destroyed, `{typed(f'trn sweep {stack} --delete')}` ends what is left of it",
            code=MISUSE,
        )
    if says(printed, LOCKED):
        hint = f"wait for the other run; if there is none, `{typed(f'pulumi cancel --stack {stack}')}`, then run this again"
        raise CommandError(f"another run holds the lock of stack `{stack}`", hint)


def _destroy(stack: str) -> tuple[str, ...]:
    return ("pulumi", "destroy", "--yes", "--stack", stack)


def take_lock(stack: str, root: str) -> tuple[str, ...]:
    """The command that takes Pulumi's lock and gives it back, and changes nothing: a refresh of the stack's own resource alone.

    `root`: its URN. A locked stack refuses it on every backend; what a killed run left open stays in the state (CLI 3.260, measured).
    """
    return ("pulumi", "refresh", "--yes", "--skip-preview", "--skip-pending-creates", "--target", root, "--stack", stack)


def refuse_locked(pulumi: Pulumi, stack: str, root: str) -> None:
    """Raises CommandError where another run holds Pulumi's lock, or the stack cannot be changed for any other reason."""
    if not root:
        return
    code, printed = pulumi.ask(take_lock(stack, root))
    if code:
        refuse_misuse(stack, printed)
        raise CommandError(f"Pulumi cannot change stack `{stack}` now; nothing was changed", "what it printed says why")


def _refresh(stack: str) -> tuple[str, ...]:
    return ("pulumi", "refresh", "--yes", "--clear-pending-creates", "--stack", stack)
