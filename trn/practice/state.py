"""What `pulumi import`, `refresh`, `stack export` and `preview` do, with a state of the rehearsal's engine over an account."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from simulator.account.world import World
from simulator.engine.permanent import refused_by_program
from simulator.engine.plan import Change, plan
from simulator.engine.recovery import drop_unreachable, find, refresh
from simulator.engine.state import State
from simulator.outputs import CREATED_AT
from simulator.recording import Recording, Registration


def refreshed(state: State, world: World, *, drop: bool) -> int:
    """Drop from the state what is gone, and what has no end; the number of resources dropped. Time passes in the account.

    `drop`: drop too what lived in a cluster that is gone.
    """
    before = len(state.objects())
    state.pending.clear()
    world.pass_time()
    if drop:
        drop_unreachable(state, world)
    refresh(state, world)
    return before - len(state.objects())


def imported(wanted: Iterable[Mapping[str, str]], state: State, world: World, program: Iterable[Registration]) -> str:
    """Put objects into the state, under their names in the program; empty, or the first that is not in the account.

    `wanted`: type, name and id of each, as the file of `pulumi import --file` has them.
    """
    begun = {(item.registration.type, item.registration.name): item.registration for item in state.pending}
    programs = {(item.type, item.name): item for item in program}
    for entry in wanted:
        key = (entry["type"], entry["name"])
        asked = begun.get(key) or programs[key]
        found = world.state.find(entry["type"], entry["id"]) or find(asked, state, world)
        if found is None:
            return f"{entry['type']} {entry['id']}"
        # What it came from may have been destroyed meanwhile.
        kept = {name: frozenset(getattr(asked, name) & state.held.keys()) for name in ("dependencies", "providers")}
        state.adopt(replace(asked, id=found.registration.id, outputs=found.registration.outputs, **kept), _unready(found.status))
        state.pending[:] = [item for item in state.pending if (item.registration.type, item.registration.name) != key]
    return ""


def take_over(deployment: Mapping[str, Any], state: State, world: World) -> int:
    """What `pulumi stack import` does with places that were taken over: how many, and no operation has an open end afterwards."""
    begun = {item.registration.urn: item.registration for item in state.pending if item.doing == "creating"}
    taken = 0
    for entry in deployment["resources"]:
        held = state.held.get(entry["urn"])
        found = world.state.find(entry["type"], entry["id"]) if entry.get("id") and not entry.get("delete") else None
        if held is None or found is None or entry["urn"] not in begun or entry.get("pendingReplacement"):
            continue
        if held.pending_replacement or held.registration.id != entry["id"]:
            state.adopt(replace(begun[entry["urn"]], id=entry["id"], outputs=found.registration.outputs), _unready(found.status))
            taken += 1
    state.pending.clear()
    return taken


def _unready(status: str) -> str | None:
    return None if status == "ready" else "it did not become ready"


def exported(state: State, saved_at: str = CREATED_AT) -> dict[str, Any]:
    """The state in the form of `pulumi stack export` (pulumi/pulumi sdk/go/common/apitype, DeploymentV3).

    `saved_at`: when it was last written. Its resources were made when those of the simulated account were.
    """
    recording = state.recording()
    held = [_resource(item, recording) for item in recording.registrations.values()]
    for entry in held:
        if entry["urn"] in state.held and state.held[entry["urn"]].pending_replacement:
            entry["pendingReplacement"] = True
    held += [_resource(item.registration, recording) | {"delete": True} for item in state.pending_deletions]
    held = [entry | {"created": CREATED_AT, "modified": CREATED_AT} for entry in held]
    pending = [{"resource": _resource(item.registration, recording), "type": item.doing} for item in state.pending]
    manifest = {"time": saved_at, "magic": "", "version": ""}
    return {"version": 3, "deployment": {"manifest": manifest, "resources": held, "pending_operations": pending}}


def previewed(state: State, world: World, program: Recording) -> dict[str, Any]:
    """What the next `up` would do, in the form of `pulumi preview --json`: like it, without what stays the same."""
    changes, before = plan(state, program, creations=world.state.creations, seed=0), state.recording()
    return {"steps": [_step(urn, change, before, program) for urn, change in changes.items() if change.kind != "same"]}


def refused_preview(state: State, program: Recording) -> list[dict[str, str]]:
    """Diagnostics of a preview that the program's own hook refuses; empty where it passes."""
    refused = refused_by_program(state.recording(), program)
    return [{"severity": "error", "message": str(part)} for parts in refused.values() for part in parts]


def _step(urn: str, change: Change, before: Recording, program: Recording) -> dict[str, Any]:
    step: dict[str, Any] = {"op": change.kind, "urn": urn}
    if change.old is not None:
        step["oldState"] = _resource(change.old, before)
    if change.new is not None:
        step["newState"] = _resource(change.new, program)
    if change.changed:
        step["detailedDiff"] = {path: {"kind": "update", "inputDiff": True} for path in change.changed}
    return {**step, "replaceReasons": list(change.because)} if change.because else step


def _resource(item: Registration, recording: Recording) -> dict[str, Any]:
    marks = {"custom": True, "external": True} if item.external else {"custom": item.custom}
    made: dict[str, Any] = {"urn": item.urn, "type": item.type, **marks, "inputs": dict(item.inputs), "parent": item.parent}
    made["dependencies"] = sorted(item.dependencies)
    package = item.type.split(":")[0]
    used = [urn for urn in sorted(item.providers) if f":providers:{package}::" in urn]
    if made["custom"] and used:
        provider = recording.registrations.get(used[0])
        made["provider"] = f"{used[0]}::{provider.id if provider else ''}"
    return {**made, "id": item.id, "outputs": dict(item.outputs)} if item.id else made
