"""Makes docs/report.schema.json, and what docs/operations.md says of it, from the models of all documents."""

import importlib
import pkgutil
from collections.abc import Iterator
from functools import cache
from typing import Annotated, Any, Union

from pydantic import Field, TypeAdapter

import simulator
import trn
from facts.document import Document

_SHAPE = """
## JSON

What `--json` and files such as `report.json` hold is an object of one shape: `schema`, its name; `schemaVersion`, one more with every change that breaks a
reader; then its own keys. Keys are camelCase with their unit in the name (`usdPerHour`, `capacityGib`), times are seconds, points in time ISO 8601 in UTC.
Names that a user chose, such as those of node groups, stay as they are where they are keys, and so do documents of others: IAM policies, a
kubeconfig. `docs/report.schema.json` has all of them, told apart by `schema`:

"""


@cache
def documents() -> tuple[type[Document], ...]:
    """All models of documents, by name."""
    for package in (simulator, trn):
        for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            importlib.import_module(module.name)
    found = (model for model in _below(Document) if model.__module__.partition(".")[0] in ("simulator", "trn"))
    return tuple(sorted((model for model in found if not model.model_fields["schema_"].is_required()), key=name_of))


def _below(model: type[Document]) -> Iterator[type[Document]]:
    for each in model.__subclasses__():
        yield from (each, *_below(each))


def name_of(model: type[Document]) -> str:
    """What its `schema` says."""
    return model.model_fields["schema_"].default


def report_schema() -> dict[str, Any]:
    """JSON Schema of every document."""
    every: Any = Annotated[Union[documents()], Field(discriminator="schema_")]  # noqa: UP007 (a tuple known at run time)
    schema = TypeAdapter(every).json_schema(mode="serialization")
    for model in documents():
        version = schema["$defs"][model.__name__]["properties"]["schemaVersion"]
        version["const"] = version["default"]
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **schema}


def shape_section() -> str:
    """The end of docs/operations.md."""
    rows = [f"| `{name_of(model)}` | {model.model_fields['schema_version'].default} | {_says(model)} |" for model in documents()]
    return _SHAPE + "\n".join(["| `schema` | `schemaVersion` | what it is |", "| --- | --- | --- |", *rows]) + "\n"


def _says(model: type[Document]) -> str:
    return (model.__doc__ or "").partition("\n\n")[0].replace("\n", " ")
