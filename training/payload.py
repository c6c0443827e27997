"""Files that every pod of a job finds under /trn: the entry script, and the files of its recipe. Read once, kept."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from training.entry.own_source import FOLDER as SOURCE_FOLDER
from training.entry.own_source import PACKED

FOLDER = Path(__file__).parent
ENTRY, RECIPES = FOLDER / "entry", FOLDER / "recipes"
SHARED = RECIPES / "shared"
"""What several recipes import."""
ENTRY_SCRIPT = "entry.py"
SCRIPT = "train.py"
"""Name of a recipe's own script."""
LIMIT_BYTES = 1_000_000
"""Of all files together: a ConfigMap holds 1 MiB (Kubernetes, ConfigMap)."""
SOURCE = f"/{SOURCE_FOLDER}"
"""Where the files of a job's `source` are in an image."""


@dataclass(frozen=True)
class Source:
    """What a job's `source` names, as it goes to the pods: packed beside the entry script, or as a layer of an image."""

    paths: tuple[str, ...]
    """Files, relative to the folder in which work begins."""
    packed: str = ""
    """The archive as text; empty where the files are in the image."""
    image: str | None = None
    """The image with the files; None where they are packed."""


@cache
def recipes() -> tuple[str, ...]:
    """Names of the recipes."""
    return tuple(sorted(path.parent.name for path in RECIPES.glob(f"*/{SCRIPT}")))


@cache
def reads_data(recipe: str) -> bool:
    """Whether a recipe trains on a data set, or on generated text where it is told so: its scripts import the reader."""
    return any("import token_data" in text for text in _scripts(RECIPES / recipe).values())


@cache
def files(recipe: str | None) -> dict[str, str]:
    """Text by name, the same for every job of a recipe.

    Raises KeyError for a recipe that there is not, ValueError where two files share a name or all are too large.
    """
    if recipe is not None and recipe not in recipes():
        raise KeyError(recipe)
    found = _scripts(ENTRY)
    for folder in (SHARED, RECIPES / recipe) if recipe is not None else ():
        for name, text in _scripts(folder).items():
            if name in found:
                raise ValueError(f"recipe {recipe} has a file {name}, and so has the entry script")
            found[name] = text
    if sum(len(text.encode()) for text in found.values()) > LIMIT_BYTES:
        raise ValueError(f"the files of recipe {recipe} have more than {LIMIT_BYTES} bytes")
    return found


def job_files(recipe: str | None, source: Source | None) -> Mapping[str, str]:
    """All that a job's pods find under /trn: the entry script, the recipe's files, and the job's own where they come packed."""
    return {**files(recipe), **({PACKED: source.packed} if source is not None and source.packed else {})}


def room_bytes() -> int:
    """Bytes that packed files may have as text, beside the entry script."""
    return LIMIT_BYTES - sum(len(text.encode()) for text in files(None).values())


def _scripts(folder: Path) -> dict[str, str]:
    """Modules of a folder. Its name in the package is nothing in the pod, where all lie side by side."""
    return {path.name: path.read_text() for path in sorted(folder.glob("*.py")) if path.name != "__init__.py"}
