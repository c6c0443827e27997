"""The file with the description of what others keep: written by `trn network describe`, read by `trn rehearse --existing`."""

from pathlib import Path

from pydantic import ValidationError

from facts.external.description import Description
from facts.mistakes import File, problems_of
from facts.yaml_text import write_yaml
from stacks.stack_yaml import YamlError, read_yaml
from trn.cli.errors import MISUSE, CommandError, CompleteError
from trn.cli.text_files import read_text

MAX_BYTES = 1_000_000
"""Largest description; a VPC of 200 subnets, the most that a VPC has by default, has some hundred kilobytes."""
_HINT = "name a file that `trn network describe NAME --output FILE` wrote"
_FILE = File(Description, page="docs/existing.md")


def as_yaml(found: Description) -> str:
    """The text of the file. What is as by default is left out."""
    return write_yaml(found.model_dump(by_alias=True, mode="json", exclude_defaults=True), width=160)


def read_description(path: Path) -> Description:
    """What a file describes. Raises CommandError, or CompleteError with every mistake in it."""
    text = read_text(path, MAX_BYTES, _HINT)
    try:
        loaded = read_yaml(text)
    except YamlError as error:
        raise CommandError(f"{path}: {error}", _HINT, code=MISUSE) from error
    if not isinstance(loaded, dict):
        raise CommandError(f"{path} describes nothing that exists", _HINT, code=MISUSE)
    try:
        return Description.model_validate(loaded)
    except ValidationError as error:
        said = "\n\n".join(str(problem) for problem in problems_of(error, _FILE))
        raise CompleteError(f"{path} describes nothing that exists\n\n{said}", code=MISUSE) from error
