"""Checks that start pods: what only shows when something runs. Each removes what it started."""

from collections.abc import Callable, Iterator, Sequence

from trn.cli.errors import MISUSE, CommandError
from trn.cli.findings import Finding, failed
from trn.running.status.checks import CHECKS, guarded
from trn.running.verify import collectives, driver, file_system, gang
from trn.running.verify.stage import Stage

TRIALS: dict[str, Callable[[Stage], Iterator[Finding]]] = {
    driver.CHECK: driver.check,
    file_system.CHECK: file_system.check,
    gang.CHECK: gang.check,
    collectives.CHECK: collectives.check,
}
"""Checks that start pods, cheapest first; none starts before the pods of the one before are gone."""

WITHOUT_CONTAINERS = (gang.CHECK,)
"""Trials that want their pods placed, and nothing of what runs in them."""


def chosen(only: Sequence[str]) -> list[str]:
    """Names of the checks and trials to do: all, or those named. Raises CommandError for an unknown one."""
    known = [*CHECKS, *TRIALS]
    for name in only:
        if name not in known:
            raise CommandError(f"there is no check `{name}`", f"one of: {', '.join(known)}", code=MISUSE)
    return list(only) or known


def tried(stage: Stage, names: Sequence[str]) -> list[Finding]:
    """Findings of what starts pods. Before, between and after the tests nothing of them is left, also after an error."""
    found = list(guarded("clean-up", _cleared(stage))) if names else []
    if found:
        do = "see clean-up"
        return [*found, *(failed(name, "could not check: what an earlier run started is in the way", do) for name in names)]
    return [*found, *(finding for name in names for finding in _trial(stage, name))]


def _trial(stage: Stage, name: str) -> list[Finding]:
    found, left = list[Finding](), list[Finding]()
    try:
        found += guarded(name, TRIALS[name](stage))
    finally:
        # After Ctrl-C too, when no findings are shown.
        left += guarded("clean-up", _cleared(stage))
        for finding in left:
            stage.tell(finding.what)
    return [*found, *left]


def _cleared(stage: Stage) -> Iterator[Finding]:
    for left in stage.clear():
        yield failed("clean-up", f"{left} is still there", "`kubectl describe` says what holds it; run this again to remove it")


def verdict(cluster: str, findings: Sequence[Finding]) -> str:
    """Whether one can train on it, in a sentence."""
    checks = {word: ", ".join(dict.fromkeys(item.check for item in findings if item.verdict == word)) for word in ("fail", "warn", "skip")}
    if checks["fail"]:
        return f"{cluster} is not ready for training: {checks['fail']} failed"
    but = "".join(
        f"; {text}" for text in (checks["warn"] and f"look at {checks['warn']}", checks["skip"] and f"not tried: {checks['skip']}") if text
    )
    return f"{cluster} is ready for training{but}"
