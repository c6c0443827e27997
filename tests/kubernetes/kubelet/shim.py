"""The process that stands beside one container: starts its program in namespaces, writes its log, and notes how it ended.

It outlives the kubelet, as a container runtime's shim does, so that a kubelet can be restarted while pods run. It does not outlive
the test: its standard input is a pipe that the test's process holds open, and at its end the container is killed and the whole
state folder is removed.

    python -m tests.kubernetes.kubelet.shim FOLDER      (FOLDER/container.json says what to run; see container.py)
"""

import json
import os
import select
import shutil
import signal
import sys
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from tests.kubernetes.kubelet import namespaces as linux
from tests.kubernetes.kubelet import root
from tests.kubernetes.kubelet.log_lines import format_line

LIFE = 0
"""The descriptor of the pipe that ends with the test."""
START_FAILED = 128
"""Exit code that containerd gives a container whose program could not be started."""
MOST_LINE_BYTES = 16 * 2**10
"""A longer line is written in parts, as container runtimes do it."""


def main(folder: Path) -> None:
    """Run the container of that folder to its end."""
    wanted = json.loads((folder / "container.json").read_text())
    os.chdir("/")
    linux.unshare(linux.CLONE_NEWPID)
    readers, writers = zip(*(os.pipe() for _ in ("stdout", "stderr", "failure")), strict=True)
    started_at_s = time.time()
    child = os.fork()
    if child == 0:
        _become(wanted, writers)
    for writer in writers:
        os.close(writer)
    failure = _read_all(readers[2])
    if not failure:
        write(folder / "started.json", {"pid": child, "started_at_s": started_at_s})
    # The kubelet waits for this line, or for the end of the pipe.
    os.write(1, b"started\n")
    with open(folder / "log", "ab", buffering=0) as log:
        _follow(child, {readers[0]: "stdout", readers[1]: "stderr"}, log, Path(wanted["state"]))
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    ended: dict[str, Any] = {"exit_code": code if code >= 0 else 128 - code, "started_at_s": started_at_s, "finished_at_s": time.time()}
    if failure:
        ended |= {"reason": "StartError", "message": failure.decode(errors="replace")}
    write(folder / "ended.json", ended)


def write(path: Path, value: Any) -> None:
    """A JSON file that is there whole or not at all."""
    part = path.with_suffix(".part")
    part.write_text(json.dumps(value))
    part.replace(path)


def _become(wanted: dict[str, Any], writers: tuple[int, ...]) -> None:
    """In the child: join the pod's namespaces, make the root, and turn into the container's program. Does not return."""
    try:
        linux.die_with_parent()
        os.setsid()
        kinds = {"ipc": linux.CLONE_NEWIPC, "uts": linux.CLONE_NEWUTS, "net": linux.CLONE_NEWNET, "mnt": linux.CLONE_NEWNS}
        for name, kind in kinds.items():
            path = f"/proc/{wanted['sandbox_pid']}/ns/{name}"
            # A pod on the machine's own network is in it already, and without root there is no way into it.
            if os.readlink(path) != os.readlink(f"/proc/self/ns/{name}"):
                linux.enter(path, kind)
        root.build(wanted["root"], wanted["mounts"], read_only=wanted["read_only"], kept_of_tmp=wanted["kept_of_tmp"])
        os.makedirs(wanted["working_folder"], exist_ok=True)
        os.chdir(wanted["working_folder"])
        os.dup2(os.open("/dev/null", os.O_RDONLY), 0)
        os.dup2(writers[0], 1)
        os.dup2(writers[1], 2)
        for number in (signal.SIGPIPE, signal.SIGXFSZ, signal.SIGINT):
            signal.signal(number, signal.SIG_DFL)
        _execute(wanted["arguments"], wanted["environment"])
    except OSError as error:
        os.write(writers[2], str(error).encode())
    finally:
        os._exit(START_FAILED)


def _execute(arguments: list[str], environment: dict[str, str]) -> None:
    """Does not return. Raises OSError in the words of a container runtime."""
    if not arguments:
        raise OSError("no command specified")
    try:
        os.execvpe(arguments[0], arguments, environment)
    except FileNotFoundError as error:
        raise OSError(f'exec: "{arguments[0]}": executable file not found in $PATH') from error
    except PermissionError as error:
        raise OSError(f'exec: "{arguments[0]}": permission denied') from error


def _read_all(reader: int) -> bytes:
    text = b""
    while part := os.read(reader, 4096):
        text += part
    os.close(reader)
    return text


def _follow(child: int, streams: dict[int, str], log: Any, state: Path) -> None:
    """Write the log until the container has ended and its streams are empty; end it when the test's process is gone."""
    poll, rest, alive = select.poll(), dict.fromkeys(streams, b""), os.pidfd_open(child)
    for reader in (*streams, alive, LIFE):
        poll.register(reader, select.POLLIN | select.POLLHUP)
    awaited = {*streams, alive}
    while awaited:
        for ready, _ in poll.poll():
            if ready == LIFE:
                os.kill(child, signal.SIGKILL)
                os.waitpid(child, 0)
                shutil.rmtree(state, ignore_errors=True)
                os._exit(0)
            part = os.read(ready, 65536) if ready in streams else b""
            if ready in streams:
                now = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
                lines, rest[ready] = split_lines(streams[ready], now, rest[ready] + part, at_end=not part)
                log.write(lines)
            if not part:
                poll.unregister(ready)
                awaited.remove(ready)


def split_lines(stream: str, time_text: str, text: bytes, at_end: bool) -> tuple[bytes, bytes]:
    """Lines for the log, and what is no whole line yet; at the end of the stream that is a part of a line too."""
    *lines, rest = text.split(b"\n")
    parts = []
    for line in lines:
        while len(line) > MOST_LINE_BYTES:
            parts.append(format_line(time_text, stream, line[:MOST_LINE_BYTES], full=False))
            line = line[MOST_LINE_BYTES:]
        parts.append(format_line(time_text, stream, line, full=True))
    while len(rest) > MOST_LINE_BYTES or (rest and at_end):
        parts.append(format_line(time_text, stream, rest[:MOST_LINE_BYTES], full=False))
        rest = rest[MOST_LINE_BYTES:]
    return b"".join(parts), rest


if __name__ == "__main__":
    main(Path(sys.argv[1]))
