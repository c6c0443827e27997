"""What a model found wrong in a file that a user wrote, in the house's words: key path, value, what is allowed, and a fix."""

import difflib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from facts.problems import Problem, missing


@dataclass(frozen=True)
class File:
    """One kind of file, as far as its mistakes are worded."""

    model: type[BaseModel]
    """What the whole file is read into."""
    page: str
    """Page with every key."""
    for_missing: Mapping[str, str] = field(default_factory=dict)
    """What to do for a required key that is not there, by key path."""
    for_form: Mapping[str, str] = field(default_factory=dict)
    """What to do for a text that is not of its form, by key path."""
    for_length: Mapping[str, str] = field(default_factory=dict)
    """What to do for a list with too few or too many entries, by key path."""
    replaced: Mapping[str, str] = field(default_factory=dict)
    """What to do for a key that there was in an earlier form of the file, by key path."""


def problems_of(error: ValidationError, file: File) -> list[Problem]:
    """All that the model found, in its order."""
    return [_problem(detail, file) for detail in error.errors()]


def _problem(detail: ErrorDetails, file: File) -> Problem:
    path, value, context = _path(detail["loc"]), detail["input"], detail.get("ctx", {})
    kind = detail["type"]
    if kind == "missing":
        hint = file.for_missing.get(path, f"set `{path}`; {file.page} has every key")
        return missing(path, f"`{path}` is missing", hint=hint)
    if kind == "extra_forbidden":
        known = _keys_of(file.model, detail["loc"][:-1])
        close = difflib.get_close_matches(str(detail["loc"][-1]), known, n=1)
        wrong = f"unknown key `{path}`" + (f"; did you mean `{close[0]}`?" if close and path not in file.replaced else "")
        return missing(path, wrong, allowed=", ".join(known), hint=file.replaced.get(path, f"{file.page} has every key"))
    if kind == "wrong_form":
        return Problem(path, value, f"not a valid {context['what']}", str(context["allowed"]), str(context["hint"]))
    if kind == "not_offered":
        return Problem(path, value, detail["msg"], str(context["allowed"]), str(context["hint"]))
    if kind == "literal_error":
        return Problem(
            path, value, "not one of the values allowed", str(context["expected"]).replace("'", ""), "take one of these, spelt the same way"
        )
    if kind == "string_pattern_mismatch":
        hint = file.for_form.get(path, f"{file.page} has the form of every key")
        return Problem(path, value, "not of the form expected", f"text that matches {context['pattern']}", hint)
    if kind == "string_type":
        return Problem(path, value, "text expected", "text", "put it in quotes: YAML reads 1.30 as the number 1.3")
    limits = {"greater_than_equal": ("ge", "at least"), "less_than_equal": ("le", "at most")}
    if kind in limits:
        key, words = limits[kind]
        return Problem(path, value, "outside its limits", f"{words} {context[key]}", "change the number")
    if kind in ("too_short", "too_long"):
        bound = context.get("min_length", context.get("max_length"))
        words = "at least" if kind == "too_short" else "at most"
        return Problem(path, value, "wrong number of entries", f"{words} {bound}", file.for_length.get(path, "change the list"))
    wrong = f"wrong kind of value: {detail['msg'][0].lower()}{detail['msg'][1:]}"
    return Problem(path, json.dumps(value), wrong, hint=f"{file.page} has the type of every key")


def _path(location: tuple[int | str, ...]) -> str:
    text = ""
    for part in location:
        if part == "[key]":
            continue
        text += f"[{part}]" if isinstance(part, int) else f".{part}" if text else str(part)
    return text


def _keys_of(root: type[BaseModel], location: tuple[int | str, ...]) -> list[str]:
    """Keys allowed at a place in the file, found by walking the models."""
    model: type[BaseModel] | None = root
    for part in location:
        if model is None:
            return []
        found = next((entry for entry in model.model_fields.values() if entry.alias == part), None)
        if found is not None:
            model = _model_in(found.annotation)
    return [str(entry.alias) for entry in model.model_fields.values()] if model else []


def _model_in(annotation: Any) -> type[BaseModel] | None:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    for argument in getattr(annotation, "__args__", ()):
        found = _model_in(argument)
        if found is not None:
            return found
    return None
