"""A folder as one layer of an image: the same files give the same bytes, wherever and whenever it is made."""

import fnmatch
import gzip
import hashlib
import os
import stat
import tarfile
import tempfile
import weakref
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO, cast

from trn.cli.errors import MISUSE, CommandError

EXCLUDED = (".git", ".venv", "__pycache__", "*.pyc", ".DS_Store")
"""Names that are no part of a program, at any depth."""
CHUNK = 1 << 20


@dataclass(frozen=True)
class Layer:
    """One layer, compressed, in a file that goes with it."""

    file: IO[bytes]
    digest: str
    """Of the compressed bytes: the name of the blob."""
    diff_id: str
    """Of the plain archive: what an image's configuration lists (OCI image specification, layer DiffID)."""
    size: int
    """Bytes, compressed."""
    paths: tuple[str, ...]
    """Files in it, relative to the folder."""

    def read(self, start: int) -> Iterator[bytes]:
        """Its bytes from a position on."""
        self.file.seek(start)
        while chunk := self.file.read(CHUNK):
            yield chunk


def selected(folder: Path, exclude: Iterable[str] = ()) -> list[Path]:
    """Files and links of a folder in the order of their names, without what is excluded by its name or its path.

    Raises CommandError for a folder that is none or is empty, a link that leads out of it, and what is neither file nor link.
    """
    if not folder.is_dir():
        raise CommandError(f"`{folder}` is no folder", "name the folder with the files of the job", code=MISUSE)
    patterns = (*EXCLUDED, *exclude)
    found = [path for path in _walk(folder, folder, patterns) if _checked(folder, path)]
    if not found:
        raise CommandError(f"`{folder}` has no file that is not excluded", f"excluded: {', '.join(patterns)}", code=MISUSE)
    return found


def named(folder: Path, names: Iterable[str]) -> list[Path]:
    """Those of the named files of a folder that are there, in order, without what is no part of a program. Raises CommandError as `selected`."""
    found = (folder / name for name in sorted(set(names)) if not _is_excluded(name))
    return [path for path in found if (path.is_symlink() or path.exists()) and _checked(folder, path, "or let git ignore it")]


def _is_excluded(name: str) -> bool:
    return any(fnmatch.fnmatchcase(part, pattern) for part in name.split("/") for pattern in EXCLUDED)


def selected_for_push(folder: Path, exclude: Iterable[str] = ()) -> list[Path]:
    """The same for a layer that is pushed as it is. Raises CommandError also for a folder whose requirements would have to be installed."""
    files = selected(folder, exclude)
    if folder / "requirements.txt" in files:
        hint = "`trn image build` installs what it names; `--exclude requirements.txt` pushes without it"
        raise CommandError("a push installs nothing, and the folder has a requirements.txt", hint, code=MISUSE)
    return files


def _walk(folder: Path, top: Path, patterns: tuple[str, ...]) -> Iterator[Path]:
    for path in sorted(folder.iterdir(), key=lambda path: path.name):
        relative = path.relative_to(top).as_posix()
        if any(fnmatch.fnmatchcase(text, pattern) for pattern in patterns for text in (path.name, relative)):
            continue
        if path.is_dir() and not path.is_symlink():
            yield from _walk(path, top, patterns)
        else:
            yield path


def _checked(folder: Path, path: Path, instead: str = "") -> bool:
    """True, or CommandError for what cannot be in a layer. `instead`: how it stays out; by default by `--exclude`."""
    relative = path.relative_to(folder)
    if path.is_symlink():
        target = os.readlink(path)
        inside = Path(os.path.normpath(relative.parent / target))
        if Path(target).is_absolute() or inside.parts[:1] == ("..",):
            raise CommandError(
                f"`{relative}` is a link to {target}, out of the folder", f"copy the file, {instead or 'or --exclude it'}", code=MISUSE
            )
    elif not path.is_file():
        raise CommandError(f"`{relative}` is neither a file nor a link", f"--exclude {relative}", code=MISUSE)
    return True


def make_layer(folder: Path, into: str, paths: Iterable[Path]) -> Layer:
    """The files below `into` in the image: owned by root, without times, with the right to execute where the owner has it."""
    kept = list(paths)
    file = tempfile.TemporaryFile()  # noqa: SIM115 - it is closed with the layer
    plain, packed = hashlib.sha256(), _Counted(file)
    # Level and time are set: both would be in the bytes.
    with (
        gzip.GzipFile(fileobj=cast(IO[bytes], packed), mode="wb", compresslevel=6, mtime=0, filename="") as compressed,
        tarfile.open(fileobj=cast(IO[bytes], _Hashed(compressed, plain)), mode="w|", format=tarfile.PAX_FORMAT) as archive,
    ):
        for name in _folders(into, folder, kept):
            archive.addfile(_entry(name, tarfile.DIRTYPE, 0o755))
        for path in kept:
            _add(archive, path, f"{into.strip('/')}/{path.relative_to(folder).as_posix()}")
    names = tuple(path.relative_to(folder).as_posix() for path in kept)
    made = Layer(file, f"sha256:{packed.hash.hexdigest()}", f"sha256:{plain.hexdigest()}", packed.size, names)
    weakref.finalize(made, file.close)
    return made


def _folders(into: str, folder: Path, paths: Iterable[Path]) -> list[str]:
    """Every folder on the way to a file, parents first."""
    base = Path(into.strip("/"))
    found = {parent for path in paths for parent in (base / path.relative_to(folder)).parents if parent != Path(".")}
    return sorted(parent.as_posix() for parent in found)


def _add(archive: tarfile.TarFile, path: Path, name: str) -> None:
    if path.is_symlink():
        entry = _entry(name, tarfile.SYMTYPE, 0o777)
        entry.linkname = os.readlink(path)
        archive.addfile(entry)
        return
    with path.open("rb") as file:
        about = os.fstat(file.fileno())
        entry = _entry(name, tarfile.REGTYPE, 0o755 if about.st_mode & stat.S_IXUSR else 0o644)
        entry.size = about.st_size
        archive.addfile(entry, file)


def _entry(name: str, kind: bytes, mode: int) -> tarfile.TarInfo:
    entry = tarfile.TarInfo(name)
    entry.type, entry.mode, entry.mtime = kind, mode, 0
    return entry


def size_text(count: int) -> str:
    """Bytes as people read them."""
    for unit, step in (("GB", 10**9), ("MB", 10**6), ("kB", 10**3)):
        if count >= step:
            return f"{count / step:.1f} {unit}"
    return f"{count} B"


class _Hashed:
    """Writes on, and hashes what it writes."""

    def __init__(self, to: gzip.GzipFile, digest: "hashlib._Hash") -> None:
        self._to, self._digest = to, digest

    def write(self, data: bytes) -> int:
        self._digest.update(data)
        return self._to.write(data)


class _Counted:
    """The same, with the number of bytes."""

    def __init__(self, to: IO[bytes]) -> None:
        self._to, self.hash, self.size = to, hashlib.sha256(), 0

    def write(self, data: bytes) -> int:
        self.hash.update(data)
        self.size += len(data)
        return self._to.write(data)

    def flush(self) -> None:
        self._to.flush()
