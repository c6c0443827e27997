"""Packs files into an archive that its owner alone can read, that replaces no other, and that is there whole or not at all."""

import gzip
import io
import os
import tarfile
import tempfile
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path

from trn.cli.errors import CommandError

ENDING = ".tar.gz"
_MODE = 0o600
_HINT = "name a folder that you may write to with --output"


def packed(files: Mapping[str, str], folder: str, at: datetime) -> bytes:
    """The archive of files, below one folder. Nothing in it says who made it, or on which machine."""
    packing = io.BytesIO()
    with gzip.GzipFile(fileobj=packing, mode="wb", mtime=at.timestamp()) as zipped, tarfile.open(fileobj=zipped, mode="w") as archive:
        for name, text in files.items():
            data = text.encode(errors="backslashreplace")
            entry = tarfile.TarInfo(f"{folder}/{name}")
            entry.size, entry.mode, entry.mtime = len(data), _MODE, int(at.timestamp())
            archive.addfile(entry, io.BytesIO(data))
    return packing.getvalue()


def write_new(data: bytes, folder: Path, name: str) -> Path:
    """Write a new file of mode 0600; where one of the name is there, a number is added. Its path.

    It is written beside its place and then moved there, so that no half of it is ever found. Raises CommandError.
    """
    made = None
    try:
        folder.mkdir(parents=True, exist_ok=True)
        handle, beside = tempfile.mkstemp(prefix=f".{name}-", dir=folder)
        made = Path(beside)
        with os.fdopen(handle, "wb") as file:
            file.write(data)
        path = _reserved(folder, name)
        try:
            made.replace(path)
        except BaseException:
            path.unlink(missing_ok=True)
            raise
        return path
    except (OSError, ValueError) as error:
        # ValueError: a path with a null character.
        raise CommandError(f"cannot write in `{folder}`: {getattr(error, 'strerror', None) or error}", _HINT) from error
    finally:
        if made is not None:
            made.unlink(missing_ok=True)


def _reserved(folder: Path, name: str) -> Path:
    """A file that was not there before, empty."""
    number = 1
    while True:
        path = folder / f"{name}{'' if number == 1 else f'-{number}'}{ENDING}"
        try:
            os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, _MODE))
            return path
        except FileExistsError:
            number += 1
