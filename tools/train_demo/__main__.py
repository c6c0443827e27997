"""Trains the tiny BERT with two workers, kills one, resumes, and compares every loss with an unbroken run. No AWS, no cluster."""

import argparse
import fcntl
import os
import shutil
import signal
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tools.frameworks import FRAMEWORKS, NoEnvironmentError, folder, interpreter, ready
from tools.train_demo.runs import EVERY, KILLED_AFTER, START, STEPS, Run, lay_out, run
from training.metrics_line import Step

WORK = Path("build/train-demo")
INTERRUPTED, TERMINATED = 130, 143
"""Exit codes as a shell has them for Ctrl-C and SIGTERM."""


def main(arguments: list[str]) -> int:
    """Runs the demonstration; 0 when the resumed run is the unbroken one to the bit."""
    parser = argparse.ArgumentParser(prog="make train-demo", description=__doc__)
    parser.add_argument("--framework", choices=sorted(START), default="jax")
    framework = parser.parse_args(arguments).framework
    # Also then the workers are ended.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(TERMINATED))
    try:
        python = prepared(framework)
        with alone():
            return shown(framework, python)
    except (NoEnvironmentError, InUse) as error:
        print(f"error: {error}", file=sys.stderr)
    except OSError as error:
        print(f"error: cannot work in {WORK}: {error.strerror or error}", file=sys.stderr)
    except KeyboardInterrupt:
        print("\nstopped, and the workers with it; run it again to begin anew", file=sys.stderr)
        return INTERRUPTED
    return 1


class InUse(Exception):
    """Another demonstration runs in the same folder."""


@contextmanager
def alone() -> Iterator[None]:
    """Inside the block no other demonstration uses the folder. Raises InUse; OSError where it cannot be made."""
    WORK.parent.mkdir(parents=True, exist_ok=True)
    with WORK.with_suffix(".lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise InUse(f"another demonstration runs in {WORK}: let it end, or run this one in another copy of the tree") from None
        yield


def shown(framework: str, python: Path) -> int:
    """The demonstration itself; its exit code. Raises OSError where its files cannot be written."""
    began = time.monotonic()
    shutil.rmtree(WORK, ignore_errors=True)
    scripts, home = WORK.resolve() / "trn", WORK.resolve()
    lay_out(scripts)
    print(f"BERT, tiny, two worker processes, {STEPS} steps, a checkpoint every {EVERY}; logs in {WORK}\n")

    def started(title: str, work: str, name: str, kill: bool = False) -> Run:
        print(f"{title}:", flush=True)
        return run(python, framework, scripts, home / work, name, kill, show)

    whole = started("unbroken", "unbroken", "run")
    broken = started(f"\nagain, worker 0 gets SIGKILL after step {KILLED_AFTER}", "broken", "first-start", kill=True)
    print(f"  the node ended with exit code {broken.code}")
    resumed = started("\nstarted again, as a launcher does", "broken", "second-start")
    faults = differences(whole, broken, resumed)
    for fault in faults:
        print(f"error: {fault}", file=sys.stderr)
    if not faults:
        count = len(broken.losses) + len(resumed.losses)
        print(f"\nresumed from step {resumed.resumed_from}; all {count} losses of both starts equal those of the unbroken run to the bit")
        print(
            f"loss {whole.losses[1]:.3f} -> {whole.losses[STEPS]:.3f} in {STEPS} steps; {time.monotonic() - began:.0f} s for all three starts"
        )
    return 1 if faults else 0


def prepared(framework: str) -> Path:
    """Python with the framework; says what it makes and where before it does. Raises NoEnvironmentError."""
    known, place = FRAMEWORKS[framework], folder(framework, os.environ)
    if not ready(framework, os.environ):
        print(f"{known.title} is installed once, about {known.size_gb:g} GB in {place}; delete that folder to be rid of it", flush=True)
    return interpreter(framework, os.environ)


def show(step: Step) -> None:
    """Prints every tenth step."""
    if step.step == 1 or step.step % 10 == 0:
        speed = f"{step.samples_per_s:8.0f} sequences/s" if step.samples_per_s is not None else "      (not timed)"
        print(f"  step {step.step:3}   loss {step.loss:.6f} {speed}", flush=True)


def differences(whole: Run, broken: Run, resumed: Run) -> list[str]:
    """What is not as it should be; empty where the resumed training is the unbroken one."""
    found = []
    if whole.code or resumed.code:
        found.append(f"a run failed with exit code {whole.code or resumed.code}; its errors are in {WORK}")
    if not broken.code:
        found.append("the run whose worker was killed ended as if nothing had happened")
    expected = KILLED_AFTER - KILLED_AFTER % EVERY
    if resumed.resumed_from != expected:
        found.append(f"resumed from step {resumed.resumed_from}, the last checkpoint was at {expected}")
    if not found and sorted({*broken.losses, *resumed.losses}) != list(range(1, STEPS + 1)):
        found.append("a step is missing")
    if not found and whole.losses[STEPS] >= whole.losses[1]:
        found.append(f"the loss did not fall: {whole.losses[1]} to {whole.losses[STEPS]}")
    return found + [
        f"step {step}: loss {loss!r}, unbroken {whole.losses.get(step)!r}"
        for losses in (broken.losses, resumed.losses)
        for step, loss in losses.items()
        if loss != whole.losses.get(step)
    ]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
