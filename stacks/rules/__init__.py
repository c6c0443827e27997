"""What the keys of a configuration can get wrong together. Each rule is one function that yields its problems.

Rules compare the configuration with tables and with itself, never with an account: that is `trn check`.
"""

from collections.abc import Callable, Iterator

from stacks.problems import Problem
from stacks.rules import control_plane, network, node_groups, workloads
from stacks.rules.notices import notices
from stacks.settings import Settings

__all__ = ["RULES", "Rule", "check", "notices"]

Rule = Callable[[Settings], Iterator[Problem]]

RULES: tuple[Rule, ...] = (
    network.zones,
    network.address_space,
    network.way_out,
    control_plane.kubernetes_version,
    network.public_access,
    control_plane.principals,
    node_groups.sizes,
    node_groups.node_group_names,
    node_groups.node_group_zones,
    node_groups.efa,
    node_groups.capacity,
    node_groups.ami_releases,
    node_groups.labels,
    workloads.file_system,
    workloads.backups,
    network.addresses,
    workloads.training_namespace,
    workloads.queues,
    workloads.tags,
)


def check(settings: Settings, *, rehearsal: bool) -> list[Problem]:
    """All problems of a configuration, in the order of its sections. A rehearsal accepts documentation addresses."""
    problems = [problem for rule in RULES for problem in rule(settings)]
    if not rehearsal:
        problems += network.documentation_addresses(settings)
    return problems
