"""What the keys of a configuration can get wrong together. Each rule is one function that yields its problems.

Rules compare the configuration with tables and with itself, never with an account: that is `trn check`.
"""

from collections.abc import Callable, Collection, Iterator

from facts.problems import Problem
from stacks.rules import addons, candidates, control_plane, external, money, network, node_groups, queues, scaling, times, workloads
from stacks.rules.notices import notices
from stacks.settings import Settings

__all__ = ["RULES", "Rule", "check", "notices"]

Rule = Callable[[Settings], Iterator[Problem]]

RULES: dict[Rule, tuple[str, ...]] = {
    network.region: ("region",),
    network.zones: ("region", "network"),
    external.own_network_keys: ("network",),
    external.existing_zones: ("region", "network"),
    external.existing_subnets: ("network", "addons"),
    external.existing_file_system: ("network", "storage"),
    external.existing_workspace: ("region", "addons"),
    network.address_space: ("network",),
    network.endpoints: ("region", "network"),
    network.way_out: ("region", "network", "controlPlane", "nodes", "nodeGroups", "storage", "training", "addons"),
    control_plane.kubernetes_version: ("controlPlane",),
    control_plane.zones: ("network", "controlPlane"),
    network.public_access: ("controlPlane",),
    control_plane.principals: ("region", "controlPlane", "iam"),
    control_plane.role: ("controlPlane", "iam"),
    node_groups.sizes: ("coreNodes", "nodeGroups"),
    node_groups.node_group_names: ("nodeGroups",),
    node_groups.node_group_zones: ("network", "nodeGroups", "storage"),
    candidates.candidates: ("region", "network", "nodeGroups"),
    node_groups.efa: ("nodeGroups",),
    node_groups.capacity: ("nodeGroups",),
    node_groups.node_versions: ("controlPlane", "coreNodes", "nodeGroups"),
    times.block_times: ("nodeGroups", "addons"),
    times.sizes_by_time: ("nodeGroups",),
    node_groups.ami_releases: ("region", "controlPlane", "coreNodes", "nodeGroups", "training"),
    node_groups.toolchain: ("nodeGroups", "training", "addons"),
    node_groups.labels: ("nodeGroups",),
    workloads.file_system: ("storage",),
    workloads.backups: ("storage",),
    network.addresses: ("network", "coreNodes", "nodeGroups", "addons"),
    workloads.training_namespace: ("training",),
    queues.queues: ("addons",),
    workloads.tags: ("tags",),
    addons.needs: ("addons",),
    addons.device_drivers: ("controlPlane", "addons"),
    addons.repairers: ("nodeGroups", "addons"),
    addons.slurm: ("nodeGroups", "addons"),
    addons.batch: ("nodeGroups", "training", "addons"),
    addons.queueing: ("training", "addons"),
    addons.buckets: ("addons",),
    queues.queues_of_claims: ("addons",),
    queues.weights_of_claims: ("addons",),
    queues.queue_hierarchy: ("addons",),
    queues.queue_shares: ("addons",),
    addons.watchers: ("region", "addons"),
    scaling.scalers: ("coreNodes", "nodeGroups", "addons"),
    scaling.claims_of_drivers: ("nodeGroups", "addons"),
    scaling.karpenter_pools: ("network", "addons"),
    scaling.karpenter_image: ("controlPlane", "training", "addons"),
    scaling.core_dns: ("addons",),
    money.budget_alarm: ("region", "budget"),
    money.idle_guard: ("region", "addons"),
}
"""Each rule with the sections that it reads, in the order in which problems are shown."""


def check(settings: Settings, *, rehearsal: bool, without: Collection[str] = ()) -> list[Problem]:
    """All problems of a configuration. A rehearsal accepts documentation addresses.

    `without`: sections that are no longer as their author wrote them; rules that read them say nothing.
    """
    rules = RULES if rehearsal else {**RULES, network.documentation_addresses: ("controlPlane",)}
    return [problem for rule, reads in rules.items() if not set(reads) & set(without) for problem in rule(settings)]
