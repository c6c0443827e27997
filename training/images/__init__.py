"""The Dockerfile of each toolchain, and what it must keep."""

from pathlib import Path

from facts.toolchains import Toolchain

FOLDER = Path(__file__).parent


def dockerfile(toolchain: str) -> str:
    """Text of the Dockerfile of a toolchain. Raises KeyError for one that has none."""
    path = FOLDER / toolchain / "Dockerfile"
    if not path.is_file():
        raise KeyError(toolchain)
    return path.read_text()


def constraints(toolchain: Toolchain) -> str:
    """For pip: what a job's own requirements may not change, since image, runtime and driver go with it."""
    return "".join(f"{name}=={version}\n" for name, version in sorted(toolchain.versions.items()))
