"""All rules of the world, in the order in which they are asked."""

from functools import cache
from importlib import import_module

from simulator.account.rule import Rule, Stage, named

_MODULES = (
    "engine", "names", "network", "launch_templates", "capacity", "joining", "efa", "control_plane", "storage", "kubernetes", "batch",
    "standing", "deletion_network", "deletion_cluster",
)  # fmt: skip


@cache
def all_rules() -> tuple[Rule, ...]:
    """Every rule."""
    # Rules look at the world, and the world asks the rules: they are loaded when they are first asked.
    return named(*(vars(import_module(f"simulator.account.rules.{module}")) for module in _MODULES))


@cache
def rules_for(stage: Stage, resource_type: str) -> tuple[Rule, ...]:
    """Rules that are asked about a type at a stage."""
    return tuple(rule for rule in all_rules() if rule.stage == stage and rule.covers(resource_type))
