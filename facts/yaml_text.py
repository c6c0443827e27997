"""Data as YAML that every reader takes for the same data: PyYAML, Pulumi's CLI, kubectl and Helm differ on what text without quotes is.

kubectl and Helm read by YAML 1.1 as Go's libraries know it, so that `y` is true, Pulumi by most of YAML 1.2, so that `0o17` is 15, and
PyYAML takes both for text. Text that any of them reads as something else is written in quotes.
Source: resolve.go of go.yaml.in/yaml/v2 2.4.3 (sigs.k8s.io/yaml 1.6.0, kubectl) and of go.yaml.in/yaml/v3 3.0.5; yaml.org/type for the
sexagesimal numbers of YAML 1.1; read 2026-11.
"""

import re
from typing import Any

import yaml

_WORDS = frozenset(["y", "n", "yes", "no", "on", "off", "true", "false", "null", "~", "<<", "=", ".nan", ".inf", "+.inf", "-.inf"]) | {""}
"""In lower case: each reader has spellings of its own."""
_NUMBERS = re.compile(
    r"[-+]?0[bBoOxX][-+]?[0-9a-fA-F]*"  # base 2, 8 and 16
    r"|[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]*)?"  # base 10; 017 is octal to some
    r"|[-+]?[0-9]+(:[0-9]+)+(\.[0-9]*)?"  # base 60
)
_DATES = re.compile(r"[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}([Tt \t].*)?", re.DOTALL)


def is_text_only_in_quotes(text: str) -> bool:
    """Whether a reader takes a text without quotes for a number, a truth value, a moment, nothing or a merge."""
    # Go's readers leave underscores out of whatever begins as a number.
    return text.lower() in _WORDS or bool(_NUMBERS.fullmatch(text.replace("_", "")) or _DATES.fullmatch(text))


class _Dumper(yaml.SafeDumper):
    """Text in quotes where it needs them, text of several lines as lines."""

    def ignore_aliases(self, data: Any) -> bool:  # noqa: ARG002 (the signature is PyYAML's)
        """What is there twice is written twice: a person edits one of the two."""
        return True


def _write_text(dumper: yaml.SafeDumper, text: str) -> yaml.ScalarNode:
    style = "|" if "\n" in text else "'" if is_text_only_in_quotes(text) else None
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style=style)


_Dumper.add_representer(str, _write_text)


def write_yaml(*documents: Any, width: int = 140) -> str:
    """One document, or several with lines `---` between them. Keys stay in their order."""
    return yaml.dump_all(documents, Dumper=_Dumper, sort_keys=False, width=width)
