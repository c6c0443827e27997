"""Build backend of the project (PEP 517): setuptools for an editable install, a refusal for anything else.

The folders of this repository have names such as `components` and `facts`; a wheel would put them at the top of another
environment's packages. And the program is what a user edits: it is run from a checkout. Pulumi, which makes an environment in
the checkout that it takes a package from and installs it there without `--editable`, gets an editable install all the same.
"""

import sys
from pathlib import Path
from typing import Any, NoReturn

from setuptools.build_meta import build_editable, get_requires_for_build_editable, prepare_metadata_for_build_editable

__all__ = ["build_editable", "get_requires_for_build_editable", "prepare_metadata_for_build_editable"]
REFUSAL = (
    "trn is not installed as a package, it is run from its checkout: clone the repository, run `make venv` in it,"
    " then use .venv/bin/trn. To use another environment: pip install --editable . inside the checkout"
)


def get_requires_for_build_wheel(config_settings: Any = None) -> list[str]:
    """Called first by `pip install .` and `pip wheel .`; exits with the sentence outside the checkout's own environment."""
    _refuse_elsewhere()
    return get_requires_for_build_editable(config_settings)


def prepare_metadata_for_build_wheel(metadata_directory: str, config_settings: Any = None) -> str:
    """The metadata of the editable install; exits with the sentence outside the checkout's own environment."""
    _refuse_elsewhere()
    return prepare_metadata_for_build_editable(metadata_directory, config_settings)


def build_wheel(wheel_directory: str, config_settings: Any = None, metadata_directory: str | None = None) -> str:
    """The editable install; exits with the sentence outside the checkout's own environment."""
    _refuse_elsewhere()
    return build_editable(wheel_directory, config_settings, metadata_directory)


def build_sdist(sdist_directory: str, config_settings: Any = None) -> NoReturn:
    """Exits with the sentence: a source distribution would be installed as a wheel."""
    sys.exit(REFUSAL)


def _refuse_elsewhere() -> None:
    if Path(sys.prefix).resolve().parent != Path(__file__).resolve().parent.parent:
        sys.exit(REFUSAL)
