"""What must hold before an upgrade: versions that exist, charts that list them, EKS's own insights, addresses, budgets, jobs."""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date

from botocore.exceptions import BotoCoreError, ClientError

from addons.versions import managed_addon_version
from facts.kubernetes_versions import KUBELET_SKEW, UPGRADE_ADDRESSES, minors_behind
from facts.typed import typed
from simulator.account import kinds
from simulator.account.charts import chart_of
from simulator.recording import Recording
from trn.aws.api import Api
from trn.aws.eks import addon_versions, free_addresses, support_dates, upgrade_insights
from trn.aws.errors import command_error
from trn.aws.releases import recommended_release, release_exists
from trn.change.occupants import Occupants
from trn.cli.errors import MISUSE, CommandError
from trn.cli.findings import Finding, failed, passed, warned
from trn.kubernetes.budgets import BUDGETS, allows_none, named
from trn.kubernetes.client import Kubernetes
from trn.kubernetes.kinds import NODES
from trn.running.upgrade.look import Found
from trn.running.upgrade.steps import Step

EKS_GROUP_LABEL = "eks.amazonaws.com/nodegroup"


@dataclass(frozen=True)
class Subject:
    """One cluster, and the way it is to go."""

    api: Api
    kubernetes: Kubernetes | None
    """None where the API server does not answer."""
    cluster: str
    found: Found
    steps: Sequence[Step]
    minors: Sequence[str]
    """That the control plane goes through, and the target where it is there already."""
    recording: Recording
    """The program as the cluster stands."""
    accepted: frozenset[str]
    """Charts whose range the caller accepts."""
    occupants: Mapping[str, Occupants]
    """By group that is rolled."""
    today: date


def refuse_unknown_charts(recording: Recording, accepted: Collection[str]) -> None:
    """Raises CommandError for a chart to be accepted that the program does not install: a slip of the pen accepts nothing."""
    there = {chart.chart for item in recording.resources() if (chart := chart_of(item)) and chart.version}
    for name in sorted(set(accepted) - there):
        raise CommandError(f"`--accept {name}` names no chart of this stack", f"charts: {', '.join(sorted(there)) or 'none'}", code=MISUSE)


def findings_of(subject: Subject) -> Iterator[Finding]:
    """All findings. A check that could not be made is a failure, never a pass."""
    for name, check in CHECKS.items():
        try:
            yield from check(subject)
        except (BotoCoreError, ClientError) as error:
            said = command_error(error)
            yield failed(name, f"could not check: {said.args[0] if said else error}", said.hint if said and said.hint else "run it again")
        except CommandError as error:
            yield failed(name, f"could not check: {error.args[0]}", error.hint or "run it again")


def support(subject: Subject) -> Iterator[Finding]:
    """EKS offers each minor, and supports the last one for a while."""
    for minor in subject.minors:
        dates = support_dates(subject.api, minor)
        if dates is None or dates.standard_ends is None:
            yield failed("Kubernetes", f"EKS in {subject.api.region} does not offer {minor}", "take another minor, or wait for it")
        elif minor == subject.minors[-1]:
            what = f"{minor} is in standard support until {dates.standard_ends}"
            late = dates.standard_ends < subject.today
            yield warned("Kubernetes", what, "take a newer minor") if late else passed("Kubernetes", what)


def skew(subject: Subject) -> Iterator[Finding]:
    """Nodes are not newer than the control plane; how far they are behind."""
    plane = subject.found.control_plane
    newer = [group.name for group in subject.found.groups if minors_behind(plane, group.minor) < 0]
    if newer:
        yield failed("version skew", f"{', '.join(newer)} are newer than the control plane, {plane}", "no kubelet may be: move them back")
        return
    others = list(_late_nodes(subject))
    if others:
        do = "replace them first: no step of this command does, as they are of no group of the stack file"
        yield failed("version skew", f"kubelets more than {KUBELET_SKEW} minors older than {subject.minors[-1]}: {', '.join(others)}", do)
    said = ", ".join(f"{group.name} {group.minor}" for group in subject.found.groups)
    yield passed("version skew", f"control plane {plane}; nodes: {said or 'none'}")


def _late_nodes(subject: Subject) -> Iterator[str]:
    """Nodes of Karpenter, or made by hand, that the target would leave outside the skew, each with its version."""
    own = {group.name for group in subject.found.groups}
    for node in (subject.kubernetes.list(NODES) or []) if subject.kubernetes is not None else []:
        version = node.get("status", {}).get("nodeInfo", {}).get("kubeletVersion")
        group = (node["metadata"].get("labels") or {}).get(EKS_GROUP_LABEL)
        if version and group not in own and minors_behind(subject.minors[-1], version) > KUBELET_SKEW:
            yield f"{node['metadata']['name']} {version}"


def charts(subject: Subject) -> Iterator[Finding]:
    """The makers of each chart list each minor, or the caller accepts that they do not."""
    listed, silent = list[str](), list[str]()
    for chart in {chart.chart: chart for item in subject.recording.resources() if (chart := chart_of(item)) and chart.version}.values():
        missing = [minor for minor in subject.minors if chart.lists(minor) is False]
        what = f"{chart.chart} {chart.version} lists {chart.range_text}"
        if missing and chart.chart in subject.accepted:
            yield warned("charts", f"{what}, not {', '.join(missing)}: accepted", f"its makers: {chart.supports['source']}")
        elif missing:
            do = f"wait for a version that lists it, or try it and add --accept {chart.chart}; its makers: {chart.supports['source']}"
            yield failed("charts", f"{what}, not {', '.join(missing)}", do)
        else:
            (silent if chart.lists(subject.minors[-1]) is None else listed).append(f"{chart.chart} {chart.version}")
    if listed:
        yield passed("charts", f"list every minor: {', '.join(sorted(listed))}")
    if silent:
        yield passed("charts", f"publish no range: {', '.join(sorted(silent))}")


def managed_addons(subject: Subject) -> Iterator[Finding]:
    """EKS has the pinned version of each add-on for each minor."""
    names = sorted({str(item.inputs["addonName"]) for item in subject.recording.of_type(kinds.ADDON)})
    for minor in subject.minors:
        wrong = 0
        for name in names:
            wanted, there = managed_addon_version(name, minor), addon_versions(subject.api, name, minor)
            if wanted not in there:
                wrong += 1
                do = f"pin one of these in addons/versions.py: {', '.join(there[:3]) or 'none'}"
                yield failed("add-ons", f"EKS has no {name} {wanted} for {minor}", do)
        if not wrong:
            yield passed("add-ons", f"EKS has the pinned versions of all {len(names)} for {minor}")


def ami_releases(subject: Subject) -> Iterator[Finding]:
    """The AMI release that each group takes is there."""
    for step in (step for step in subject.steps if step.group is not None):
        assert step.group is not None
        variant = "neuron" if step.group.is_neuron else "standard"
        pin = next((edit.value for edit in step.edits if edit.path[-1] == "releaseVersion"), None)
        newest = pin or recommended_release(subject.api, step.minor, variant)
        if newest is None or (pin and not release_exists(subject.api, pin, variant)):
            what = f"{variant} release {pin} is not in {subject.api.region}" if pin else f"AWS publishes no {variant} AMI for {step.minor}"
            yield failed("AMI", f"{step.group.name}: {what}", "take another minor, or wait for it")
        else:
            yield passed("AMI", f"{step.group.name} takes {newest}{'' if pin else ', the newest today'}")


def insights(subject: Subject) -> Iterator[Finding]:
    """EKS's own upgrade insights: deprecated APIs that are still called, skew, health."""
    found = upgrade_insights(subject.api, subject.cluster)
    meant = [item for item in found if item.minor in subject.minors or not item.minor]
    for item in (item for item in meant if item.status != "PASSING"):
        uses = f": {'; '.join(item.uses)}" if item.uses else ""
        what = f"{item.name} for {item.minor}: {item.reason}{uses}; looked at {item.refreshed}"
        do = item.recommendation or "the EKS console says what to do"
        yield failed("insights", what, do) if item.status == "ERROR" else warned("insights", what, do)
    passing = sum(1 for item in meant if item.status == "PASSING")
    if passing:
        yield passed("insights", f"{passing} of {len(meant)} upgrade insights pass")
    elif not meant:
        yield warned("insights", "EKS has no upgrade insight for these minors yet", "it looks once a day; run this again tomorrow")


def addresses(subject: Subject) -> Iterator[Finding]:
    """EKS wants five free addresses in each of the control plane's subnets before it upgrades; none where the control plane stays."""
    subnets = list(subject.found.subnets)
    free = free_addresses(subject.api, subnets)
    gone, tight = sorted(set(subnets) - free.keys()), sorted(which for which, left in free.items() if left < UPGRADE_ADDRESSES)
    shown = f"EKS wants {UPGRADE_ADDRESSES} free in each subnet of the control plane"
    if all(step.kind != "control plane" for step in subject.steps):
        yield passed("addresses", "the control plane is of the minor already")
    elif gone:
        yield failed("addresses", f"subnets of the control plane are gone: {', '.join(gone)}", "EKS cannot upgrade it without them")
    elif tight:
        do = (
            "free some there: fewer nodes, pods in a block of their own (`network.podCidr`), or other subnets in the same zones for"
            " `network.existing.controlPlane`"
        )
        yield failed("addresses", f"{shown}; free are {', '.join(f'{free[which]} in {which}' for which in tight)}", do)
    else:
        yield passed("addresses", f"{shown}, and has {min(free.values(), default=0)} or more")


def budgets(subject: Subject) -> Iterator[Finding]:
    """No PodDisruptionBudget forbids every eviction: EKS would give up on the node after 15 minutes (EKS user guide, PodEvictionFailure)."""
    if subject.kubernetes is None:
        yield failed("budgets", "the API server does not answer", f"`{typed('trn kubeconfig')}` and kubectl show whether you get there")
        return
    found = subject.kubernetes.list(BUDGETS) or []
    tight = [named(item) for item in found if allows_none(item)]
    if tight:
        do = "add a replica or loosen the budget: with no eviction allowed, EKS gives up on a node after 15 minutes"
        yield failed("budgets", f"allow no eviction now: {', '.join(sorted(tight))}", do)
    else:
        yield passed("budgets", f"{len(found)} PodDisruptionBudgets, each allows an eviction")


def jobs(subject: Subject) -> Iterator[Finding]:
    """Jobs on nodes that are rolled at the end."""
    for name, there in subject.occupants.items():
        if there.jobs:
            named = ", ".join(f"{row.name} ({row.kind})" for row in there.jobs)
            do = "it asks before it rolls them; --wait waits for their end, --interrupt says that their teams agree"
            yield warned("jobs", f"{name} runs {named}", do)
    if not any(there.jobs for there in subject.occupants.values()):
        yield passed("jobs", "none on the nodes that are rolled")


def pools(subject: Subject) -> Iterator[Finding]:
    """Karpenter's pools, whose nodes are rolled by Karpenter and by no step (Karpenter, disruption: an AMI of another minor is drift)."""
    for item in subject.recording.of_type(kinds.NODE_POOL):
        name, budgets = item.inputs["metadata"]["name"], item.inputs["spec"].get("disruption", {}).get("budgets", ())
        if any(budget["nodes"] == "0" and "Drifted" in budget.get("reasons", ["Drifted"]) for budget in budgets):
            do = f"delete its NodeClaims one at a time when its jobs have ended: `kubectl get nodeclaims -l karpenter.sh/nodepool={name}`"
            yield warned("pools", f"nodes of Karpenter pool {name} stay at their minor", do)
        else:
            do = "drain what must not move first, or give the pool a budget of no node for the reason Drifted"
            yield warned("pools", f"Karpenter replaces the nodes of pool {name} once the control plane is upgraded", do)


CHECKS: Mapping[str, Callable[[Subject], Iterator[Finding]]] = {
    "Kubernetes": support,
    "version skew": skew,
    "charts": charts,
    "add-ons": managed_addons,
    "AMI": ami_releases,
    "insights": insights,
    "addresses": addresses,
    "budgets": budgets,
    "jobs": jobs,
    "pools": pools,
}
"""In the order in which they are shown."""
