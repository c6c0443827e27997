"""The two processes of a run: the providers, out of reach of the terminal's signals, and the CLI, within it."""

import contextlib
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from types import FrameType

from trn.cli.errors import CommandError
from trn.practice.engine.project import EngineFolder

STOPPING_S = 10
"""How long the providers may take to end once they are not needed any more."""


class ProvidersFailed(CommandError):
    """The provider process did not start."""


class Providers:
    """The simulated providers of one folder."""

    def __init__(self, folder: EngineFolder, *, time_scale: float, faults: Sequence[str]) -> None:
        folder.root.mkdir(parents=True, exist_ok=True)
        self._log = folder.provider_log
        arguments = [str(folder.account), "--calls", str(folder.calls), "--time-scale", str(time_scale)]
        for fault in faults:
            arguments += ["--fault", fault]
        with self._log.open("w") as log:
            # -P: a folder named simulator in the working directory must not be imported. A session of its own: Ctrl-C is for
            # the engine, which lets its providers end what is under way.
            self._process = subprocess.Popen(
                [sys.executable, "-P", "-m", *_module(folder), *arguments],
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log, text=True, start_new_session=True,
            )  # fmt: skip

    def attach(self) -> str:
        """What PULUMI_DEBUG_PROVIDERS must hold, once all are served.

        Raises ProvidersFailed with what the process said.
        """
        assert self._process.stdout is not None
        line = self._process.stdout.readline().strip()
        if not line:
            self.stop()
            raise ProvidersFailed(self._log.read_text().strip())
        return line

    def stop(self) -> int:
        """End the process, if it has not ended; returns its exit code, negative for a signal."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.close()
        try:
            return self._process.wait(STOPPING_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            return self._process.wait()
        finally:
            self._process.stdout.close()


def _module(folder: EngineFolder) -> list[str]:
    """What serves: with a real API server behind it, where the stack has one that runs."""
    if folder.has_control_plane:
        from local_kubernetes.running import is_alive

        if is_alive(folder.kubernetes):
            return ["trn.practice.engine.providers", str(folder.kubernetes)]
    return ["simulator.providers"]


def run_cli(command: Sequence[str], environment: Mapping[str, str], directory: Path) -> int:
    """Run the CLI on our own input and output; returns its exit code, 128 and the signal's number where one ended it.

    It gets each signal once. On a terminal it is in our group, so Ctrl-C reaches it directly and is not ours to pass on;
    elsewhere it has a group of its own, and what we get is passed on.
    """
    on_terminal = sys.stdin.isatty()
    process = subprocess.Popen(command, env=dict(environment), cwd=directory, process_group=None if on_terminal else 0)

    def pass_on(number: int, _frame: FrameType | None) -> None:
        process.send_signal(number)

    with _handling({signal.SIGINT: signal.SIG_IGN if on_terminal else pass_on, signal.SIGTERM: pass_on}):
        code = process.wait()
    return 128 - code if code < 0 else code


@contextlib.contextmanager
def _handling(handlers: Mapping[signal.Signals, Callable[[int, FrameType | None], None] | signal.Handlers]) -> Iterator[None]:
    before = {number: signal.signal(number, handler) for number, handler in handlers.items()}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
