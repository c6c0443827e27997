"""What runs a job: one module for each launcher, with a constant LAUNCHER. A new module in this folder is a new launcher."""

from functools import cache
from importlib import import_module
from pathlib import Path

from training.launchers.base import Launcher

_NOT_LAUNCHERS = frozenset({"__init__", "base", "kubeflow", "parts", "sbatch"})


@cache
def names() -> tuple[str, ...]:
    """Names of all launchers, as a job file spells them, in the order of the alphabet. Imports none of them."""
    modules = (path.stem for path in Path(__file__).parent.glob("*.py"))
    return tuple(sorted(module.replace("_", "-") for module in modules if module not in _NOT_LAUNCHERS))


@cache
def launcher(name: str) -> Launcher:
    """One launcher; KeyError for a name that there is not."""
    if name not in names():
        raise KeyError(name)
    found = import_module(f"{__name__}.{name.replace('-', '_')}").LAUNCHER
    assert isinstance(found, Launcher), name
    assert found.name == name, f"{found.name} is in the module of {name}"
    return found


def launchers() -> tuple[Launcher, ...]:
    """All of them."""
    return tuple(map(launcher, names()))
