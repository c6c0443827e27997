"""Finds the project and its stack files by their names alone. Loads nothing: it runs before every command, and for the shell's completion."""

from difflib import get_close_matches
from pathlib import Path

from trn.cli.errors import MISUSE, CommandError
from trn.cli.placement import LONGEST_NAME, STACK_NAME

_CHECKOUT = Path(__file__).resolve().parents[2]
_OWN_FILE = Path(__file__).resolve().relative_to(_CHECKOUT)


class StackFileError(CommandError):
    """There is no such project or stack file, or it cannot be read."""

    def __init__(self, wrong: str, hint: str) -> None:
        super().__init__(wrong, hint, code=MISUSE)


def project_root(start: Path) -> Path:
    """The folder of the nearest Pulumi.yaml, in `start` or above.

    Raises StackFileError where there is none, and for another checkout of this repository: its program would be run with modules of
    this one.
    """
    here = start.resolve()
    root = next((folder for folder in (here, *here.parents) if (folder / "Pulumi.yaml").is_file()), None)
    if root is None:
        raise StackFileError(f"no Pulumi.yaml in {start} or above", "run trn inside the repository")
    if (root / _OWN_FILE).is_file() and root != _CHECKOUT:
        hint = f"run {root}/.venv/bin/trn, which `make venv` makes there; or this one in a folder with the project's files alone"
        raise StackFileError(f"this trn is that of {_CHECKOUT}, and {root} is another checkout with modules of its own", hint)
    return root


def stacks_in(root: Path) -> list[str]:
    """Names of the stacks that have a file in a project's folder."""
    return sorted(path.name.removeprefix("Pulumi.").removesuffix(".yaml") for path in root.glob("Pulumi.*.yaml") if path.is_file())


def stacks_here() -> list[str]:
    """Names of the stacks of the nearest project; none where there is no project."""
    try:
        return stacks_in(project_root(Path.cwd()))
    except StackFileError:
        return []


def stack_path(stack: str, start: Path | None = None) -> Path:
    """The stack's file, in the nearest project of `start`, or of the working folder.

    Raises StackFileError, with a hint, where there is none.
    """
    if not STACK_NAME.fullmatch(stack) or not stack.strip("."):
        wrong = f"`{stack if len(stack) <= LONGEST_NAME else stack[:LONGEST_NAME] + '...'}` is not the name of a stack"
        raise StackFileError(
            wrong, f"letters, digits, hyphens, underscores and periods, at most {LONGEST_NAME}; without organization and project"
        )
    root = project_root(start or Path.cwd())
    path = root / f"Pulumi.{stack}.yaml"
    if path.exists() and not path.is_file():
        raise StackFileError(f"{path} is a folder or a pipe", "a stack's configuration is in a plain file of that name")
    if not path.is_file():
        known = stacks_in(root)
        near = get_close_matches(stack, known, n=1)
        hint = f"stacks with a file here: {', '.join(known)}" if known else "copy Pulumi.dev.yaml from the repository"
        raise StackFileError(f"there is no {path.name} in {root}", f"did you mean `{near[0]}`? {hint}" if near else hint)
    return path
