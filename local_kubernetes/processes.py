"""Processes that never outlive a test run: started, asked after and stopped through a keeper of their own.

with Processes() as processes:
    processes.start("etcd", [tools["etcd"], "--name", "one"])
    processes.wait(lambda: answers(url), "etcd", patience_s=30)
"""

import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

LOOK_S = 0.05
LOG_END = 3000
"""Characters of a log that a failure shows."""


class Processes:
    """A folder and the processes that work in it; both are gone after `close`, or when this process ends in any way."""

    def __init__(self) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="trn-kubernetes-"))
        keeper = [sys.executable, "-I", str(Path(__file__).with_name("keeper.py")), str(self.folder)]
        # A session of its own: Ctrl-C in the terminal reaches the tests first, and their end reaches the keeper.
        self._keeper = subprocess.Popen(keeper, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, start_new_session=True)
        self._turn = threading.Lock()

    def __enter__(self) -> "Processes":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def start(
        self, name: str, argv: Sequence[str | os.PathLike[str]], environment: Mapping[str, str] | None = None, folder: Path | None = None
    ) -> int:
        """Start a program, its output in `log(name)`; gives its pid. Its environment is this process's, unless one is given."""
        words = [os.fspath(word) for word in argv]
        answer = self._ask(
            start=name,
            argv=words,
            environment=None if environment is None else dict(environment),
            folder=None if folder is None else str(folder),
        )
        return answer["pid"]

    def code(self, name: str) -> int | None:
        """How it ended; None while it runs. A signal is its negative number."""
        return self._ask(code=name)["code"]

    def signal(self, name: str, number: int) -> None:
        """Send a signal to the process alone."""
        self._ask(signal=name, number=number)

    def stop(self, name: str, grace_s: float = 0) -> int:
        """End one: SIGTERM and this long to act on it, then SIGKILL; at once with no grace. Gives its exit code."""
        return self._ask(stop=name, grace_s=grace_s)["code"]

    def log(self, name: str) -> str:
        """All that a process has printed."""
        path = self.folder / "log" / f"{name}.log"
        return path.read_text(errors="replace") if path.exists() else ""

    def wait(self, is_so: Callable[[], bool], name: str, patience_s: float = 240) -> None:
        """Wait until it is so. Raises RuntimeError, with the end of the log, when the process ends before that or patience does."""
        until = time.monotonic() + patience_s
        while not is_so():
            code = self.code(name)
            if code is not None or time.monotonic() > until:
                what = f"ended with {code}" if code is not None else f"was not ready in {patience_s} s"
                raise RuntimeError(f"{name} {what}:\n{self.log(name)[-LOG_END:]}")
            time.sleep(LOOK_S)

    def close(self) -> None:
        """End all of them and delete the folder; a second time does nothing."""
        assert self._keeper.stdin is not None
        assert self._keeper.stdout is not None
        if not self._keeper.stdin.closed:
            self._keeper.stdin.close()
            self._keeper.wait()
            self._keeper.stdout.close()

    def _ask(self, **asked: Any) -> dict[str, Any]:
        assert self._keeper.stdin is not None
        assert self._keeper.stdout is not None
        with self._turn:
            self._keeper.stdin.write(json.dumps(asked) + "\n")
            self._keeper.stdin.flush()
            answer = json.loads(self._keeper.stdout.readline())
        if "error" in answer:
            raise RuntimeError(f"{asked}: {answer['error']}")
        return answer
