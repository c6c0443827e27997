"""The one reader of stack configuration: from Pulumi's key-value pairs to frozen settings, or to all mistakes at once."""

import difflib
import json
import os
from collections.abc import Mapping
from typing import Any

import pulumi
from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from stacks import rules
from stacks.problems import ConfigurationError, Problem, missing
from stacks.settings import Settings

NAMESPACE = "trn"
REHEARSAL_VARIABLE = "TRN_REHEARSAL"
"""Set by `trn rehearse`: the run meets a simulated cloud, so the shipped stack file's example address will do."""


def load_settings() -> Settings:
    """Settings of the stack that Pulumi is running.

    Raises ConfigurationError with every mistake found.
    """
    return parse_settings(_pulumi_configuration(), pulumi.get_stack(), rehearsal=os.environ.get(REHEARSAL_VARIABLE) == "1")


def parse_settings(configuration: Mapping[str, Any], stack: str, *, rehearsal: bool = False) -> Settings:
    """Settings from keys without namespace and plain values.

    Raises ConfigurationError with every mistake: all that single keys get wrong, and all that keys get wrong together
    in the sections that are otherwise sound.
    """
    try:
        settings = _validated(configuration)
    except ValidationError as error:
        details = error.errors()
        problems = [_problem(detail) for detail in details]
        broken = {str(detail["loc"][0]) for detail in details}
        sound = {key: value for key, value in configuration.items() if key not in broken}
        stand_in = _validated({**_STAND_IN, **sound})
        problems += rules.check(stand_in, rehearsal=rehearsal, without=broken)
        raise ConfigurationError(problems, stack) from None
    problems = rules.check(settings, rehearsal=rehearsal)
    if problems:
        raise ConfigurationError(problems, stack)
    return settings


_STAND_IN: Mapping[str, Any] = {"name": "stand-in", "region": "us-west-2", "network": {"zones": ["usw2-az1", "usw2-az2"]}}
"""Used in place of required sections that are broken; rules that read one of these are not run."""


def _validated(configuration: Mapping[str, Any]) -> Settings:
    # YAML knows dates; as text they are refused like any other wrong kind of value.
    return Settings.model_validate_json(json.dumps(dict(configuration), default=str), strict=True)


def _pulumi_configuration() -> dict[str, Any]:
    from pulumi.runtime import config as pulumi_config

    pairs = {**pulumi_config.get_config_env(), **pulumi_config.CONFIG.get()}
    prefix = f"{NAMESPACE}:"
    return {key.removeprefix(prefix): _plain(value) for key, value in pairs.items() if key.startswith(prefix)}


def _plain(value: Any) -> Any:
    """Structured values reach a program as JSON text, plain ones as text."""
    if isinstance(value, str) and value[:1] in ("{", "["):
        try:
            return json.loads(value)
        except ValueError:
            return value
    return value


def _problem(detail: ErrorDetails) -> Problem:
    """One pydantic error in the house's words."""
    path, value, context = _path(detail["loc"]), detail["input"], detail.get("ctx", {})
    kind = detail["type"]
    if kind == "missing":
        return missing(path, f"`{path}` is missing", hint=_hint_for_missing(path))
    if kind == "extra_forbidden":
        known = _keys_of(detail["loc"][:-1])
        name = str(detail["loc"][-1])
        close = difflib.get_close_matches(name, known, n=1)
        wrong = f"unknown key `{path}`" + (f"; did you mean `{close[0]}`?" if close else "")
        return missing(path, wrong, allowed=", ".join(known), hint="docs/configuration.md has every key")
    if kind == "wrong_form":
        return Problem(path, value, f"not a valid {context['what']}", str(context["allowed"]), str(context["hint"]))
    if kind == "not_offered":
        return Problem(path, value, detail["msg"], str(context["allowed"]), str(context["hint"]))
    if kind == "literal_error":
        return Problem(
            path, value, "not one of the values allowed", str(context["expected"]).replace("'", ""), "take one of these, spelt the same way"
        )
    if kind == "string_pattern_mismatch":
        return Problem(path, value, "not of the form expected", f"text that matches {context['pattern']}", _form_hint(path))
    if kind == "string_type":
        return Problem(path, value, "text expected", "text", "put it in quotes: YAML reads 1.30 as the number 1.3")
    limits = {"greater_than_equal": ("ge", "at least"), "less_than_equal": ("le", "at most")}
    if kind in limits:
        key, words = limits[kind]
        return Problem(path, value, "outside its limits", f"{words} {context[key]}", "change the number")
    if kind in ("too_short", "too_long"):
        bound = context.get("min_length", context.get("max_length"))
        words = "at least" if kind == "too_short" else "at most"
        return Problem(
            path,
            value,
            "wrong number of entries",
            f"{words} {bound}",
            "a control plane needs subnets in two zones" if path == "network.zones" else "change the list",
        )
    wrong = f"wrong kind of value: {detail['msg'][0].lower()}{detail['msg'][1:]}"
    return Problem(path, json.dumps(value), wrong, hint="docs/configuration.md has the type of every key")


def _path(location: tuple[int | str, ...]) -> str:
    text = ""
    for part in location:
        if part == "[key]":
            continue
        text += f"[{part}]" if isinstance(part, int) else f".{part}" if text else str(part)
    return text


def _keys_of(location: tuple[int | str, ...]) -> list[str]:
    """Keys allowed at a place in the configuration, found by walking the models."""
    model: type[BaseModel] | None = Settings
    for part in location:
        if model is None:
            return []
        field = next((field for field in model.model_fields.values() if field.alias == part), None)
        if field is not None:
            model = _model_in(field.annotation)
    return [str(field.alias) for field in model.model_fields.values()] if model else []


def _model_in(annotation: Any) -> type[BaseModel] | None:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    for argument in getattr(annotation, "__args__", ()):
        found = _model_in(argument)
        if found is not None:
            return found
    return None


def _hint_for_missing(path: str) -> str:
    examples = {
        "name": "`pulumi config set trn:name trainium-dev`",
        "region": "`pulumi config set trn:region us-west-2`",
        "network": "`pulumi config set --path 'trn:network.zones[0]' usw2-az4`, and a second zone",
        "network.zones": "`pulumi config set --path 'trn:network.zones[0]' usw2-az4`, and a second zone",
    }
    return examples.get(path, f"set `{path}`; docs/configuration.md has every key")


def _form_hint(path: str) -> str:
    if path == "name":
        return "letters, digits and hyphens, at most 28 characters: role names built from it must fit IAM's 64"
    return "docs/configuration.md has the form of every key"
