"""Holds processes for a parent: when the parent is gone, however it ended, they end too and their folder is deleted.

Started as a program by `processes.Processes`, which speaks to it in lines of JSON. It reads until its input ends, which is
what the end of the parent looks like from here, also after SIGKILL. It imports the standard library only, for a quick start.

    {"start": "etcd", "argv": [...], "environment": {...} or null, "folder": null}   answers {"pid": 12}
    {"code": "etcd"}                                                                 answers {"code": null, or the exit code}
    {"signal": "etcd", "number": 9}                                                  answers {}
    {"stop": "etcd", "grace_s": 3}                                                   SIGTERM, later SIGKILL; answers {"code": -15}
"""

import ctypes
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

PR_SET_PDEATHSIG, PR_SET_CHILD_SUBREAPER = 1, 36
"""prctl(2)."""
LOOK_S = 0.02

_prctl = ctypes.CDLL(None, use_errno=True).prctl


def _die_with_parent() -> None:
    """In a child before it becomes its program: should the keeper itself be killed, nothing of what it held stays."""
    _prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


class Keeper:
    """Processes by name."""

    def __init__(self, folder: Path) -> None:
        """`folder`: deleted at the end, with the logs in it."""
        self._folder = folder
        self._held: dict[str, subprocess.Popen[bytes]] = {}
        # What a held process leaves behind comes to the keeper and not to init.
        _prctl(PR_SET_CHILD_SUBREAPER, 1)

    def answer(self, asked: dict[str, Any]) -> dict[str, Any]:
        """Do one thing that the parent asks for."""
        verbs: dict[str, Callable[..., dict[str, Any]]] = {
            "start": self._start,
            "code": self._code,
            "signal": self._signal,
            "stop": self._stop,
        }
        verb = next(iter(asked))
        try:
            return verbs[verb](asked.pop(verb), **asked)
        except (OSError, KeyError) as error:
            return {"error": repr(error)}

    def _start(self, name: str, argv: list[str], environment: dict[str, str] | None, folder: str | None) -> dict[str, Any]:
        logs = self._folder / "log"
        logs.mkdir(exist_ok=True)
        with (logs / f"{name}.log").open("ab") as log:
            self._held[name] = subprocess.Popen(
                argv,
                env=environment,
                cwd=folder,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
                preexec_fn=_die_with_parent,
            )
        return {"pid": self._held[name].pid}

    def _code(self, name: str) -> dict[str, Any]:
        return {"code": self._held[name].poll()}

    def _signal(self, name: str, number: int) -> dict[str, Any]:
        self._held[name].send_signal(number)
        return {}

    def _stop(self, name: str, grace_s: float) -> dict[str, Any]:
        process = self._held.pop(name)
        if grace_s:
            process.terminate()
        until = time.monotonic() + grace_s
        while process.poll() is None and time.monotonic() < until:
            time.sleep(LOOK_S)
        if process.poll() is None:
            process.kill()
        return {"code": process.wait()}

    def end(self) -> None:
        """Kill what is left, with all that it started, and delete the folder: nothing of its state is wanted any more."""
        for process in reversed(list(self._held.values())):
            process.kill()
        while children := _children():
            for child in children:
                os.kill(child, signal.SIGKILL)
            os.waitpid(-1, 0)
        shutil.rmtree(self._folder, ignore_errors=True)


def _children() -> list[int]:
    """Processes of this one, its own and those it took over."""
    text = Path(f"/proc/self/task/{os.getpid()}/children").read_text()
    return [int(word) for word in text.split()]


def main() -> None:
    """Answer until the input ends."""
    keeper = Keeper(Path(sys.argv[1]))
    # Ctrl-C is the parent's: it decides when it ends.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    try:
        for line in sys.stdin:
            print(json.dumps(keeper.answer(json.loads(line))), flush=True)
    finally:
        keeper.end()


if __name__ == "__main__":
    main()
