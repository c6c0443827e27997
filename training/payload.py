"""Files that every pod of a job finds under /trn: the entry script, and the files of its recipe. Read once, kept."""

from functools import cache
from pathlib import Path

FOLDER = Path(__file__).parent
ENTRY, RECIPES = FOLDER / "entry", FOLDER / "recipes"
SHARED = RECIPES / "shared"
"""What several recipes import."""
ENTRY_SCRIPT = "entry.py"
SCRIPT = "train.py"
"""Name of a recipe's own script."""
LIMIT_BYTES = 1_000_000
"""Of all files together: a ConfigMap holds 1 MiB (Kubernetes, ConfigMap)."""


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


def _scripts(folder: Path) -> dict[str, str]:
    """Modules of a folder. Its name in the package is nothing in the pod, where all lie side by side."""
    return {path.name: path.read_text() for path in sorted(folder.glob("*.py")) if path.name != "__init__.py"}
