"""Locks that a killed run of the Pulumi CLI left in the folder's own backend."""

import json
import os
import socket
from collections.abc import Iterator

from trn.engine.stack_file import StackFile
from trn.practice.engine.project import EngineFolder


def remove_dead_locks(folder: EngineFolder, stack_file: StackFile) -> Iterator[int]:
    """Remove the locks of a stack whose process is gone, as `pulumi cancel` would; the number of each process.

    A lock is a file with the process and its machine (pulumi/pulumi pkg/backend/diy/lock.go). One of another machine, or
    that cannot be read, stays: the CLI says whose it is.
    """
    place = folder.state / ".pulumi" / "locks" / "organization" / stack_file.project / stack_file.stack
    for path in sorted(place.glob("*.json")):
        try:
            lock = json.loads(path.read_text())
            process, machine = int(lock["pid"]), lock["hostname"]
        except (OSError, ValueError, KeyError, TypeError):
            continue
        if machine == socket.gethostname() and not _is_alive(process):
            path.unlink(missing_ok=True)
            path.with_name(f"{path.name}.attrs").unlink(missing_ok=True)
            yield process


def _is_alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
