"""A cluster that a tool makes for one stack, and deletes: that one and no other.

Its name is written down before the tool is asked to make it, and is free then. So whenever a command is killed, `practice down` finds the
name and deletes the cluster, and the next `up` begins by that; a cluster of the name that is not written down is left alone.
"""

import json
import os
import shutil
import subprocess
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from local_kubernetes.clients import Administrator, Unusable, administrator_of
from local_kubernetes.errors import MISUSE, LocalKubernetesError
from local_kubernetes.running import IDENTITY
from local_kubernetes.ways import GO, Way, cluster_name, named, names

RECORD, KUBECONFIG, OWN = "cluster.json", "administrator.kubeconfig", "tool.kubeconfig"
"""In the identity's folder: what was made, an administrator's kubeconfig, and the file that the tool may write as it likes."""
Tell = Callable[[str], None]


@dataclass(frozen=True)
class Made:
    """What is written down of a cluster."""

    way: str
    name: str
    is_whole: bool
    """Whether making it has ended well."""


def read(folder: Path) -> Made | None:
    """The cluster that a tool made, or was asked to make, for a control plane's folder; None where none was."""
    try:
        return Made(**json.loads((folder / IDENTITY / RECORD).read_text()))
    except FileNotFoundError:
        return None


def way_of(folder: Path) -> Way | None:
    """How the control plane of a folder came to be; None where it has none."""
    made = read(folder)
    if made is not None:
        return named(made.way)
    return GO if (folder / IDENTITY).is_dir() else None


def make(folder: Path, way: Way, stack: str, tell: Tell, settle: Callable[[Administrator], None]) -> Made:
    """The stack's cluster, made where it is not there. `settle`: what is done once with a new one, before it counts as made.

    Raises LocalKubernetesError: for a name that is taken by a cluster that was not made here, and for what the tool refuses.
    """
    made = read(folder)
    there = _clusters(way, folder)
    if made is not None and made.name in there:
        if made.is_whole:
            return made
        tell(f"deleting {made.name}, whose making was cut off")
        _delete(folder, way, made.name)
        there = _clusters(way, folder)
    name = cluster_name(stack, folder)
    if name in there:
        wrong = f"{way.name} has a cluster {name} already, and it was not made by this folder"
        raise LocalKubernetesError(wrong, f"if you do not need it: `{way.delete_hint(name)}`", code=MISUSE)
    made = Made(way.name, name, is_whole=False)
    _write(folder, made)
    tell(f"making the cluster {name} with {version(way)}")
    try:
        _asked(folder, way, way.create, name, shown=True)
        text = _asked(folder, way, way.kubeconfig, name)
        path = folder / IDENTITY / KUBECONFIG
        path.touch(mode=0o600)
        path.write_text(text)
        settle(administrator(folder))
    except (LocalKubernetesError, Unusable) as error:
        delete(folder, tell)
        raise LocalKubernetesError(
            f"{way.name} made no cluster: {error.args[0]}", f"`{way.name}` by itself says more, and may need Docker"
        ) from error
    made = replace(made, is_whole=True)
    _write(folder, made)
    return made


def delete(folder: Path, tell: Tell) -> None:
    """Delete the cluster that a tool made for the folder, and what is written down of it. Raises LocalKubernetesError, and keeps that, where it cannot."""
    made = read(folder)
    if made is None:
        return
    way = named(made.way)
    try:
        if made.name in _clusters(way, folder):
            tell(f"deleting the cluster {made.name} with {way.name}")
            _delete(folder, way, made.name)
    except LocalKubernetesError as error:
        hint = f"`{way.delete_hint(made.name)}`, then again"
        raise LocalKubernetesError(f"the cluster {made.name} is still there: {error.args[0]}", hint) from error
    shutil.rmtree(folder / IDENTITY)


def delete_without_folder(made: Made, own: Path) -> None:
    """Delete a cluster whose folder is gone. `own`: a file that the tool may write."""
    way = named(made.way)
    subprocess.run(way.command(way.delete, made.name, own), env=_environment(own), check=False)


def administrator(folder: Path) -> Administrator:
    """Of the cluster. Raises Unusable."""
    path = folder / IDENTITY / KUBECONFIG
    return administrator_of(path.read_text(), path.parent)


def version(way: Way) -> str:
    """What the tool says of its version: `kind v0.30.0`."""
    done = subprocess.run([way.name, *way.version], capture_output=True, text=True, check=False)
    words = (done.stdout or done.stderr).split()
    said = next((word for word in words if word.lstrip("v")[:1].isdigit()), "")
    return f"{way.name} {said}".strip()


def _clusters(way: Way, folder: Path) -> set[str]:
    return names(_asked(folder, way, way.clusters, ""))


def _delete(folder: Path, way: Way, name: str) -> None:
    _asked(folder, way, way.delete, name)


def _asked(folder: Path, way: Way, arguments: Sequence[str], name: str, *, shown: bool = False) -> str:
    """What the tool prints. `shown`: it says on standard error how far it is, for the user to see. Raises LocalKubernetesError with its words."""
    own = folder / IDENTITY / OWN
    try:
        done = subprocess.run(
            way.command(arguments, name, own), env=_environment(own), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=None if shown else subprocess.PIPE, text=True, check=False,
        )  # fmt: skip
    except OSError as error:
        raise LocalKubernetesError(f"{way.name} cannot be run: {error.strerror}") from error
    if done.returncode:
        said = (done.stderr or done.stdout).strip()
        raise LocalKubernetesError(said or f"`{way.name} {arguments[0]}` ended with {done.returncode}")
    return done.stdout


def _environment(own: Path) -> dict[str, str]:
    """Tools that are not told of a kubeconfig write this one."""
    return os.environ | {"KUBECONFIG": str(own)}


def _write(folder: Path, made: Made) -> None:
    """Whole or not at all."""
    path = folder / IDENTITY / RECORD
    path.parent.mkdir(parents=True, exist_ok=True)
    beside = path.with_name(f"{RECORD}.new")
    beside.write_text(json.dumps(asdict(made)) + "\n")
    beside.replace(path)
