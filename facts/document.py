"""The one shape of what commands write as JSON: `docs/report.schema.json` is made from these classes.

A document is an object with its name and version. Keys are camelCase and say their unit; times are seconds, points in time ISO 8601 in
UTC. Keys that users chose, such as names of node groups, and documents of others, such as an IAM policy, stay as they are.
"""

import json

from pydantic import BaseModel, ConfigDict
from pydantic.alias_generators import to_camel


def key_of(name: str) -> str:
    """The key of a field: seconds, which are `_s` in the code, are written out."""
    plain = name.removesuffix("_")
    return to_camel(f"{plain}econds" if plain.endswith("_s") else plain)


class Part(BaseModel, frozen=True):
    """Part of a document: nothing beyond its keys."""

    model_config = ConfigDict(
        extra="forbid",
        alias_generator=key_of,
        populate_by_name=True,
        use_attribute_docstrings=True,
        json_schema_serialization_defaults_required=True,
    )


class Document(Part, frozen=True):
    """What `--json` writes, or a file of ours holds."""

    # `schema` is pydantic's own word.
    schema_: str
    """Name of the document: `trn-` and the words of the command that writes it."""
    schema_version: int = 1
    """One more with every change that breaks a reader."""

    def as_json(self) -> str:
        """As it is written: keys in the order of the schema, two spaces, a final newline."""
        return json.dumps(self.model_dump(mode="json", by_alias=True), indent=2) + "\n"
