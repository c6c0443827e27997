"""The three standard streams, where whoever started the command closed one: `trn status <&-`, and some schedulers and init systems."""

import errno
import io
import os
import sys
from typing import Any

FULL = (errno.ENOSPC, errno.EDQUOT)
"""A full device, and a user's quota of it."""


def open_closed_streams() -> None:
    """Opens the null device for each standard stream that is closed: it reads as empty, and what is written to it is lost.

    On the others, characters that the locale does not have are written as escapes.

    Without it Python has None there, and the first file that is opened takes the stream's number, also in the processes that are started.
    """
    for number, name, mode in ((0, "stdin", "r"), (1, "stdout", "w"), (2, "stderr", "w")):
        if _is_closed(number):
            # POSIX, open: the lowest number that is free, which is this one.
            opened = os.open(os.devnull, os.O_RDWR)
            os.set_inheritable(opened, True)
        if getattr(sys, name) is None:
            setattr(sys, name, os.fdopen(number, mode, encoding="utf-8", closefd=False))
        elif mode == "w":
            # A locale that lacks a character, such as those of a curve, is no reason to stop.
            getattr(sys, name).reconfigure(errors="backslashreplace")
    if sys.stderr is sys.__stderr__:
        # Progress that finds no room is no reason to stop: the result may be on another device.
        file = io.BufferedWriter(_Lossy(2, "w", closefd=False))
        sys.stderr = io.TextIOWrapper(file, sys.stderr.encoding, "backslashreplace", line_buffering=True)


class _Lossy(io.FileIO):
    """A file on whose full device what is written is lost."""

    def write(self, data: Any, /) -> int:
        """As of any file."""
        try:
            return super().write(data)
        except OSError as error:
            if error.errno not in FULL:
                raise
            return memoryview(data).nbytes


def flush_output() -> None:
    """Writes out what is left in the buffers of both outputs, or drops it: the interpreter would fail at its end to write it.

    Their reader is gone, or their device is full, which the command has said.
    """
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except OSError:
            null = os.open(os.devnull, os.O_WRONLY)
            os.dup2(null, stream.fileno())
            os.close(null)


def _is_closed(number: int) -> bool:
    try:
        os.fstat(number)
    except OSError:
        return True
    return False
