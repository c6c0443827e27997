"""Files of recipes as modules. They import each other by bare names, as they lie in a pod, and share names from recipe to recipe."""

import importlib.util
import sys
from types import ModuleType

from training.payload import RECIPES, SHARED

sys.path.append(str(SHARED))


def module(recipe: str, name: str) -> ModuleType:
    """One file that imports nothing beyond the standard library."""
    spec = importlib.util.spec_from_file_location(f"{recipe}_{name}", RECIPES / recipe / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    found = importlib.util.module_from_spec(spec)
    # dataclasses look their module up.
    sys.modules[spec.name] = found
    spec.loader.exec_module(found)
    return found
