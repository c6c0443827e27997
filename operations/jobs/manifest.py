"""Objects as YAML that kubectl takes: keys in the order in which they were made, scripts as text with lines."""

import json
from collections.abc import Sequence

import yaml

from training.launchers.base import Document
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


def as_text(objects: Sequence[Object], documents: Sequence[Document]) -> str:
    """Objects and documents as they are submitted: one document alone as it is, several each below a line with what submits it."""
    if not objects and len(documents) == 1:
        return documents[0].text
    parts = [as_yaml(objects)] if objects else []
    return "".join([*parts, *(f"# {document.name}: {document.command}\n{document.text}" for document in documents)])
