"""What all models of files that users write share: frozen, camelCase keys, unknown keys refused, texts that come from a table."""

from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel, ConfigDict, GetCoreSchemaHandler, GetJsonSchemaHandler
from pydantic.alias_generators import to_camel
from pydantic_core import PydanticCustomError, core_schema

from facts.text_formats import Form

KUBERNETES_NAME = r"[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?"
"""A name of Kubernetes that is a label of DNS (RFC 1123)."""


@dataclass(frozen=True)
class OneOf:
    """Marks a text key that takes one of a table's names: the schema lists them for editors, and an error shows them with a fix."""

    allowed: tuple[str, ...]
    hint: str

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> core_schema.CoreSchema:
        return core_schema.no_info_after_validator_function(self._check, handler(source))

    def __get_pydantic_json_schema__(self, schema: core_schema.CoreSchema, handler: GetJsonSchemaHandler) -> dict[str, Any]:
        return {**handler(schema), "enum": list(self.allowed)}

    def _check(self, value: str) -> str:
        if value not in self.allowed:
            raise PydanticCustomError(
                "not_offered", "not one of the values allowed", {"allowed": ", ".join(self.allowed), "hint": self.hint}
            )
        return value


@dataclass(frozen=True)
class Formed:
    """Marks a text key that has a form of `facts.text_formats`: the schema has its pattern for editors, and an error says what is allowed."""

    form: Form

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> core_schema.CoreSchema:
        return core_schema.no_info_after_validator_function(self._check, handler(source))

    def __get_pydantic_json_schema__(self, schema: core_schema.CoreSchema, handler: GetJsonSchemaHandler) -> dict[str, Any]:
        return {**handler(schema), "pattern": f"^(?:{self.form.pattern})$", "maxLength": self.form.longest}

    def _check(self, value: str) -> str:
        if not self.form.fits(value):
            context = {"what": self.form.what, "allowed": self.form.allowed, "hint": self.form.hint}
            raise PydanticCustomError("wrong_form", "not of its form", context)
        return value


class Section(BaseModel):
    """Base of all sections: frozen, camelCase in YAML, unknown keys refused."""

    model_config = ConfigDict(frozen=True, extra="forbid", alias_generator=to_camel, populate_by_name=True, use_attribute_docstrings=True)
