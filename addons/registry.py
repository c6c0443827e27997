"""All add-ons: the list of their folders, in the order in which users read of them."""

import difflib
from collections.abc import Mapping
from importlib import import_module

from addons import core
from addons.declaration import Declaration, DeclarationError

FOLDERS = (
    "neuron",
    "efa",
    "volcano",
    "etcd",
    "metrics_server",
    "cluster_autoscaler",
    "karpenter",
    "idle_guard",
    "prometheus",
    "managed_prometheus",
    "grafana",
    "neuron_monitor",
    "efa_exporter",
    "lustre_exporter",
    "cloudwatch",
    "fluent_bit",
    "node_monitoring",
    "kueue",
    "trainer",
    "training_operator",
    "mpi_operator",
    "kuberay",
    "leader_worker_set",
    "efs_csi",
    "mountpoint_s3",
    "load_balancer_controller",
    "cert_manager",
    "slurm",
    "batch",
)
"""Folders of the add-ons with a switch. Each has its DECLARATION in `__init__.py` and `make(site)` in `component.py`."""


def _declaration(folder: str) -> Declaration:
    found = getattr(import_module(f"addons.{folder}"), "DECLARATION", None)
    if not isinstance(found, Declaration):
        wrong = f"addons/{folder}/__init__.py has no DECLARATION"
        raise DeclarationError(wrong, "write one, or take the folder out of FOLDERS in addons/registry.py")
    return found


def refuse_shared_keys(by_folder: Mapping[str, Declaration]) -> None:
    """Raises DeclarationError where two folders declare one key: one of them would be lost without a word."""
    folders: dict[str, str] = {}
    for folder, declaration in by_folder.items():
        if (other := folders.setdefault(declaration.key, folder)) != folder:
            raise DeclarationError(
                f"addons/{other} and addons/{folder} both declare the key {declaration.key}", "give one of them another key"
            )


def refuse_unknown_keys(by_folder: Mapping[str, Declaration]) -> None:
    """Raises DeclarationError where an add-on names another that there is not: what was meant would be neither needed nor awaited."""
    known = [declaration.key for declaration in by_folder.values()]
    for folder, declaration in by_folder.items():
        for name in ("needs", "after", "changes"):
            for key in getattr(declaration, name):
                if key not in known or key == declaration.key:
                    close = difflib.get_close_matches(key, [other for other in known if other != declaration.key], n=1, cutoff=0)
                    wrong = f"addons/{folder} declares `{name}` {key!r}, which is the key of no other add-on"
                    raise DeclarationError(wrong, f"did you mean {close[0]!r}? `trn addons` lists all keys")


def read_folders() -> Mapping[str, Declaration]:
    """Declarations by folder. Raises DeclarationError for a folder without one, a key of two, and a key of none."""
    found = {folder: _declaration(folder) for folder in FOLDERS}
    refuse_shared_keys(found)
    refuse_unknown_keys(found)
    return found


_BY_FOLDER: Mapping[str, Declaration] = read_folders()
REGISTRY: tuple[Declaration, ...] = (*core.DECLARATIONS, *_BY_FOLDER.values())
"""All of them, those that are always there first."""
SWITCHED: Mapping[str, Declaration] = {declaration.key: declaration for declaration in _BY_FOLDER.values()}
"""Add-ons with a section `addons.KEY` in the configuration."""
FOLDER_OF: Mapping[str, str] = {declaration.key: folder for folder, declaration in _BY_FOLDER.items()}
"""Folder by key."""


def with_needs(key: str) -> list[str]:
    """The add-on's key behind those of all that it needs."""
    needed = [other for need in SWITCHED[key].needs for other in with_needs(need)]
    return [*dict.fromkeys(needed), key]


def making_order() -> list[str]:
    """Keys in the order in which add-ons are made: each behind those it comes after, the fenced ones behind all others.

    Raises ValueError where add-ons come after each other in a circle.
    """
    waiting = [*(key for key in SWITCHED if not SWITCHED[key].fenced), *(key for key in SWITCHED if SWITCHED[key].fenced)]
    ordered: list[str] = []
    while waiting:
        free = next((key for key in waiting if not set(SWITCHED[key].after) & set(waiting)), None)
        if free is None:
            raise ValueError(f"add-ons that come after each other: {', '.join(waiting)}")
        waiting.remove(free)
        ordered.append(free)
    return ordered
