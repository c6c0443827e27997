"""What all sections of the configuration share: frozen models, camelCase keys, texts that come from a table."""

from dataclasses import dataclass
from typing import Annotated, Any, TypeVar

from pydantic import BaseModel, ConfigDict, GetCoreSchemaHandler, GetJsonSchemaHandler
from pydantic.alias_generators import to_camel
from pydantic_core import PydanticCustomError, core_schema

from facts import forms
from facts.forms import Form

KUBERNETES_NAME = r"[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?"


def attribute(key: str) -> str:
    """A section's attribute for its key in YAML: `core_dns` for `coreDns`."""
    return "".join(f"_{letter.lower()}" if letter.isupper() else letter for letter in key)


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
    """Marks a text key that has a form of `facts.forms`: the schema has its pattern for editors, and an error says what is allowed."""

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


class AddonSettings(Section):
    """Base of the sections of add-ons with a switch. Each says with its own docstring what the switch does."""

    enabled: bool = False


SectionType = TypeVar("SectionType", bound=Section)


class AddonSections(Section):
    """The section `addons`; its sections by add-on are fields of the model that the registry composes."""

    mirror: Annotated[str, Formed(forms.REGISTRY)] | None = None
    """Registry that holds copies of all images, for clusters without a way to the internet; `trn images --mirror` lists them. EKS add-ons come from EKS's own registry all the same."""

    def of(self, kind: type[SectionType]) -> SectionType:
        """The section of one class.

        Raises KeyError where no add-on of the registry has it.
        """
        for name in type(self).model_fields:
            section = getattr(self, name)
            if isinstance(section, kind):
                return section
        raise KeyError(kind.__name__)

    def get(self, key: str) -> AddonSettings:
        """The section of one add-on with a switch, by its key."""
        section = getattr(self, attribute(key))
        assert isinstance(section, AddonSettings), key
        return section
