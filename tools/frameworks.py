"""Python environments for training frameworks, one for each, made on demand and kept in the user's cache.

The program itself needs none of them: they are large, and some cannot be installed beside its own packages.
What is in one is in training/requirements/NAME.txt, with exact versions.
"""

import fcntl
import hashlib
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

REQUIREMENTS = Path(__file__).parents[1] / "training" / "requirements"


@dataclass(frozen=True)
class Framework:
    """One environment."""

    name: str
    title: str
    size_gb: float
    """On disk when installed; measured on Linux x86-64, Python 3.11, 2026-11."""
    newest_python: tuple[int, int] = (3, 14)
    """Newest minor for which all its packages are published."""


FRAMEWORKS: Mapping[str, Framework] = {
    framework.name: framework
    for framework in (
        Framework("jax", "JAX for the processor", 0.6),
        # torch's wheel for Linux asks for CUDA's libraries, which are most of it and stay unused.
        Framework("torch", "PyTorch with gloo and XLA, Transformers, Ray and TorchX", 7.5, newest_python=(3, 13)),
        Framework("tensorflow", "TensorFlow for the processor", 1.6, newest_python=(3, 13)),
        Framework("mpi", "Open MPI and mpi4py", 0.2),
        Framework("torchx", "TorchX with its Kubernetes scheduler", 0.2),
        Framework("parallelcluster", "AWS ParallelCluster", 0.2, newest_python=(3, 12)),
    )
}
OLDEST_PYTHON = (3, 11)
LIMIT_S = 1800
"""Longest time that pip may take."""


class NoEnvironmentError(Exception):
    """An environment is not there and cannot be made; says why."""


def home(environment: Mapping[str, str]) -> Path:
    """Where environments are: $TRN_FRAMEWORKS, or in the user's cache (XDG base directory specification)."""
    cache = environment.get("XDG_CACHE_HOME") or Path(environment.get("HOME", "/tmp"), ".cache")
    return Path(environment.get("TRN_FRAMEWORKS") or Path(cache, "trn", "frameworks"))


def folder(name: str, environment: Mapping[str, str]) -> Path:
    """Where an environment is: another one for other requirements, or another Python."""
    said = (REQUIREMENTS / f"{name}.txt").read_bytes() + sys.version.encode()
    return home(environment) / f"{name}-{hashlib.sha256(said).hexdigest()[:8]}"


def ready(name: str, environment: Mapping[str, str]) -> bool:
    """Whether it was made before, to its end."""
    return (folder(name, environment) / "ready").exists()


def refusal(framework: Framework, python: tuple[int, int], free_gb: float) -> str | None:
    """Why an environment cannot be made here; None where it can."""
    if not OLDEST_PYTHON <= python <= framework.newest_python:
        oldest, newest = (".".join(map(str, version)) for version in (OLDEST_PYTHON, framework.newest_python))
        return f"{framework.title} of training/requirements is published for Python {oldest} to {newest}, this is {python[0]}.{python[1]}"
    # pip unpacks beside what it has downloaded.
    needed = 2 * framework.size_gb + 1
    if free_gb < needed:
        return f"{framework.title} needs {needed:.0f} GB while it is installed, {free_gb:.0f} GB are free"
    return None


def interpreter(name: str, environment: Mapping[str, str]) -> Path:
    """Python of an environment, which is made first where it is missing.

    Raises NoEnvironmentError where disk, Python or the package registry do not allow it. Two callers make it once.
    """
    framework, place = FRAMEWORKS[name], folder(name, environment)
    place.parent.mkdir(parents=True, exist_ok=True)
    with (place.parent / f"{place.name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (place / "ready").exists():
            reason = refusal(framework, sys.version_info[:2], shutil.disk_usage(place.parent).free / 1e9)
            if reason is not None:
                raise NoEnvironmentError(reason)
            _make(place, REQUIREMENTS / f"{name}.txt", limit_s(environment, time.time()))
    return place / "bin" / "python"


def limit_s(environment: Mapping[str, str], now: float) -> float:
    """Longest time that pip may take: LIMIT_S, or until the time in $TRN_UNTIL (seconds since 1970) where that is sooner."""
    return max(0.0, min(LIMIT_S, float(environment.get("TRN_UNTIL") or "inf") - now))


def _make(place: Path, requirements: Path, limit: float) -> None:
    """Makes an environment and marks it as whole at the end."""
    shutil.rmtree(place, ignore_errors=True)
    python = place / "bin" / "python"
    install = [
        str(python),
        "-m",
        "pip",
        "install",
        "--quiet",
        "--disable-pip-version-check",
        "--no-deps",
        "--requirement",
        str(requirements),
    ]
    environment = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "VIRTUAL_ENV")}
    for command in ([sys.executable, "-m", "venv", str(place)], install):
        try:
            done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False, timeout=limit)
        except subprocess.TimeoutExpired:
            raise NoEnvironmentError(f"{requirements.name} was not installed within {limit / 60:.0f} minutes") from None
        if done.returncode:
            lines = (done.stderr or done.stdout).strip().splitlines()
            raise NoEnvironmentError(f"pip could not install {requirements.name}: {lines[-1] if lines else 'no reason given'}")
    (place / "ready").touch()
