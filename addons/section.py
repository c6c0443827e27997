"""The sections of add-ons in the configuration: those with a switch, and the section `addons` that holds them."""

from typing import Annotated, TypeVar

from facts import text_formats
from facts.section import Formed, Section


def attribute(key: str) -> str:
    """A section's attribute for its key in YAML: `core_dns` for `coreDns`."""
    return "".join(f"_{letter.lower()}" if letter.isupper() else letter for letter in key)


class AddonSettings(Section):
    """Base of the sections of add-ons with a switch. Each says with its own docstring what the switch does."""

    enabled: bool = False


SectionType = TypeVar("SectionType", bound=Section)


class AddonSections(Section):
    """The section `addons`; its sections by add-on are fields of the model that the registry composes."""

    mirror: Annotated[str, Formed(text_formats.REGISTRY)] | None = None
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
