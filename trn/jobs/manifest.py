"""Objects as YAML that kubectl takes: keys in the order in which they were made, scripts as text with lines."""

from collections.abc import Sequence

from facts.yaml_text import write_yaml
from training.launchers.base import Document
from training.pod import Object


def as_yaml(objects: Sequence[Object]) -> str:
    """All of them, one document each."""
    return write_yaml(*objects, width=160)


def as_text(objects: Sequence[Object], documents: Sequence[Document]) -> str:
    """Objects and documents as they are submitted: one document alone as it is, several each below a line with what submits it."""
    if not objects and len(documents) == 1:
        return documents[0].text
    parts = [as_yaml(objects)] if objects else []
    return "".join([*parts, *(f"# {document.name}: {document.command}\n{document.text}" for document in documents)])
