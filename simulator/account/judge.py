"""What the account allows: the faults that were asked for come first, then the rules, in their order."""

from functools import cache

from simulator.account.faults import Faults
from simulator.account.one_cluster import seen_by
from simulator.account.rule import Refusal, Rule, Stage, named
from simulator.account.rules import (
    batch,
    capacity,
    control_plane,
    deletion_cluster,
    deletion_identity,
    deletion_network,
    efa,
    endpoints,
    engine,
    joining,
    kubernetes,
    launch_templates,
    names,
    neighbours,
    network,
    schedules,
    standing,
    storage,
    volcano,
)
from simulator.account.state import AccountState
from simulator.recording import Registration, exists_in_cloud

_IN_ORDER = (
    engine, names, network, launch_templates, capacity, schedules, joining, efa, endpoints, control_plane, storage, kubernetes, volcano, batch,
    standing, deletion_network, deletion_cluster, deletion_identity, neighbours,
)  # fmt: skip
ALL_RULES: tuple[Rule, ...] = named(*(vars(module) for module in _IN_ORDER))
"""Every rule, in the order in which they are asked."""


@cache
def rules_for(stage: Stage, resource_type: str) -> tuple[Rule, ...]:
    """Rules that are asked about a type at a stage."""
    return tuple(rule for rule in ALL_RULES if rule.stage == stage and rule.covers(resource_type))


def refusal_of(state: AccountState, faults: Faults, stage: Stage, registration: Registration) -> Refusal | None:
    """The refusal of the first fault or rule that forbids a request; None where it is allowed. A fault that strikes is used up."""
    if not exists_in_cloud(registration):
        return None
    struck = faults.strike(stage, registration)
    if struck is not None:
        return struck
    seen = seen_by(state, registration)
    refusals = (rule.check(seen, registration) for rule in rules_for(stage, registration.type))
    return next((refusal for refusal in refusals if refusal is not None), None)


def findings(state: AccountState) -> list[tuple[Registration, str, Refusal]]:
    """What is wrong with a cluster that is up: resource, name of the rule, and why the resource cannot be used as intended."""
    found: list[tuple[Registration, str, Refusal]] = []
    for item in sorted(state, key=lambda item: item.registration.urn):
        for rule in rules_for("verify", item.registration.type):
            refusal = rule.check(seen_by(state, item.registration), item.registration)
            if refusal is not None:
                found.append((item.registration, rule.name, refusal))
    return found
