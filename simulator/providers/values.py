"""How a provider's state follows from inputs: what a preview knows, what a read gives back, what an update keeps."""

from collections.abc import Mapping
from typing import Any

from simulator.recorder.protocol import UNKNOWN


def with_unknowns(inputs: Mapping[str, Any], computed: Mapping[str, Any]) -> dict[str, Any]:
    """What a preview gives: inputs as they are, and everything computed unknown, also inside what the inputs began."""
    given: dict[str, Any] = dict(inputs)
    for key, value in computed.items():
        begun = inputs.get(key)
        given[key] = (
            with_unknowns(begun, {k: v for k, v in value.items() if k not in begun})
            if isinstance(begun, Mapping) and isinstance(value, Mapping)
            else UNKNOWN
        )
    return given


def live_inputs(inputs: Mapping[str, Any], state: Mapping[str, Any]) -> dict[str, Any]:
    """The inputs as they are in the cloud: the state, reduced to the keys that the program gave."""
    live: dict[str, Any] = {}
    for key, given in inputs.items():
        found = state.get(key, given)
        live[key] = live_inputs(given, found) if isinstance(given, Mapping) and isinstance(found, Mapping) else found
    return live


def updated_state(state: Mapping[str, Any], old_inputs: Mapping[str, Any], inputs: Mapping[str, Any]) -> dict[str, Any]:
    """The state after an update: inputs as given now, those no longer given gone, and what was computed kept."""
    merged = {key: value for key, value in state.items() if key not in old_inputs or key in inputs}
    for key, given in inputs.items():
        before, asked = state.get(key), old_inputs.get(key)
        if isinstance(given, Mapping) and isinstance(before, Mapping) and isinstance(asked, Mapping):
            merged[key] = updated_state(before, asked, given)
        else:
            merged[key] = given
    return merged
