"""Files that a person names: read as text, and no more than such a file can sensibly have; and written, in UTF-8 whatever the locale."""

import errno
import os
import select
import stat
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from trn.cli.errors import MISUSE, CommandError

STANDARD_INPUT = Path("-")
WRITER_S = 5.0
"""How long a pipe may wait for whoever writes to it, real seconds; who has it open already has all the time it needs."""
LONGEST_LINE = 1 << 20
"""Bytes of one line that are looked at; what a program of training writes on one line has a few hundred."""


def read_text(path: Path, most_bytes: int, hint: str, *, too_large: str = "keep data out of it") -> str:
    """Text of a file or a pipe, in UTF-8; a mark at its start by which editors say so is dropped, as Pulumi does.

    `hint`: what to name where it cannot be read; `too_large`: what to do where it has more than `most_bytes`. Raises CommandError.
    """
    with _opened(path, hint) as file:
        try:
            return bounded(file, path, most_bytes, too_large).decode("utf-8-sig")
        except UnicodeDecodeError as error:
            raise CommandError(f"{path} is not UTF-8 text: {error}", "save it as UTF-8", code=MISUSE) from error
        except OSError as error:
            raise CommandError(f"cannot read {path}: {error.strerror}", hint, code=MISUSE) from error


def write_text(path: Path, text: str, hint: str) -> None:
    """Write a file, whole or not at all, in a folder that is made where it is not there.

    Raises CommandError: a full disk alone would name no file.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        _write_whole(path, text.encode(errors="backslashreplace"))
    except (OSError, ValueError) as error:
        # ValueError: a path with a null character.
        raise CommandError(f"cannot write `{path}`: {getattr(error, 'strerror', None) or error}", hint) from error


def _write_whole(path: Path, data: bytes) -> None:
    """Beside its place, and then in it: who is stopped in between leaves what was there before. Devices and pipes are written to."""
    target = path.resolve()
    if target.exists() and (not target.is_file() or not os.access(target.parent, os.W_OK)):
        path.write_bytes(data)
        return
    mode = stat.S_IMODE(target.stat().st_mode) if target.exists() else None
    if mode is not None and not os.access(target, os.W_OK):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(path))
    draft = target.with_name(f".{target.name}.{os.getpid()}")
    try:
        draft.write_bytes(data)
        if mode is not None:
            draft.chmod(mode)
        draft.replace(target)
    finally:
        draft.unlink(missing_ok=True)


def read_input(most_bytes: int, too_large: str) -> str:
    """All of standard input, as UTF-8. Raises CommandError."""
    try:
        return bounded(sys.stdin.buffer, "standard input", most_bytes, too_large).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise CommandError(f"standard input is not UTF-8 text: {error}", "pass UTF-8", code=MISUSE) from error


def marked_lines(path: Path, mark: str, most_bytes: int, hint: str, *, too_large: str) -> Iterator[str]:
    """Lines of a file or a pipe that hold a mark, read one after the other; what is longer than LONGEST_LINE is left out.

    Raises CommandError as `read_text` does; bytes that are not UTF-8 are replaced.
    """
    wanted, count, is_rest = mark.encode(), 0, False
    with _opened(path, hint) as file:
        try:
            while line := file.readline(LONGEST_LINE):
                count += len(line)
                if count > most_bytes:
                    raise CommandError(f"{path} has more than {most_bytes:,} bytes", too_large, code=MISUSE)
                is_whole = len(line) < LONGEST_LINE or line.endswith(b"\n")
                if is_whole and not is_rest and wanted in line:
                    yield from (part for part in line.decode(errors="replace").splitlines() if mark in part)
                is_rest = not line.endswith(b"\n")
        except OSError as error:
            raise CommandError(f"cannot read {path}: {error.strerror}", hint, code=MISUSE) from error


def bounded(file: BinaryIO, name: object, most_bytes: int, too_large: str) -> bytes:
    """All of a stream. Raises CommandError where it has more bytes."""
    found = file.read(most_bytes + 1)
    if len(found) > most_bytes:
        raise CommandError(f"{name} has more than {most_bytes:,} bytes", too_large, code=MISUSE)
    return found


def _opened_pipe(path: Path) -> BinaryIO:
    """A pipe that something writes to. What comes later than WRITER_S is not waited for: without a writer the pipe reads as empty."""
    number = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    select.select([number], [], [], WRITER_S)
    os.set_blocking(number, True)
    return os.fdopen(number, "rb")


def _opened(path: Path, hint: str) -> BinaryIO:
    """A file, a pipe, or the null device as an empty file: another device has no end, and opening it can change what it does."""
    try:
        found = os.stat(path)
        is_null = stat.S_ISCHR(found.st_mode) and found.st_rdev == os.stat(os.devnull).st_rdev
        if not (is_null or any(of_kind(found.st_mode) for of_kind in (stat.S_ISREG, stat.S_ISFIFO, stat.S_ISDIR))):
            raise CommandError(f"{path} is neither a file nor a pipe", hint, code=MISUSE)
        return _opened_pipe(path) if stat.S_ISFIFO(found.st_mode) else path.open("rb")
    except OSError as error:
        raise CommandError(f"cannot read {path}: {error.strerror}", hint, code=MISUSE) from error
    except ValueError as error:
        # A path with a null character.
        raise CommandError(f"cannot read {str(path)!r}: {error}", hint, code=MISUSE) from error
