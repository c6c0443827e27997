"""Installs the locked packages for `make`, and says in one line what pip is at. Needs nothing but Python: it runs before they are there."""

import re
import subprocess
import sys
import threading
import time
from collections import deque
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

LOOK_S = 0.5
"""Seconds between two looks."""
EVERY_S = 10.0
"""Seconds between two lines where no terminal shows a line that changes."""
KEPT = 15
"""Last lines of pip that are shown where it fails."""
_PINNED = re.compile(r"^([A-Za-z0-9._-]+)(?:\[[^]]*\])?==", re.MULTILINE)
_COLLECTING = re.compile(r"Collecting ([A-Za-z0-9._-]+)")


def locked(text: str) -> int:
    """Number of packages in a lock file."""
    return len(_PINNED.findall(text))


def steps(lines: Iterable[str], total: int) -> Iterator[str]:
    """What pip is at, from its own lines: one text for each package, and one for the unpacking."""
    count = 0
    for line in lines:
        if found := _COLLECTING.match(line):
            count += 1
            yield f"{min(count, total)} of {total} packages: {found[1]}"
        elif line.startswith("Installing collected packages"):
            yield f"unpacking {total} packages, which takes longest"


def main(lock: Path) -> int:
    """Run pip with a file of locked packages. Returns its exit code."""
    total, began, last = locked(lock.read_text()), time.monotonic(), float("-inf")
    pip = [sys.executable, "-m", "pip", "install", "--disable-pip-version-check", "--require-hashes", "--requirement", str(lock)]
    tail, is_terminal = deque[str](maxlen=KEPT), sys.stderr.isatty()
    current = ["asking the registry"]
    with subprocess.Popen(pip, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as running:
        reading = threading.Thread(target=_read, args=(running.stdout, tail, total, current), daemon=True)
        reading.start()
        try:
            while reading.is_alive():
                reading.join(LOOK_S)
                now = time.monotonic()
                if is_terminal:
                    sys.stderr.write(f"\r\x1b[K  {current[0]}, {now - began:.0f} s")
                elif now - last >= EVERY_S:
                    last = now
                    sys.stderr.write(f"  {current[0]}, {now - began:.0f} s\n")
                sys.stderr.flush()
        except KeyboardInterrupt:
            running.terminate()
            sys.stderr.write("\ninterrupted: `make` begins again\n")
            return 130
    ending = "\r\x1b[K" if is_terminal else ""
    if running.returncode:
        sys.stderr.write(f"{ending}{''.join(tail)}")
        return running.returncode
    sys.stderr.write(f"{ending}  {total} packages in {time.monotonic() - began:.0f} s\n")
    return 0


def _read(lines: Any, tail: deque[str], total: int, current: list[str]) -> None:
    for text in steps((tail.append(line) or line for line in lines), total):
        current[0] = text


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
