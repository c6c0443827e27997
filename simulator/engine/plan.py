"""What a run of `up` would do: for each resource nothing, create, update in place, replace, or delete."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

from facts.resources.table import TYPES
from simulator import outputs
from simulator.account import kinds
from simulator.engine.order import creation_order
from simulator.engine.state import State
from simulator.recording import Recording, Registration, exists_in_cloud
from simulator.replacements import changed_paths, deletes_first, replacing_paths

Kind = Literal["same", "create", "update", "replace", "delete"]
SHORTEST_TOLD_APART = 6
"""Characters of the shortest id that is followed through other resources' inputs."""


@dataclass(frozen=True)
class Change:
    """What happens to one resource."""

    kind: Kind
    old: Registration | None
    new: Registration | None
    changed: tuple[str, ...] = ()
    """Dotted paths of inputs that differ."""
    because: tuple[str, ...] = ()
    """Those that force a replacement, or the name of what it is replaced with."""
    delete_first: bool = False

    @property
    def registration(self) -> Registration:
        """The resource, as it will be where it stays."""
        found = self.new or self.old
        assert found is not None
        return found


def plan(state: State, recording: Recording, *, creations: Mapping[str, int], seed: int, force: Iterable[str] = ()) -> dict[str, Change]:
    """URN to change, by URN. `creations`: how often each was made before; `force`: URNs to be replaced even if nothing has changed."""
    planner = _Planner(state, recording, creations, seed, frozenset(force))
    return planner.run()


def targeted(changes: Mapping[str, Change], targets: Collection[str]) -> dict[str, Change]:
    """The changes of a run with `--target`: what it does not name stays as it is, and is neither made nor deleted.

    Source: pulumi/pulumi pkg/resource/deploy/step_generator.go, isTargetedUpdate.
    """
    found = {}
    for urn, change in changes.items():
        if urn in targets:
            found[urn] = change
        elif change.old is not None and change.new is not None:
            found[urn] = Change(
                "same", change.old, replace(change.new, inputs=change.old.inputs, id=change.old.id, outputs=change.old.outputs)
            )
        elif change.new is not None and not exists_in_cloud(change.new):
            found[urn] = change
    return found


class _Planner:
    def __init__(self, state: State, recording: Recording, creations: Mapping[str, int], seed: int, force: frozenset[str]) -> None:
        self._state, self._recording, self._creations, self._seed, self._force = state, recording, creations, seed, force
        self._renamed: dict[str, str] = {}
        """Text in the recording to text in the account, where they differ: ids of objects made earlier, or replaced in this run."""
        self._template_versions: dict[str, str] = {}
        self._changes: dict[str, Change] = {}

    def run(self) -> dict[str, Change]:
        for urn in creation_order(self._recording):
            self._changes[urn] = self._change(self._recording.registrations[urn])
        for urn, held in self._state.held.items():
            if urn not in self._changes:
                self._changes[urn] = Change("delete", held.registration, None)
        return dict(sorted(self._changes.items()))

    def _change(self, recorded: Registration) -> Change:
        inputs = self._followed(recorded.inputs)
        held = self._state.held.get(recorded.urn)
        if held is None or held.pending_replacement:
            made = self._creations.get(recorded.urn, 0)
            return Change("create", None, self._again(recorded, inputs, made) if made else self._first(recorded, inputs))
        old = held.registration
        ignored = tuple(recorded.options.get("ignoreChanges") or ())
        # Of a component of another package the engine's state has no inputs: only its children can change.
        paths = () if recorded.remote else changed_paths(old.inputs, inputs)
        changed = tuple(path for path in paths if not any(path == key or path.startswith(f"{key}.") for key in ignored))
        if any(self._tags_change(urn) for urn in recorded.providers) and _takes_tags(recorded):
            changed = (*changed, "tagsAll")
        for key in ignored:
            inputs = _kept(inputs, old.inputs, key)
        because = self._because(recorded, old, inputs, changed)
        if because:
            new = self._again(recorded, inputs, self._creations.get(recorded.urn, 1))
            # The provider asks for deleting first only where an input forces the replacement: one that a person asks for
            # makes the new one first, and meets the old one's name, unless the program says otherwise (seen, CLI 3.260).
            by_provider = recorded.urn not in self._force and deletes_first(recorded.type, old.inputs, inputs)
            by_program = bool(recorded.options.get("deleteBeforeReplace") or recorded.options.get("replace_with"))
            delete_first = by_program or by_provider or bool(self._resting_on(recorded, inputs))
            return Change("replace", old, new, changed, because, delete_first)
        new = replace(recorded, inputs=inputs, id=old.id, outputs=self._outputs_kept(recorded, old, changed))
        self._learn(recorded.outputs, new.outputs)
        self._learn({"id": recorded.id}, {"id": old.id})
        return Change("update" if changed or held.init_error else "same", old, new, changed)

    def _because(self, recorded: Registration, old: Registration, inputs: Mapping[str, Any], changed: tuple[str, ...]) -> tuple[str, ...]:
        if recorded.urn in self._force:
            return ("asked for",)
        if not exists_in_cloud(recorded):
            return self._provider_because(recorded, changed)
        forced = tuple(replacing_paths(recorded.type, changed, old.inputs, inputs))
        if forced:
            return forced
        triggers = [str(item.options.get("replacement_trigger")) for item in (old, recorded)]
        if triggers[0] != triggers[1]:
            return (f"{triggers[0]} before, {triggers[1]} now",)
        resting = self._resting_on(recorded, inputs)
        if resting:
            return tuple(f"rests on {urn.rsplit('::', 1)[-1]}" for urn in resting)
        partners = [urn for urn in recorded.options.get("replace_with") or () if self._kind(urn) == "replace"]
        providers = [urn for urn in sorted(recorded.providers) if self._kind(urn) == "replace"]
        return tuple(f"replaced with {urn.rsplit('::', 1)[-1]}" for urn in (*partners, *providers))

    def _resting_on(self, recorded: Registration, inputs: Mapping[str, Any]) -> list[str]:
        """Resources that are deleted before they are replaced, and whose outputs this one uses in inputs that cannot change.

        The engine then deletes both, this one first, though its inputs may come out the same (pulumi/pulumi
        pkg/resource/deploy/step_generator.go calculateDependentReplacements).
        """
        forcing = {path.split(".")[0] for path in _replacing(recorded) if path.split(".")[0] in inputs}
        found = []
        for urn in sorted(recorded.dependencies):
            change = self._changes.get(urn)
            if change is None or change.kind != "replace" or not change.delete_first:
                continue
            # What names no property is taken to come from all of them.
            through = [key for key, urns in recorded.property_dependencies.items() if urn in urns]
            if forcing if not recorded.property_dependencies else forcing & set(through):
                found.append(urn)
        return found

    def _provider_because(self, recorded: Registration, changed: tuple[str, ...]) -> tuple[str, ...]:
        """A provider of another region, or of another cluster, replaces all that it made."""
        decisive = {"pulumi:providers:aws": ("region",), "pulumi:providers:kubernetes": ("clusterIdentifier",)}
        return tuple(path for path in changed if path in decisive.get(recorded.type, ()))

    def _tags_change(self, provider: str) -> bool:
        """The provider's default tags are on everything that it has made: a change of them is a change of each."""
        change = self._changes.get(provider)
        return change is not None and "defaultTags" in {path.split(".")[0] for path in change.changed}

    def _kind(self, urn: str) -> str:
        change = self._changes.get(urn)
        return change.kind if change is not None else "same"

    def _first(self, recorded: Registration, inputs: Mapping[str, Any]) -> Registration:
        """A resource as it is made for the first time: as recorded, where the account has no texts of its own yet."""
        computed = self._followed(recorded.outputs)
        if inputs is recorded.inputs and computed is recorded.outputs:
            return recorded
        return replace(recorded, inputs=inputs, outputs=computed)

    def _again(self, recorded: Registration, inputs: Mapping[str, Any], made: int) -> Registration:
        """The same resource made once more: what AWS chooses is new, what the program names is not."""
        if not exists_in_cloud(recorded):
            return replace(recorded, inputs=inputs)
        context = outputs.context_of(self._recording, recorded, self._seed, f"{recorded.urn}#{made}")
        resource_id, computed = outputs.answer(context, recorded.type, recorded.name, inputs)
        self._learn(recorded.outputs, computed)
        self._learn({"id": recorded.id}, {"id": resource_id})
        if recorded.type == kinds.LAUNCH_TEMPLATE:
            self._template_versions[resource_id] = "1"
        return replace(recorded, inputs=inputs, id=resource_id, outputs=computed)

    def _outputs_kept(self, recorded: Registration, old: Registration, changed: tuple[str, ...]) -> Mapping[str, Any]:
        kept = dict(_computed_kept(self._followed(recorded.outputs), old.outputs, recorded.inputs))
        if "tagsAll" in recorded.outputs:
            kept["tagsAll"] = recorded.outputs["tagsAll"]
        if recorded.type == kinds.LAUNCH_TEMPLATE:
            version = int(old.outputs["latestVersion"]) + bool(changed)
            kept["latestVersion"] = kept["defaultVersion"] = version
            self._template_versions[old.id] = str(version)
        return kept

    def _learn(self, recorded: Any, actual: Any) -> None:
        """Texts that the recording has and the account does not."""
        if isinstance(recorded, Mapping) and isinstance(actual, Mapping):
            for key in recorded:
                if key in actual:
                    self._learn(recorded[key], actual[key])
        elif isinstance(recorded, list) and isinstance(actual, list):
            for one, other in zip(recorded, actual, strict=False):
                self._learn(one, other)
        elif isinstance(recorded, str) and isinstance(actual, str) and recorded != actual and len(recorded) >= SHORTEST_TOLD_APART:
            self._renamed[recorded] = actual

    def _followed(self, value: Any) -> Any:
        """A value of the recording with the account's own texts, and the version that a launch template has come to."""
        return self._in_account(value) if self._renamed or self._template_versions else value

    def _in_account(self, value: Any) -> Any:
        # Most of a plan's time goes by here: `dict` is asked for, which is four times as quick as `Mapping`.
        if isinstance(value, str):
            for recorded, actual in self._renamed.items():
                if recorded in value:
                    value = value.replace(recorded, actual)
            return value
        if isinstance(value, dict):
            made = {key: self._in_account(item) for key, item in value.items()}
            if "version" in made and made.get("id") in self._template_versions:
                made["version"] = self._template_versions[made["id"]]
            return made
        return [self._in_account(item) for item in value] if isinstance(value, list) else value


def _computed_kept(made: Mapping[str, Any], old: Mapping[str, Any], inputs: Mapping[str, Any]) -> Mapping[str, Any]:
    """Outputs with all that no input gives as it was, on every level: a cluster's own security group stands among its VPC's settings."""
    kept = {**made, **{key: old[key] for key in old if key not in inputs}}
    for key in made.keys() & old.keys() & inputs.keys():
        if all(isinstance(part[key], Mapping) for part in (made, old, inputs)):
            kept[key] = _computed_kept(made[key], old[key], inputs[key])
    return kept


def _kept(inputs: Mapping[str, Any], old: Mapping[str, Any], path: str) -> Mapping[str, Any]:
    """Inputs with one dotted path as it was: what ignoreChanges names stays."""
    key, _, rest = path.partition(".")
    if key not in old:
        return inputs
    if rest and isinstance(inputs.get(key), Mapping) and isinstance(old[key], Mapping):
        return {**inputs, key: _kept(inputs[key], old[key], rest)}
    return {**inputs, key: old[key]}


def counts(changes: Mapping[str, Change]) -> dict[str, int]:
    """How many of each kind, of what exists outside the engine; kinds that do not occur are left out."""
    found: dict[str, int] = {}
    for change in changes.values():
        if change.kind != "same" and exists_in_cloud(change.registration):
            found[change.kind] = found.get(change.kind, 0) + 1
    return found


def _takes_tags(recorded: Registration) -> bool:
    """Whether the provider's default tags reach it."""
    return recorded.type in TYPES and TYPES[recorded.type].takes_tags


def _replacing(recorded: Registration) -> tuple[str, ...]:
    return TYPES[recorded.type].changes.replacing if recorded.type in TYPES else ()
