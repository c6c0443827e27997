"""Settings for all tests: a simulated cloud, no network, and chance that repeats itself."""

import gc
import os
import re
import resource
import shutil
import signal
import sys
import tempfile
import time
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from stacks.config import REHEARSAL_VARIABLE
from tests.sharing import FOLDER, share
from tests.terminal import pin

os.environ[REHEARSAL_VARIABLE] = "1"
# A shell lets what it runs in the background ignore Ctrl-C, and so would every process that a test starts and interrupts: it waited for ever.
for number in (signal.SIGINT, signal.SIGQUIT):
    if signal.getsignal(number) is signal.SIG_IGN:
        signal.signal(number, signal.default_int_handler if number is signal.SIGINT else signal.SIG_DFL)
# One recording makes some 100,000 short-lived objects; the collector's default takes most of the time.
gc.freeze()
gc.set_threshold(100_000, 50, 50)
# Slow examples are the fault of a machine that does other things, too.
settings.register_profile("repeatable", derandomize=True, deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("repeatable")
share()


def _refuse_network(event: str, arguments: tuple[object, ...]) -> None:
    """Nothing here may reach beyond this machine: a test that does would pass or fail with the weather."""
    if event == "socket.connect" and isinstance(arguments[1], tuple) and not _is_here(arguments[1][0]):
        raise AssertionError(f"a test reached for the network: {arguments[1]}")


def _is_here(host: str) -> bool:
    return host in ("::1", "localhost") or host.startswith("127.")


sys.addaudithook(_refuse_network)


MEMORY = Path("/dev/shm")
ROOM_MB = 2048
"""What must be free there: a container often has 64 MB."""


def pytest_configure(config: pytest.Config) -> None:
    """Tests of the two tiers without tools make many small files: in memory, where the machine has such a place and nobody named another."""
    if "TMPDIR" in os.environ or "not kubernetes" not in config.option.markexpr or not os.access(MEMORY, os.W_OK | os.X_OK):
        return
    place = os.statvfs(MEMORY)
    if place.f_bavail * place.f_frsize >> 20 >= ROOM_MB and not place.f_flag & os.ST_NOEXEC:
        os.environ["TMPDIR"] = str(MEMORY)
        tempfile.tempdir = None


def pytest_sessionstart(session: pytest.Session) -> None:
    """After pytest has looked at the shell's terminal, before any test module loads rich or typer, which look again."""
    pin(os.environ)
    if not hasattr(session.config, "workerinput"):
        os.environ[FOLDER] = tempfile.mkdtemp(prefix="trn-recordings-")


def pytest_sessionfinish(session: pytest.Session) -> None:
    """The first process of a run, whose workers have ended by then."""
    if not hasattr(session.config, "workerinput"):
        shutil.rmtree(os.environ.pop(FOLDER, ""), ignore_errors=True)


SLOW_TIERS = ("engine", "helm", "kubernetes", "browser", "frameworks")


_WHOLLY = re.compile(r"^pytestmark = \[?\s*pytest\.mark\.(\w+)|item\.add_marker\(pytest\.mark\.(\w+)\)", re.MULTILINE)
"""The mark of all tests of a file, first in its module or in the conftest.py beside it."""


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """A run reads only files with tests for it: with two workers all others would be imported three times."""
    asked = config.option.markexpr
    if collection_path.suffix != ".py" or not any(tier in asked for tier in SLOW_TIERS):
        return None
    beside = [path.read_text() for path in (collection_path, collection_path.with_name("conftest.py")) if path.exists()]
    if asked in SLOW_TIERS:
        return None if any(f"mark.{asked}" in text for text in beside) else True
    marks = [found[1] or found[2] for text in beside for found in _WHOLLY.finditer(text)]
    return True if any(f"not {mark}" in asked for mark in marks) else None


def pytest_runtest_setup(item: pytest.Item) -> None:
    """A run with an end ($TRN_UNTIL, seconds since 1970) begins no slow test after it: CI says what it had no time for, and ends."""
    until = float(os.environ.get("TRN_UNTIL") or "inf")
    if time.time() > until and any(item.get_closest_marker(tier) for tier in SLOW_TIERS):
        pytest.skip("the time of this run is over: run this tier by itself")


LARGEST_MB = 700
"""What a worker of the default tests may grow to: two of them fit into the smallest machines that CI services rent out."""


GROWN_MB = 50
"""What a process may grow between two full collections, which the threshold above leaves to us: each takes half a second."""
_collected_at = [300]


def _collect_when_grown() -> None:
    statm = Path("/proc/self/statm")
    now_mb = int(statm.read_text().split()[1]) * resource.getpagesize() >> 20 if statm.exists() else 0
    if now_mb > _collected_at[0] + GROWN_MB:
        gc.collect()
        _collected_at[0] = max(300, int(statm.read_text().split()[1]) * resource.getpagesize() >> 20)


@pytest.hookimpl(trylast=True)
def pytest_runtest_teardown(item: pytest.Item, nextitem: pytest.Item | None) -> None:
    """What a module's tests share is freed after the last of them; the last test of a worker fails if the worker has grown."""
    module = getattr(item, "module", None)
    if module is not None and (nextitem is None or getattr(nextitem, "module", None) is not module):
        for kept in vars(module).values():
            if getattr(kept, "__module__", "") == module.__name__ and hasattr(kept, "cache_clear"):
                kept.cache_clear()
    _collect_when_grown()
    is_worker = hasattr(item.config, "workerinput") and item.config.option.markexpr not in SLOW_TIERS
    # In kilobytes; in bytes on macOS.
    grown_mb = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // (2**20 if sys.platform == "darwin" else 2**10)
    if nextitem is None and is_worker and grown_mb > LARGEST_MB:
        pytest.fail(f"this worker has grown to {grown_mb} MB, {LARGEST_MB} are allowed: which cache has no bound?")
