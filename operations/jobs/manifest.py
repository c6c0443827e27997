"""Objects as YAML that kubectl takes: keys in the order in which they were made, scripts as text with lines."""

import json
from collections.abc import Sequence

import yaml

from training.pod import Object


class _Dumper(yaml.SafeDumper):
    """Text with lines stays readable."""


def _text(dumper: yaml.SafeDumper, text: str) -> yaml.ScalarNode:
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style="|" if "\n" in text else None)


_Dumper.add_representer(str, _text)


def as_yaml(objects: Sequence[Object]) -> str:
    """All of them, one document each."""
    # Copied, so that what is used twice is written twice and not as an alias.
    return yaml.dump_all(json.loads(json.dumps(objects)), Dumper=_Dumper, sort_keys=False, width=160)
