"""Where a container sees what: its volumes at their mount paths, its own name files, memory and a message file. Pure."""

import posixpath
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from tests.kubernetes.kubelet.expansion import expand
from tests.kubernetes.kubelet.pods import Object

MESSAGE_PATH = "/dev/termination-log"
"""Default of `terminationMessagePath` (Kubernetes API reference, Container)."""


@dataclass(frozen=True)
class Mount:
    """A folder or file of the pod's, seen by the container at a path."""

    source: str
    target: str
    read_only: bool = False
    make: str = ""
    """`folder` where the source is made if it is not there: a subPath that was not written to yet."""

    def as_data(self) -> dict[str, Any]:
        """As the file for the container's own process has it."""
        return asdict(self)


class BadSubPath(Exception):
    """A subPath that would lead out of its volume."""


def container_mounts(
    container: Object, volumes: Mapping[str, Path], own_files: Mapping[str, Path], values: Mapping[str, str]
) -> list[Mount]:
    """What is bound into the container, outer paths before inner ones.

    `volumes`: folder of each volume by name; `own_files`: files of the pod by the path at which every container sees them;
    `values`: the container's environment, for `subPathExpr`. Raises BadSubPath.
    """
    mounts = {path: Mount(str(source), path) for path, source in own_files.items()}
    for wanted in container.get("volumeMounts") or ():
        inner = wanted.get("subPath") or expand(wanted.get("subPathExpr") or "", values)
        if inner.startswith("/") or ".." in inner.split("/"):
            raise BadSubPath(f"subPath {inner} of {wanted['name']} leads out of the volume")
        source = volumes[wanted["name"]] / inner if inner else volumes[wanted["name"]]
        target = posixpath.normpath(wanted["mountPath"])
        mounts[target] = Mount(str(source), target, bool(wanted.get("readOnly")), "folder" if inner else "")
    return sorted(mounts.values(), key=lambda mount: (mount.target.count("/"), mount.target))
