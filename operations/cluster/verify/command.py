"""`trn verify`: look at everything, then run what only shows when it runs, take it away, say the verdict."""

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from operations.access import access
from operations.cluster.status.command import CHECKS, findings_of, guarded, write_junit
from operations.cluster.status.subject import Subject
from operations.cluster.verify import collectives, driver, file_system, gang
from operations.cluster.verify.stage import Stage
from operations.errors import MISUSE, CommandError
from operations.findings import Finding, exit_code, failed, print_findings
from operations.interruption import ended_like_by_hand
from operations.kube.cluster import cluster_of
from operations.output import results, told_steps, tracked, write_json
from operations.rehearse.command import settings_of
from operations.stack_file import read_stack_file
from stacks.images import small_image, training_image

TRIALS: dict[str, Callable[[Stage], Iterator[Finding]]] = {
    driver.CHECK: driver.check,
    file_system.CHECK: file_system.check,
    gang.CHECK: gang.check,
    collectives.CHECK: collectives.check,
}
"""What starts pods, from cheap to dear; none starts before the pods of the one before are gone."""


@dataclass(frozen=True)
class VerifyOptions:
    """What the command line said."""

    stack: str
    only: tuple[str, ...]
    image: str | None
    junit: Path | None
    json_file: Path | None


def run(options: VerifyOptions) -> int:
    """Look, try, print, and return 1 where anything failed."""
    chosen = _chosen(options.only)
    settings = settings_of(read_stack_file(options.stack))
    api = access().aws(options.stack, settings.region)
    subject = Subject(settings, api, cluster_of(api, settings.name))
    looked = [name for name in CHECKS if name in chosen]
    found = [finding for name in tracked(looked, "looking") for finding in findings_of(subject, name)]
    with told_steps() as tell, ended_like_by_hand():
        image = options.image or training_image(settings)
        stage = Stage(subject, small_image(settings), image, access().pause, time.monotonic, tell)
        found += tried(stage, [name for name in TRIALS if name in chosen])
    said = verdict(settings.name, found)
    good = exit_code(found) == 0
    write_json({"stack": options.stack, "healthy": good, "verdict": said, "findings": found}, options.json_file)
    if options.junit:
        write_junit(found, f"trn verify {options.stack}", options.junit)
    console = results(options.json_file)
    print_findings(console, found)
    console.print(said, markup=False)
    return exit_code(found)


def _chosen(only: Sequence[str]) -> list[str]:
    known = [*CHECKS, *TRIALS]
    for name in only:
        if name not in known:
            raise CommandError(f"there is no check `{name}`", f"one of: {', '.join(known)}", code=MISUSE)
    return list(only) or known


def tried(stage: Stage, names: Sequence[str]) -> list[Finding]:
    """Findings of what starts pods. Before, between and behind nothing of it is left, whatever happens."""
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
        # After Ctrl-C too, where nobody would see the findings.
        left += guarded("clean-up", _cleared(stage))
        for finding in left:
            stage.tell(finding.what)
    return [*found, *left]


def _cleared(stage: Stage) -> Iterator[Finding]:
    for left in stage.clear():
        yield failed("clean-up", f"{left} is still there", "`kubectl describe` says what holds it; run this again to remove it")


def verdict(cluster: str, findings: Sequence[Finding]) -> str:
    """Whether one can train on it, in a sentence."""
    told = {word: ", ".join(dict.fromkeys(item.check for item in findings if item.verdict == word)) for word in ("fail", "warn", "skip")}
    if told["fail"]:
        return f"{cluster} is not ready for training: {told['fail']} failed"
    but = "".join(
        f"; {text}" for text in (told["warn"] and f"look at {told['warn']}", told["skip"] and f"not tried: {told['skip']}") if text
    )
    return f"{cluster} is ready for training{but}"
