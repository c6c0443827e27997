"""Checks of quotas: need, with surge, beside what is in use and what is allowed."""

from collections.abc import Iterator
from dataclasses import dataclass

from facts.catalogue import CORE_TYPES, NEURON_TYPES, QUOTA_CODES
from stacks.settings import Settings
from trn.aws import quotas
from trn.aws.api import Api
from trn.aws.eks import cluster_names, node_group_names
from trn.aws.fsx import persistent_storage_gib
from trn.aws.quotas import Quota, console_link, quota
from trn.cli.findings import Finding, failed, passed, warned
from trn.engine import needs
from trn.engine.needs import Need


@dataclass(frozen=True, kw_only=True)
class StackInAccount:
    """A stack and the account it is meant for: as much as the checks of quotas need."""

    settings: Settings
    """What the stack file says."""
    api: Api
    """The account, in the stack's region."""

    @property
    def cluster(self) -> str:
        """The cluster's name."""
        return self.settings.name

    @property
    def region(self) -> str:
        """The stack's region."""
        return self.settings.region


def vcpus(subject: StackInAccount) -> Iterator[Finding]:
    """vCPUs of each family that the stack buys."""
    running = quotas.running_vcpus(subject.api, subject.cluster)
    for need in needs.vcpu_needs(subject.settings):
        family, how = next((family, how) for family, codes in QUOTA_CODES.items() for how, code in codes.items() if code == need.code)
        counted = running.spot if how == "spot" else running.on_demand
        used = sum(count for name, count in counted.items() if family_of(name) == family)
        yield judged(subject, need, used)


def family_of(instance_type: str) -> str:
    """Quota family of any instance type: types of neither table count by their letters."""
    known = NEURON_TYPES.get(instance_type) or CORE_TYPES.get(instance_type)
    if known is not None:
        return known.family
    letters = instance_type.split(".")[0]
    if letters.startswith(("trn", "inf")):
        return letters[:3].capitalize()
    # EC2 user guide: the standard families are A, C, D, H, I, M, R, T and Z; DL, HPC and the like have quotas of their own.
    return "Standard" if letters[0] in "acdhimrtz" and not letters.startswith(("dl", "hpc", "mac")) else "other"


def network(subject: StackInAccount) -> Iterator[Finding]:
    """VPC, gateways and addresses; nothing where others keep the network."""
    if subject.settings.network.existing is not None:
        return
    api, cluster, zones = subject.api, subject.cluster, needs.nat_zone_ids(subject.settings)
    yield judged(subject, Need(*needs.VPCS, "VPC", 1), quotas.count_vpcs(api, cluster))
    yield judged(subject, Need(*needs.INTERNET_GATEWAYS, "internet gateway", 1), quotas.count_internet_gateways(api, cluster))
    if zones:
        yield judged(subject, Need(*needs.ADDRESSES, "address", len(zones)), quotas.count_addresses(api, cluster))
        by_zone = quotas.nat_gateways_by_zone(api, cluster)
        fullest = max(by_zone[zone_id] for zone_id in zones)
        yield judged(subject, Need(*needs.NAT_GATEWAYS, "NAT gateway in a zone", 1), fullest)


def clusters(subject: StackInAccount) -> Iterator[Finding]:
    """EKS clusters of the region."""
    others = [name for name in cluster_names(subject.api) if name != subject.cluster]
    yield judged(subject, Need(*needs.CLUSTERS, "cluster", 1), len(others))


def node_groups(subject: StackInAccount) -> Iterator[Finding]:
    """Managed node groups of the one cluster: those that others made in it count too."""
    own = needs.node_group_names(subject.settings)
    there = node_group_names(subject.api, subject.cluster) if subject.cluster in cluster_names(subject.api) else ()
    others = [name for name in there if name not in own]
    yield judged(subject, Need(*needs.NODE_GROUPS, "node group", len(own)), len(others))


def lustre_storage(subject: StackInAccount) -> Iterator[Finding]:
    """Lustre storage of the kind the program makes."""
    lustre = subject.settings.storage.lustre
    if lustre.is_own:
        used = persistent_storage_gib(subject.api, subject.cluster)
        yield judged(subject, Need(*needs.LUSTRE_STORAGE, "GiB", lustre.capacity_gib), used)


def judged(subject: StackInAccount, need: Need, used: float) -> Finding:
    """One quota beside its need: what does not fit now fails, what will not fit later warns."""
    found = quota(subject.api, need.service, need.code)
    why = f" ({need.why})" if need.why else ""
    what = f"{found.name}: needs {need.count:g} {need.unit}{why}, {used:g} in use by others, {need.code} in {subject.region} allows {found.value:g}"
    total = used + need.count
    if total > found.value:
        return failed("quota", what, _raise(subject, found, total))
    if total + need.surge > found.value:
        return warned("quota", f"{what}; an update needs {need.surge:g} more for a while", _raise(subject, found, total + need.surge))
    if used + need.largest > found.value:
        return warned("quota", f"{what}; all groups at their largest need {need.largest:g}", _raise(subject, found, used + need.largest))
    return passed("quota", what)


def _raise(subject: StackInAccount, found: Quota, value: float) -> str:
    return f"ask for {value:g} at {console_link(subject.region, found.service, found.code)}"
