"""What Pulumi's engine plans, as changes that the rest of the program can judge."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from facts.typed import typed
from simulator.engine.plan import Change, Kind
from simulator.recording import Recording, Registration
from trn.cli.errors import CommandError
from trn.engine.pulumi import Pulumi
from trn.engine.stack_export import read_export

_KINDS: Mapping[str, Kind] = {
    "create": "create",
    "import": "create",
    "update": "update",
    "replace": "replace",
    "create-replacement": "replace",
    "delete-replaced": "replace",
    "delete": "delete",
}
"""Words of the engine (pulumi/pulumi sdk/go/common/display/steps.go) for what happens to a resource in the end."""
_NOTHING = frozenset(
    {"same", "read", "refresh", "read-replacement", "read-discard", "discard-replaced", "remove-pending-replace", "import-replacement"}
)
"""Steps that change nothing outside the engine."""


@dataclass(frozen=True)
class Planned:
    """A plan of the real engine."""

    before: Recording
    """What the state holds."""
    after: Recording
    """What the program asks for."""
    changes: Mapping[str, Change]
    """By URN; what stays the same is left out."""


def ask_engine(pulumi: Pulumi, stack: str, program: Recording) -> Planned:
    """Ask the engine for its plan and its state; nothing is changed. Raises CommandError where it gives none."""
    exported, previewed = (_answer(pulumi, command) for command in (export_command(stack), preview_command(stack)))
    return planned(exported, previewed, program)


def export_command(stack: str) -> tuple[str, ...]:
    """Prints the state."""
    return ("pulumi", "stack", "export", "--stack", stack)


def preview_command(stack: str) -> tuple[str, ...]:
    """Prints the plan."""
    return ("pulumi", "preview", "--json", "--non-interactive", "--stack", stack)


def planned(exported: str, previewed: str, program: Recording) -> Planned:
    """From what `pulumi stack export` and `pulumi preview --json` print.

    Raises CommandError for a text that is neither, for a preview that failed, and for two that are not of this stack and one moment:
    what they leave out would pass for safe.
    """
    state, preview = _read(exported, "pulumi stack export"), _read(previewed, "pulumi preview --json")
    wrong = said(previewed)
    if wrong or "steps" not in preview:
        raise CommandError(
            "the preview failed, so it does not say what would happen", wrong or f"run `{typed('pulumi preview --json')}` again"
        )
    try:
        return _planned(state, preview, program)
    except (AttributeError, IndexError, KeyError, TypeError, ValueError) as error:
        hint = f"name the whole output of `{typed('pulumi stack export')}` and of `{typed('pulumi preview --json')}`"
        raise CommandError(f"state and preview are not of the form that Pulumi prints: {type(error).__name__} {error}", hint) from error


def _planned(state: Mapping[str, Any], preview: Mapping[str, Any], program: Recording) -> Planned:
    before = Recording(program.project, program.stack)
    held = read_export(state)
    for entry in held.resources:
        _refuse_other_stack(entry["urn"], program)
    before.registrations |= {urn: _registration(entry, program) for urn, entry in held.live.items()}
    changes: dict[str, Change] = {}
    for step in preview["steps"] or []:
        _refuse_other_stack(step["urn"], program)
        kind = _kind(step["op"])
        if kind is not None:
            changes[step["urn"]] = _change(kind, step, before, program)
            if kind != "create" and step["urn"] not in before.registrations:
                wrong = f"the preview would {kind} {step['urn']}, which the state does not hold"
                raise CommandError(wrong, "take both anew, one after the other: they are not of the same moment")
    return Planned(before, program, dict(sorted(changes.items())))


def _refuse_other_stack(urn: str, program: Recording) -> None:
    """Raises CommandError: steps of another stack would be judged by this one's program."""
    if not urn.startswith(f"urn:pulumi:{program.stack}::{program.project}::"):
        raise CommandError(f"{urn} is not of stack {program.stack} of project {program.project}", "take state and preview of this stack")


def _kind(operation: str) -> Kind | None:
    if operation in _NOTHING:
        return None
    if operation not in _KINDS:
        raise CommandError(f"the engine plans a step that is not known: {operation}", f"`{typed('pulumi preview')}` says what it is")
    return _KINDS[operation]


def _change(kind: Kind, step: Mapping[str, Any], before: Recording, program: Recording) -> Change:
    old, new = before.registrations.get(step["urn"]), step.get("newState")
    made = _registration(new, program) if new and kind != "delete" else None
    if made is None and kind == "replace":
        # `delete-replaced` tells the old half alone.
        made = program.registrations.get(step["urn"])
    changed = tuple(sorted(step.get("detailedDiff") or step.get("diffReasons") or ()))
    return Change(kind, None if kind == "create" else old, made, changed, tuple(step.get("replaceReasons") or ()))


def _registration(entry: Mapping[str, Any], program: Recording) -> Registration:
    """A resource of the state, or of a step. The state keeps no options: those of the program's resource of the same URN count."""
    same = program.registrations.get(entry["urn"])
    return Registration(
        urn=entry["urn"],
        type=entry["type"],
        # A name may hold colons itself.
        name=entry["urn"].split("::", 3)[3],
        # What was only read is nothing that a plan changes.
        custom=bool(entry.get("custom")) and not entry.get("external"),
        external=bool(entry.get("external")),
        remote=same.remote if same is not None else False,
        parent=entry.get("parent", ""),
        inputs=dict(entry.get("inputs") or {}),
        dependencies=frozenset(entry.get("dependencies") or ()),
        property_dependencies={key: frozenset(urns or ()) for key, urns in (entry.get("propertyDependencies") or {}).items()},
        providers=frozenset(_urns([entry.get("provider", "")])),
        options=same.options if same is not None else {},
        id=entry.get("id", ""),
        outputs=dict(entry.get("outputs") or {}),
    )


def _urns(references: Iterable[str]) -> Iterable[str]:
    return (reference.rpartition("::")[0] for reference in references if reference)


def _answer(pulumi: Pulumi, command: tuple[str, ...]) -> str:
    code, printed = pulumi.ask(command)
    if code:
        raise CommandError(f"`{' '.join(command)}` failed", said(printed) or "what it printed says why")
    return printed


def said(printed: str) -> str:
    """Errors among the diagnostics of a preview, as the engine words them; empty for none."""
    try:
        diagnostics = json.loads(printed[printed.index("{") : printed.rindex("}") + 1]).get("diagnostics") or []
        return "\n".join(item["message"].strip() for item in diagnostics if item.get("severity") == "error")
    except (ValueError, AttributeError, KeyError, TypeError, RecursionError):
        return ""


def _read(text: str, command: str) -> dict[str, Any]:
    try:
        document = json.loads(text)
        if not isinstance(document, dict):
            raise ValueError("it is no object")
        return document
    except (ValueError, RecursionError) as error:
        raise CommandError(f"`{command}` gave no JSON: {error}", "install the Pulumi CLI 3.260 or later") from error
