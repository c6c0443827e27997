"""A build by the container tool of this machine: the context it is given, and its commands."""

import shutil
import subprocess
import tempfile
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from facts.document import Document
from facts.toolchains import Toolchain
from training.images import constraints, dockerfile
from trn.cli.errors import MISUSE, CommandError
from trn.jobs.image.manifest import PLATFORM

TOOLS = ("docker", "podman", "finch")
"""All three take the same words for what is done here."""
FILES = "files"
"""Folder of the job's files in the context."""


def tool_of(wanted: str | None) -> str:
    """The tool to build with. Raises CommandError where there is none."""
    if wanted is not None and wanted not in TOOLS:
        raise CommandError(f"unknown container tool `{wanted}`", f"--tool takes {', '.join(TOOLS)}", code=MISUSE)
    found = next((name for name in ((wanted,) if wanted else TOOLS) if shutil.which(name)), None)
    if found is None:
        what = wanted or f"none of {', '.join(TOOLS)}"
        hint = "install one of them; or `trn image push FOLDER`, which needs none, where files are all that is added"
        raise CommandError(f"{what} is {'not ' if wanted else ''}on PATH", hint)
    return found


class ImageBuildReport(Document, frozen=True):
    """What `trn image build` did without `--push`."""

    schema_: Literal["trn-image-build"] = "trn-image-build"
    image: str
    toolchain: str
    files: int
    command: tuple[str, ...] | None
    """What `--dry-run` would run; null where it was run."""
    built: bool


@dataclass(frozen=True)
class Build:
    """One build."""

    tool: str
    toolchain: Toolchain
    base: str | None
    """In place of the Dockerfile's own."""
    into: str
    image: str

    def command(self, context: Path) -> list[str]:
        """What is run."""
        base = ["--build-arg", f"BASE={self.base}"] if self.base else []
        into = ["--build-arg", f"INTO={self.into}"]
        return [self.tool, "build", "--platform", "/".join(PLATFORM), *base, *into, "--tag", self.image, str(context)]

    def prepare(self, context: Path, folder: Path, paths: Iterable[Path]) -> None:
        """Lay the context out: the Dockerfile, what the toolchain pins, and the files."""
        (context / "Dockerfile").write_text(dockerfile(self.toolchain.name))
        (context / "constraints.txt").write_text(constraints(self.toolchain))
        for path in paths:
            copy = context / FILES / path.relative_to(folder)
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(path, copy, follow_symlinks=False)


def shown(planned: Build, folder: Path, files: Sequence[Path]) -> str:
    """The Dockerfile of a build, and how it would be run."""
    how = f"# {len(files)} files of {folder} are below {FILES}/; run with:\n# {' '.join(planned.command(Path('CONTEXT')))}"
    return dockerfile(planned.toolchain.name) + how


def built(planned: Build, folder: Path, files: Iterable[Path]) -> None:
    """Build it in a context of its own, which is gone afterwards. Raises CommandError where the tool fails."""
    with tempfile.TemporaryDirectory(prefix="trn-image-") as context:
        planned.prepare(Path(context), folder, files)
        run(planned.command(Path(context)))


def image_id(tool: str, image: str) -> str:
    """What a tool calls an image of this machine: the digest of its configuration, or of its manifest; empty where it does not say."""
    done = subprocess.run([tool, "image", "inspect", "--format", "{{.Id}}", image], capture_output=True, text=True, check=False)
    found = done.stdout.strip() if done.returncode == 0 else ""
    return f"sha256:{found.removeprefix('sha256:')}" if found else ""


def run(command: list[str], given: str | None = None) -> None:
    """Run a tool; its own output goes to standard error. Raises CommandError where it fails. `given`: its standard input."""
    from trn.cli.output import errors

    errors().print(" ".join(command), markup=False)
    done = subprocess.run(command, input=given, text=True, stdout=2, check=False)
    if done.returncode:
        raise CommandError(f"`{command[0]} {command[1]}` ended with exit code {done.returncode}", "what it printed says why")
