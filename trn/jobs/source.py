"""A job's own files: which of a folder they are, by git's ignore rules, and how they go to the pods."""

import base64
import hashlib
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path

from training.job import Job
from training.launchers import launcher, names
from training.launchers.base import SourceWay
from training.payload import SOURCE, Source, room_bytes
from training.plan import launcher_of
from training.site import Site
from trn.cli.errors import MISUSE, CommandError
from trn.jobs.image.layer import Layer, make_layer, named, selected, size_text

LARGEST_BYTES = 1_000_000_000
"""Of all files before they are packed. What is larger is data: every start of every pod would pull it with the image."""
REQUIREMENTS = "requirements.txt"


@dataclass(frozen=True)
class OwnFiles:
    """The files, packed, and how they go."""

    layer: Layer
    way: SourceWay

    @property
    def line(self) -> str:
        """For a person."""
        count = len(self.layer.paths)
        how = "in a ConfigMap" if self.way == "packed" else "as one more layer of the image, pushed to the account's registry"
        return f"source: {count} {'file' if count == 1 else 'files'}, {size_text(self.layer.size)} packed, {how}"

    @property
    def notes(self) -> list[str]:
        """What a person may not expect."""
        if REQUIREMENTS not in self.layer.paths:
            return []
        return [f"{REQUIREMENTS} is in it, and nothing of it is installed: `trn image build` makes an image with what it names"]

    def tag(self, toolchain: str, base: str) -> str:
        """A tag that only the same files on the same base have; known before any registry is asked."""
        return f"{toolchain}-{hashlib.sha256(f'{base} {self.layer.digest}'.encode()).hexdigest()[:12]}"


def of_job(job: Job, site: Site, folder: Path) -> OwnFiles | None:
    """The files of a job's `source`. `folder`: where its file is. Raises CommandError."""
    if job.source is None:
        return None
    root, files = own_files(folder / job.source)
    layer = make_layer(root, SOURCE, files)
    name = launcher_of(job, site)
    ways = launcher(name).takes_source if name in names() else ()
    is_small = _text_size(layer.size) <= room_bytes()
    return OwnFiles(layer, "packed" if "packed" in ways and (is_small or "image" not in ways) else "image")


def seen_with(site: Site, own: OwnFiles | None, image: str) -> Site:
    """The site with what goes to the pods. `image`: the one with the layer."""
    if own is None:
        return site
    if own.way == "image":
        return replace(site, source=Source(own.layer.paths, image=image))
    if _text_size(own.layer.size) > room_bytes():
        most = size_text(room_bytes() * 3 // 4)
        hint = "put what is large on the file system, or let git ignore it"
        raise CommandError(f"the files have {size_text(own.layer.size)} packed, and this launcher brings at most {most}", hint, code=MISUSE)
    return replace(site, source=Source(own.layer.paths, base64.encodebytes(b"".join(own.layer.read(0))).decode()))


def own_files(path: Path) -> tuple[Path, list[Path]]:
    """Folder and files of a `source`: one file alone, or all of a folder that git does not ignore.

    Raises CommandError for what is not there, is empty, has links out of it, or is larger than any source.
    """
    if path.is_file():
        return path.parent, [path]
    if not path.is_dir():
        raise CommandError(f"there is no file or folder `{path}`", "`source` begins where the job file is", code=MISUSE)
    files = named(path, _listed(path)) if shutil.which("git") else _without_git(path)
    if not files:
        raise CommandError(f"`{path}` has no file, or git ignores all of them", "name a folder with the script", code=MISUSE)
    _refuse_large(path, files)
    return path, files


def _listed(folder: Path) -> list[str]:
    """What git has or would add, by its own rules; outside of a repository by the `.gitignore` files of the folder."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    words = ["ls-files", "-z", "--cached", "--others", "--exclude-standard"]

    def git(*arguments: str) -> "subprocess.CompletedProcess[str]":
        return subprocess.run(["git", *arguments], cwd=folder, env=environment, capture_output=True, text=True, errors="surrogateescape")

    if git("rev-parse", "--is-inside-work-tree").stdout.strip() == "true":
        answer = git(*words)
    else:
        with tempfile.TemporaryDirectory() as empty:
            git("init", "-q", "--bare", empty)
            answer = git("--git-dir", empty, "--work-tree", ".", *words)
    if answer.returncode:
        raise CommandError(f"git cannot list the files of `{folder}`: {answer.stderr.strip()}", "`git status` there says more")
    names = [name for name in answer.stdout.split("\0") if name]
    # A repository within the folder, also a submodule, is one name.
    inner = [name for name in names if (folder / name).is_dir() and not (folder / name).is_symlink()]
    below = [f"{name.rstrip('/')}/{each}" for name in inner for each in _listed(folder / name)]
    return [*(name for name in names if name not in inner), *below]


def _without_git(folder: Path) -> list[Path]:
    if (folder / ".gitignore").exists():
        hint = "install git, or remove the file to take all of the folder"
        raise CommandError(f"`{folder}/.gitignore` says what stays out, and there is no git to read it", hint)
    return selected(folder)


def _refuse_large(folder: Path, files: Iterable[Path]) -> None:
    sizes = {each: each.lstat().st_size for each in files}
    total = sum(sizes.values())
    if total > LARGEST_BYTES:
        largest = max(sizes, key=lambda each: sizes[each])
        wrong = f"`{folder}` has {size_text(total)} of files that git does not ignore, the largest is {largest.relative_to(folder)}, {size_text(sizes[largest])}"
        raise CommandError(
            f"{wrong}; at most {size_text(LARGEST_BYTES)} go to the pods",
            "name what is data in `.gitignore`: it belongs on the file system",
            code=MISUSE,
        )


def _text_size(count: int) -> int:
    """Bytes of so many as base64 in lines of 76 letters."""
    letters = -(-count // 3) * 4
    return letters + -(-letters // 76)
