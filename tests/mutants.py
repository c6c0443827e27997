"""Changes the program, the simulator and the command line one small place at a time, and tells what no test notices.

`make mutants` runs two parts. First each `depends_on`, `after` and provider of the program is dropped, alone: the edge tests
must name what is missing. Then a sample of other changes (comparisons, conditions, constants, statements, keyword arguments,
results) is made, each followed by the tests that cover its file. Everything happens in copies of the tree.
"""

import argparse
import importlib
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from queue import SimpleQueue

import pytest

from tests.mutations import Mutation, edge_mutations, mutations

ROOT = Path(__file__).parent.parent
EDGE_FOLDERS = ("components", "addons", "stacks")
FOLDERS = ("components", "addons", "stacks", "facts", "simulator", "training", "report", "trn")
EDGE_TESTS = ("tests/stacks/test_edges.py", "tests/stacks/test_addon_edges.py")
DEFAULT_TIER = "not long and not engine and not helm and not kubernetes and not browser and not frameworks"
PROGRAM_TESTS = (*EDGE_TESTS, "tests/stacks", "tests/addons")
SECONDS_PER_RUN = 600
"""A change that makes the tests run for longer than this has been noticed."""


@dataclass(frozen=True)
class Verdict:
    """What the tests say of one mutation."""

    mutation: Mutation
    killed: bool
    seconds: float
    said: str
    """First line of what failed, empty for a survivor."""


def main() -> int:
    """Make the mutants, run their tests, print score and survivors. Returns 1 where a dropped edge was not noticed."""
    parser = argparse.ArgumentParser(prog="python -m tests.mutants", description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--sample", type=int, default=150, metavar="N", help="how many other changes to try (default 150; 0 for none)")
    parser.add_argument("--seed", type=int, default=0, metavar="S", help="which ones (default 0)")
    parser.add_argument("--parallel", type=int, default=2, metavar="N", help="tests of how many changes run at once (default 2)")
    parser.add_argument("--only", action="append", default=[], metavar="PATH", help="only files below this path; may be given again")
    parser.add_argument("--no-edges", action="store_true", help="leave the dropped edges out")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="trn-mutants-") as folder:
        copies = _copies(Path(folder), options.parallel)
        survivors = 0
        if not options.no_edges:
            _load_program()
            edges = [item for item in _of(EDGE_FOLDERS, edge_mutations) if _wanted(item, options.only)]
            survivors = _report("dropped edges", _judged(edges, copies, lambda _: [EDGE_TESTS], _failure_in_a_fork))
        others = [item for item in _of(FOLDERS, mutations) if _wanted(item, options.only)]
        chosen = random.Random(options.seed).sample(others, min(options.sample, len(others)))
        if chosen:
            print(f"{len(others)} other changes are possible, {len(chosen)} are tried (seed {options.seed})", flush=True)
            _report("other changes", _judged(chosen, copies, tests_of, _failure))
    return 1 if survivors else 0


def tests_of(mutation: Mutation) -> list[tuple[str, ...]]:
    """The tests that cover a file, soonest first: those named after it, those of its folder, those of the rooms that use it."""
    place = Path(mutation.path)
    named = sorted(str(path.relative_to(ROOT)) for path in (ROOT / "tests").rglob(f"test_*{place.stem}*.py"))
    mirrored = next((folder for folder in (Path("tests") / parent for parent in place.parents) if (ROOT / folder).is_dir()), Path("tests"))
    rounds: list[tuple[str, ...]] = [tuple(named)] if named else []
    if mirrored != Path("tests"):
        rounds.append((str(mirrored),))
    if place.parts[0] in ("components", "addons", "stacks"):
        rounds.append(PROGRAM_TESTS)
    # Facts are read everywhere, the simulator and the command line by each other's tests.
    rounds.append(("tests",))
    return rounds


def _wanted(mutation: Mutation, only: list[str]) -> bool:
    return not only or any(Path(mutation.path).is_relative_to(path) for path in only)


def _of(folders: Iterable[str], kind: Callable[[str, str], Iterator[Mutation]]) -> Iterator[Mutation]:
    for folder in folders:
        for path in sorted((ROOT / folder).rglob("*.py")):
            text = path.read_text()
            yield from dict.fromkeys(kind(str(path.relative_to(ROOT)), text))


def _copies(folder: Path, count: int) -> SimpleQueue[Path]:
    """Copies of what is committed and what is not yet; build products and the virtual environment stay here."""
    listed = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    names = subprocess.run(listed, cwd=ROOT, capture_output=True, text=True, check=True).stdout.split("\0")
    copies: SimpleQueue[Path] = SimpleQueue()
    for number in range(count):
        copy = folder / str(number)
        for name in filter(None, names):
            if (ROOT / name).is_file():
                (copy / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(ROOT / name, copy / name)
        copies.put(copy)
    return copies


def _judged(
    chosen: list[Mutation],
    copies: SimpleQueue[Path],
    tests: Callable[[Mutation], list[tuple[str, ...]]],
    failure: Callable[[Path, tuple[str, ...]], str],
) -> Iterator[Verdict]:
    def judge(mutation: Mutation) -> Verdict:
        copy = copies.get()
        place = copy / mutation.path
        kept, begun, said = place.read_text(), time.monotonic(), ""
        try:
            place.write_text(mutation.applied(kept))
            for paths in tests(mutation):
                said = failure(copy, paths)
                if said:
                    break
        finally:
            place.write_text(kept)
            copies.put(copy)
        return Verdict(mutation, bool(said), time.monotonic() - begun, said)

    with ThreadPoolExecutor(copies.qsize()) as pool:
        yield from pool.map(judge, chosen)


def _failure(copy: Path, paths: tuple[str, ...]) -> str:
    """What fails first, or an empty text."""
    command = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", "--no-header", "--tb=line", "-m", DEFAULT_TIER, *paths]
    # The copy's own modules go before those of the installed package.
    environment = {**os.environ, "PYTHONPATH": str(copy), "PYTHONDONTWRITEBYTECODE": "1"}
    try:
        done = subprocess.run(command, cwd=copy, env=environment, capture_output=True, text=True, check=False, timeout=SECONDS_PER_RUN)
    except subprocess.TimeoutExpired:
        return "too long"
    if done.returncode in (0, 5):
        return ""
    return _first_failure(done.stdout)


def _first_failure(output: str) -> str:
    lines = [line for line in output.splitlines() if line.startswith(("E  ", "FAILED", "ERROR", "/"))]
    return (lines or output.splitlines() or ["no output"])[0][:200]


def _load_program() -> None:
    """Load the SDKs once, by way of the program: they take longer than the tests of one dropped edge."""
    importlib.import_module("stacks.trainium_cluster")


def _failure_in_a_fork(copy: Path, paths: tuple[str, ...]) -> str:
    """The same as `_failure`, with the SDKs loaded already and the project's own modules loaded again from the copy."""
    with tempfile.TemporaryFile("w+") as output:
        child = os.fork()
        if child == 0:
            code = 3
            try:
                os.dup2(output.fileno(), 1)
                os.dup2(output.fileno(), 2)
                os.chdir(copy)
                for name in list(sys.modules):
                    if name.partition(".")[0] in (*FOLDERS, "tests"):
                        del sys.modules[name]
                sys.path.insert(0, str(copy))
                sys.dont_write_bytecode = True
                code = pytest.main(["-x", "-q", "-p", "no:cacheprovider", "--no-header", "--tb=short", *paths])
            finally:
                sys.stdout.flush()
                os._exit(int(code))
        _, status = os.waitpid(child, 0)
        output.seek(0)
        return _first_failure(output.read()) if os.waitstatus_to_exitcode(status) else ""


def _report(title: str, verdicts: Iterator[Verdict]) -> int:
    """Print what comes; gives the number of survivors."""
    survivors, killed = [], 0
    for verdict in verdicts:
        if verdict.killed:
            killed += 1
        else:
            survivors.append(verdict.mutation)
        print(f"{'killed  ' if verdict.killed else 'SURVIVED'} {verdict.seconds:5.0f} s  {verdict.mutation}  {verdict.said}", flush=True)
    print(f"\n{title}: {killed} of {killed + len(survivors)} noticed")
    for mutation in survivors:
        print(f"  survivor: {mutation}")
    print(flush=True)
    return len(survivors)


if __name__ == "__main__":
    sys.exit(main())
