"""What a job's starts have done so far, from the lines of progress that are kept beside its checkpoints.

One of the files that every pod has under /trn: standard library only, Python 3.9 or later. A gang that is made anew has new pods, and the
log of the old ones is gone with them: the first node keeps the lines, and says at its start what they come to.
"""

from __future__ import annotations

import json
import os
from statistics import median
from typing import Any

FOLDER, FILE = "figures", "figures.jsonl"
"""Below the folder of the checkpoints."""
MARK = b'{"trn":'
"""Beginning of a line of progress; training/metrics_line.py defines the line."""
POINTS = 400
"""Steps of a history that are said one by one, for a curve."""
RECENT = 20
"""Steps over which the time of a step is taken."""
TAIL_BYTES = 1 << 16


def path(checkpoints: str) -> str:
    """Of the file with the lines."""
    return os.path.join(checkpoints, FOLDER, FILE)


def read(checkpoints: str, last_bytes: int = 0) -> list[dict[str, Any]]:
    """The lines that are whole, or those of the end; empty where there are none, or the folder cannot be read."""
    try:
        with open(path(checkpoints), "rb") as file:
            if last_bytes and file.seek(0, os.SEEK_END) > last_bytes:
                file.seek(-last_bytes, os.SEEK_END)
            else:
                file.seek(0)
            return [said for said in map(said_by, file) if said is not None]
    except OSError:
        return []


def said_by(line: bytes) -> dict[str, Any] | None:
    """What a line says of a job's progress; None for any other line, and for one that was cut off. torchrun may put words before it."""
    at = line.find(MARK)
    if at < 0:
        return None
    try:
        said = json.loads(line[at:])
    except ValueError:
        return None
    return said if isinstance(said, dict) else None


def history(lines: list[dict[str, Any]]) -> dict[str, Any] | None:
    """What the starts before this one come to; None where none has done a step.

    `starts`; `began` and `until`: times of the first and the newest line; `step`: the highest, with `steps` of different numbers; `step_s`:
    median time of the newest; `lost`: steps that were done again after a restart; `restart_s`: from the last step before each restart to the
    first that is new, less a step; `points`: step, time, loss and rate of some.
    """
    steps = [said for said in lines if said.get("trn") == "step" and _is_step(said)]
    if not steps:
        return None
    newest: dict[int, dict[str, Any]] = {}
    intervals: list[float] = []
    starts, lost, restart_s, highest, before, broken = 0, 0, 0.0, 0, None, False
    for said in lines:
        if said.get("trn") == "event" and said.get("event") == "started":
            starts, before, broken = starts + 1, None, bool(newest)
        elif said.get("trn") == "step" and _is_step(said):
            number, time = said["step"], said["time"]
            if before is not None and number == before["step"] + 1:
                intervals.append(time - before["time"])
            if number <= highest:
                lost += 1
            else:
                if broken:
                    typical = median(intervals[-RECENT:]) if intervals else 0.0
                    restart_s += max(0.0, time - newest[highest]["time"] - typical * (number - highest))
                broken, highest = False, number
                newest[number] = said
            before = said
    chosen = [newest[number] for number in sorted(newest)]
    if len(chosen) > POINTS:
        chosen = [chosen[round(at * (len(chosen) - 1) / (POINTS - 1))] for at in range(POINTS)]
    return {
        "starts": max(starts, 1), "began": min(said["time"] for said in lines if _is_number(said.get("time"))),
        "until": steps[-1]["time"], "step": highest, "steps_done": len(newest),
        "step_s": round(median(intervals[-RECENT:]), 4) if intervals else None, "lost": lost, "restart_s": round(restart_s, 3),
        "points": [[said["step"], said["time"], said["loss"], said.get("samples_per_s")] for said in chosen],
    }  # fmt: skip


def longest_step_s(lines: list[dict[str, Any]]) -> float | None:
    """Of the newest steps; None where no two follow each other."""
    steps = [said for said in lines if said.get("trn") == "step" and _is_step(said)]
    times = [new["time"] - old["time"] for old, new in zip(steps, steps[1:]) if new["step"] == old["step"] + 1]
    return max(times[-RECENT:], default=None)


def _is_number(value: Any) -> bool:
    return type(value) in (int, float)


def _is_step(said: dict[str, Any]) -> bool:
    """Whether a line has what a step has."""
    return type(said.get("step")) is int and _is_number(said.get("time")) and _is_number(said.get("loss"))
