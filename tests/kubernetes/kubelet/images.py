"""Images without a registry: a small table of names, each of which means programs of this machine.

There is no root file system of an image: a container sees the machine's own files, copied on write. What is in the table can run;
what is not gives ErrImagePull, as a real kubelet says it of an image that no registry has.
"""

import json
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path

SYSTEM_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
OWN_PROGRAMS = Path(__file__).parent / "programs"
"""Programs that small images have and a machine may lack."""


@dataclass(frozen=True)
class Image:
    """What a container of this image starts with."""

    environment: Mapping[str, str] = field(default_factory=dict)
    entrypoint: tuple[str, ...] = ()
    command: tuple[str, ...] = ()
    """Arguments to the entry point where the container gives none: Docker's CMD."""
    working_folder: str = "/"


class NotPulled(Exception):
    """No image of this name: ErrImagePull in the API, in the words of containerd."""

    def __init__(self, image: str, known: Iterable[str]) -> None:
        text = f'failed to pull and unpack image "{image}": failed to resolve image: {image}: not found'
        super().__init__(f"{text} (the process kubelet knows: {', '.join(known)})")
        self.image = image


def standard_images() -> dict[str, Image]:
    """The table: pattern of a repository's name (without registry's host, tag and digest) to image."""
    python = f"{Path(sys.executable).parent}:{SYSTEM_PATH}"
    shell = Image({"PATH": f"{SYSTEM_PATH}:{OWN_PROGRAMS}"}, command=("sh",))
    return {
        "busybox": shell,
        "library/busybox": shell,
        "alpine": shell,
        "library/alpine": shell,
        "python": Image({"PATH": python, "PYTHONUNBUFFERED": "1"}, command=("python3",)),
        "library/python": Image({"PATH": python, "PYTHONUNBUFFERED": "1"}, command=("python3",)),
        "pause": Image({"PATH": SYSTEM_PATH}, entrypoint=("sleep", "infinity")),
    }


def read_images(text: str) -> dict[str, Image]:
    """More of the table from JSON: `{"pattern": {"path": [folders], "environment": {}, "entrypoint": [], "command": []}}`."""
    return {
        pattern: Image(
            {"PATH": ":".join([*entry.get("path", ()), SYSTEM_PATH]), **entry.get("environment", {})},
            tuple(entry.get("entrypoint", ())),
            tuple(entry.get("command", ())),
        )
        for pattern, entry in json.loads(text).items()
    }


def repository(name: str) -> str:
    """An image's name without the registry's host, tag and digest: `public.ecr.aws/neuron/jax:1@sha256:0` is `neuron/jax`."""
    bare = name.partition("@")[0]
    head, slash, tail = bare.rpartition("/")
    bare = head + slash + tail.partition(":")[0]
    first, slash, rest = bare.partition("/")
    return rest if slash and ("." in first or ":" in first or first == "localhost") else bare


def find_image(name: str, table: Mapping[str, Image]) -> Image:
    """The image of this name; the first pattern that matches wins. Raises NotPulled."""
    wanted = repository(name)
    for pattern, image in table.items():
        if fnmatchcase(wanted, pattern):
            return image
    raise NotPulled(name, table)


def kept_of_tmp(environment: Mapping[str, str], own: Iterable[str] = (sys.prefix, sys.base_prefix)) -> list[str]:
    """Folders of the machine's /tmp that a container sees: those with its programs and modules, and with this Python (`own`).

    All else of its /tmp is its own: what another process left there under the same name would be in its way.
    """
    paths = [*environment.get("PATH", "").split(":"), *environment.get("PYTHONPATH", "").split(":"), *own]
    return sorted({"/".join(path.split("/")[:3]) for path in paths if path.startswith("/tmp/")})


def process_arguments(container: Mapping[str, list[str]], image: Image) -> list[str]:
    """Program and arguments: `command` replaces the entry point and Docker's CMD, `args` only the latter (API reference, Container)."""
    command, arguments = container.get("command") or [], container.get("args") or []
    if command:
        return [*command, *arguments]
    return [*image.entrypoint, *(arguments or image.command)]
