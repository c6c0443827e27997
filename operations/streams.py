"""The three standard streams, where whoever started the command closed one: `trn status <&-`, and some schedulers and init systems."""

import os
import sys


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


def flush_output() -> None:
    """Writes out what is left in the buffer of standard output, or drops it: the interpreter would fail at its end to write it.

    Its reader is gone, or its device is full, which the command has said.
    """
    try:
        sys.stdout.flush()
    except OSError:
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, sys.stdout.fileno())
        os.close(null)


def _is_closed(number: int) -> bool:
    try:
        os.fstat(number)
    except OSError:
        return True
    return False
