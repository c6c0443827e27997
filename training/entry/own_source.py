"""A job's own files in the pod: unpacked where they came packed, and the first look whether the script is there at all.

One of the files that every pod has under /trn: standard library only, Python 3.9 or later. `training.check` reads commands by it too.
"""

from __future__ import annotations

import base64
import contextlib
import hashlib
import os
import re
import shutil
import tarfile
import tempfile
from collections.abc import Mapping, Sequence

PACKED = "source.tar.gz.b64"
"""Beside the entry script: the files as a tar archive, as text."""
FOLDER = "workspace"
"""In the archive, and at the root of an image: the folder with the files, in which work begins."""
TERMINATION_LOG = "/dev/termination-log"
"""What is written here is in the status of the pod (Kubernetes, container `terminationMessagePath`)."""
NO_FILE = 127
"""Exit code where the command names a file that is not there, as of a shell."""
_INTERPRETER = re.compile(r"(python[0-9.]*|bash|sh)")
_WITH_VALUE = ("-W", "-X", "--check-hash-based-pycs")
_SCRIPT = re.compile(r"[^-].*\.(py|sh)")


class SourceError(Exception):
    """The files cannot be unpacked."""


def script_of(command: Sequence[str]) -> str | None:
    """The file that a command runs: of an interpreter the first word that is no option, of torchrun and others the first script.

    None for a module, for code on the command line, and for a program that is looked for on PATH.
    """
    program, words = os.path.basename(command[0]), list(command[1:])
    if _INTERPRETER.fullmatch(program):
        while words and words[0].startswith("-"):
            option = words.pop(0)
            if option[1:2] != "-" and option[-1:] in ("c", "m"):
                return None
            if option in _WITH_VALUE and words:
                words.pop(0)
        return words[0] if words else None
    if "/" in command[0]:
        return command[0]
    return next((word for word in words if _SCRIPT.fullmatch(word)), None)


def unpacked(here: str) -> str | None:
    """The folder with the files of the archive in `here`; None where there is no archive. Raises SourceError.

    Its name follows from the files: of several processes of a node the first one makes it, as a whole.
    """
    try:
        with open(os.path.join(here, PACKED), "rb") as file:
            packed = base64.b64decode(file.read())
    except FileNotFoundError:
        return None
    temporary = tempfile.gettempdir()
    place = os.path.join(temporary, f"trn-source-{os.getuid()}-{hashlib.sha256(packed).hexdigest()[:12]}")
    if not os.path.isdir(place):
        draft = tempfile.mkdtemp(dir=temporary)
        archive = os.path.join(draft, PACKED)
        with open(archive, "wb") as file:
            file.write(packed)
        with tarfile.open(archive) as files:
            # Written by `trn`: no link in it leads out of its folder. Python before 3.12 may have no `filter`.
            files.extractall(draft)
        os.remove(archive)
        with contextlib.suppress(OSError):
            os.rename(draft, place)
        if os.path.isdir(draft):
            shutil.rmtree(draft)
    if os.stat(place).st_uid != os.getuid():
        raise SourceError(f"{place} belongs to another user")
    return os.path.join(place, FOLDER)


def missing_file(command: Sequence[str], folder: str) -> str | None:
    """What a person needs to know of a file that the command names and that is not there; None where all is."""
    script = script_of(command)
    if script is not None and not os.path.exists(os.path.join(folder, script)):
        beside = sorted(os.listdir(folder))[:8] if os.path.isdir(folder) else []
        return f"there is no file {script} in the pod: work begins in {folder}, which has {', '.join(beside) or 'nothing'}"
    if "/" not in command[0] and shutil.which(command[0]) is None:
        return f"there is no program {command[0]} in the image"
    return None


def working_folder(environment: Mapping[str, str], here: str) -> str:
    """Where work begins: with the files of the job, else where the image says. Raises SourceError."""
    return unpacked(here) or environment.get("TRN_SOURCE") or os.getcwd()


def leave_message(text: str, place: str = TERMINATION_LOG) -> None:
    """Says why the pod ends where Kubernetes keeps it; nothing where there is no such place, as without Kubernetes."""
    with contextlib.suppress(OSError):
        if os.path.exists(place):
            with open(place, "w") as file:
                file.write(text)
