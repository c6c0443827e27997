"""What a group that loses nodes interrupts: its jobs, from the table of `trn jobs`, and pods of no job. Reads only."""

from collections.abc import Iterator
from dataclasses import dataclass

from rich.table import Table

from facts.names import GROUP_LABEL
from facts.typed import typed
from stacks.config import parse_settings
from training.site import Site
from trn.change.clients import access
from trn.change.cluster import cluster_of
from trn.change.identity import Kube
from trn.engine.job_site import site_of
from trn.engine.stack_file import read_stack_file
from trn.kubernetes.client import Kubernetes, Object
from trn.kubernetes.jobs.look import View, look, look_everywhere
from trn.kubernetes.jobs.table import JobRow, rows, table

OVER = ("Succeeded", "Failed")
"""Phases of a pod that uses nothing any more."""


@dataclass(frozen=True)
class Occupants:
    """Who is on the nodes of one group."""

    jobs: tuple[JobRow, ...] = ()
    """Jobs of all namespaces with a pod there, as `trn jobs` shows them."""
    pods: tuple[str, ...] = ()
    """Other pods, as NAMESPACE/NAME. Those of DaemonSets go and come with their node, and are not among them."""
    objects: frozenset[Kube] = frozenset()
    """The same jobs and pods, as what they are and not as they are called."""

    @property
    def counts(self) -> str:
        """Such as `2 jobs and 1 other pod`; empty for nothing."""
        jobs, pods = len(self.jobs), len(self.pods)
        parts = [f"{jobs} job{'s' * (jobs != 1)}"] if jobs else []
        parts += [f"{pods} {'other ' if jobs else ''}pod{'s' * (pods != 1)}"] if pods else []
        return " and ".join(parts)


def occupants(kubernetes: Kubernetes, group: str, namespace: str, site: Site) -> Occupants:
    """What runs on the nodes of a group. `namespace`: the stack's own for jobs, which is looked at first."""
    first = look(kubernetes, namespace, site)
    nodes = {node["metadata"]["name"] for node in first.nodes if (node["metadata"].get("labels") or {}).get(GROUP_LABEL) == group}
    held = {_key(pod): pod for pod in first.pods if pod.get("spec", {}).get("nodeName") in nodes and _counts(pod)}
    others = sorted({space for space, _ in held} - {namespace})
    jobs, known, objects = list[JobRow](), set[tuple[str, str]](), set[Kube]()
    for view in (first, *(look(kubernetes, space, site) for space in others)):
        there = [job for job in view.jobs if any(_key(pod) in held for pod in job.pods)]
        names = {(job.name, job.kind.resource.kind) for job in there}
        jobs += [row for row in rows(view) if (row.name, row.kind) in names]
        objects |= {_identity(job.kind.resource.kind, job.item) for job in there}
        known |= {_key(pod) for job in view.jobs for pod in job.pods}
    alone = sorted(held.keys() - known)
    objects |= {_identity("pod", held[key]) for key in alone}
    return Occupants(tuple(jobs), tuple("/".join(key) for key in alone), frozenset(objects))


def _identity(kind: str, item: Object) -> Kube:
    return Kube(kind, "/".join(_key(item)), item["metadata"].get("uid", ""))


def _key(pod: Object) -> tuple[str, str]:
    return pod["metadata"].get("namespace", ""), pod["metadata"]["name"]


def _counts(pod: Object) -> bool:
    owners = {owner.get("kind") for owner in pod["metadata"].get("ownerReferences") or ()}
    return "DaemonSet" not in owners and pod.get("status", {}).get("phase") not in OVER


def shown_occupants(group: str, found: Occupants) -> Iterator[str | Table]:
    """What would be interrupted; nothing where there is nothing."""
    if found.jobs:
        yield f"jobs on the nodes of {group}; `{typed('trn cancel JOB')}` first saves a checkpoint:"
        yield table(found.jobs)
    if found.pods:
        yield f"other pods there: {', '.join(found.pods)}"


def view_of(stack: str, namespace: str | None) -> tuple[View, str]:
    """What is there now, and the namespace that was looked at. Raises CommandError where there is no such stack or cluster."""
    stack_file = read_stack_file(stack)
    settings = parse_settings(stack_file.configuration, stack_file.stack, rehearsal=True)
    kubernetes = cluster_of(access().aws(stack, settings.region), settings.name)
    place = namespace or settings.training.namespace
    return look(kubernetes, place, site_of(settings, stack)), place


def views_of(stack: str) -> list[View]:
    """What is there now in all namespaces with pods, and in the stack's own. Raises CommandError as `view_of` does."""
    stack_file = read_stack_file(stack)
    settings = parse_settings(stack_file.configuration, stack_file.stack, rehearsal=True)
    kubernetes = cluster_of(access().aws(stack, settings.region), settings.name)
    return look_everywhere(kubernetes, [settings.training.namespace])
