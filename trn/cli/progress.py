"""Progress of a rehearsal: a live view on a terminal that can redraw, one line per long operation elsewhere."""

import time
from collections import Counter
from collections.abc import Mapping
from types import TracebackType

from rich.console import Console
from rich.live import Live
from rich.table import Table
from rich.text import Text

from simulator.engine.clock import Step
from simulator.engine.order import creation_dependencies, recorded_dependencies
from simulator.recording import Recording
from simulator.report.words import duration, short_type
from trn.cli.output import can_redraw

FRAMES_PER_S = 12
NOTEWORTHY_S = 30
"""Operations shorter than this get no line of their own in a pipe."""
VERBS = {"create": ("making", "made"), "update": ("changing", "changed"), "delete": ("deleting", "deleted")}


class Progress:
    """Called by the scheduler at each event; used as a context manager so that the terminal is left clean."""

    def __init__(self, console: Console, *, quiet: bool, speed: float) -> None:
        """`speed`: virtual seconds per real one in the live view."""
        self._console, self._speed = console, speed
        self._live = Live(console=console, auto_refresh=False, transient=True) if can_redraw(console) and not quiet else None
        self._lines = not quiet and self._live is None
        self._phase, self._clock, self._undrawn = "", 0.0, 0.0
        self._running: dict[str, Step] = {}
        self._ended: set[str] = set()
        self._blockers: dict[str, frozenset[str]] = {}
        self._resources: set[str] = set()

    def __enter__(self) -> "Progress":
        if self._live is not None:
            self._live.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None) -> None:
        if self._live is not None:
            self._live.stop()

    def watch(self, phase: str, recording: Recording, clock: float, step: Step, ended: bool) -> None:
        """One event: an operation has started, or has ended."""
        if self._live is None and not self._lines:
            return
        if phase != self._phase:
            self._begin(phase, recording)
        if self._live is not None:
            self._pass_time(clock)
        self._clock = clock
        if ended:
            self._running.pop(step.urn, None)
            self._ended.add(step.urn)
            if self._lines and step.end - step.start >= NOTEWORTHY_S:
                self._console.print(self._line(step), markup=False)
        elif step.end > step.start:
            self._running[step.urn] = step

    def _begin(self, phase: str, recording: Recording) -> None:
        self._phase, self._clock, self._running, self._ended = phase, 0.0, {}, set()
        up = not phase.startswith("destroy")
        self._blockers = dict(creation_dependencies(recording)) if up else _reversed(recorded_dependencies(recording))
        self._resources = {item.urn for item in recording.resources()}
        if self._lines:
            self._console.print(f"{phase} (virtual time)", markup=False)

    def _pass_time(self, until: float) -> None:
        """Let the wall clock follow the virtual one, drawing a frame when it is due and not at each event."""
        while self._clock < until:
            passing = min(until - self._clock, self._speed / FRAMES_PER_S - self._undrawn)
            self._clock += passing
            self._undrawn += passing
            if self._undrawn >= self._speed / FRAMES_PER_S:
                self._undrawn = 0.0
                if self._live is not None:
                    self._live.update(self._view(), refresh=True)
                time.sleep(1 / FRAMES_PER_S)

    def _line(self, step: Step) -> str:
        done = VERBS[step.operation][1] if step.refusal is None else f"could not {step.operation}"
        under_way = ", ".join(sorted(_label(urn) for urn in self._running)[:3]) or "nothing"
        took = duration(step.end - step.start)
        return f"  {_clock(self._clock)}  {done} {_label(step.urn)} in {took}; under way: {under_way}; {self._waiting()} wait"

    def _waiting(self) -> int:
        return len(self._resources - self._ended - self._running.keys())

    def _held_back(self) -> Counter[str]:
        """How many resources that have not started wait, directly or through others, for each running one."""
        held: Counter[str] = Counter()
        for urn in self._running:
            reached, waiting = {urn}, True
            while waiting:
                more = {
                    name for name, needs in self._blockers.items() if name not in reached and needs & reached and name not in self._ended
                }
                waiting = bool(more)
                reached |= more
            held[urn] = len((reached & self._resources) - self._running.keys())
        return held

    def _view(self) -> Table:
        making, _ = VERBS["delete" if self._phase.startswith("destroy") else "create"]
        table = Table.grid(padding=(0, 2))
        headline = f"{self._phase}  {_clock(self._clock)}   {len(self._resources & self._ended)} done, {len(self._running)} under way, {self._waiting()} wait"
        table.add_row(Text(headline, style="bold"))
        held = self._held_back()
        longest = sorted(self._running.values(), key=lambda step: (-(step.end - step.start), step.urn))[:8]
        for step in longest:
            share = (self._clock - step.start) / max(step.end - step.start, 0.1)
            bar = "█" * round(20 * min(max(share, 0), 1))
            left = duration(max(step.end - self._clock, 0))
            behind = f"   {held[step.urn]} wait for it" if held[step.urn] else ""
            line = f"  {making} {_label(step.urn)[:44]:<44} {bar:<20} {left:>14} left{behind}"
            table.add_row(Text(line, no_wrap=True, overflow="ellipsis"))
        return table


def _label(urn: str) -> str:
    """Type and name, from the URN itself: what a change deletes is in the state and not in the program's graph."""
    *_, types, name = urn.split("::", 3)
    return f"{short_type(types.rpartition('$')[2])} {name}"


def _clock(seconds: float) -> str:
    minutes, rest = divmod(int(seconds), 60)
    return f"{minutes:02d}:{rest:02d}"


def _reversed(needs: Mapping[str, frozenset[str]]) -> dict[str, frozenset[str]]:
    """On destroy a resource waits for those that need it."""
    users: dict[str, set[str]] = {urn: set() for urn in needs}
    for urn, names in needs.items():
        for name in names:
            users[name].add(urn)
    return {urn: frozenset(names) for urn, names in users.items()}
