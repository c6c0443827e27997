"""One look at a cluster: all jobs of a namespace, and everything that can hold one up. Reads only."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from addons.volcano import QUEUES
from facts.kubernetes_kinds import Resource
from training.launchers.parts import GROUP_ANNOTATION
from training.site import Site
from trn.cli.errors import MISUSE, CommandError
from trn.kubernetes.claimed import Claims, read_claims, with_claims, with_slices
from trn.kubernetes.client import Kubernetes, Object
from trn.kubernetes.job_pods import PODS, jobs_of, owners_of
from trn.kubernetes.jobs.job import JOB_KINDS, FoundJob, in_order, makers_of
from trn.kubernetes.kinds import CLAIMS, NODES
from trn.kubernetes.situation import Situation, is_event_of

EVENTS = Resource("Event", "/api/v1", "events")
POD_GROUPS = Resource("PodGroup", "/apis/scheduling.volcano.sh/v1beta1", "podgroups")
LOOKED_AT = (PODS, EVENTS, POD_GROUPS, QUEUES, NODES, CLAIMS)
"""Kinds that are listed beside the jobs themselves."""


@dataclass(frozen=True)
class View:
    """What one look saw."""

    site: Site | None
    """What the stack file says of the cluster."""
    jobs: tuple[FoundJob, ...]
    """Of one namespace; those that another object made are among them."""
    pods: tuple[Object, ...]
    """Of all namespaces: they hold devices."""
    events: tuple[Object, ...]
    groups: tuple[Object, ...]
    queues: Mapping[str, Object]
    nodes: tuple[Object, ...]
    claims: Mapping[str, Object]
    device_claims: Claims = field(default_factory=Claims)
    """By dynamic resource allocation."""

    @property
    def owners(self) -> Mapping[str, frozenset[str]]:
        """By the uid of each job and pod, the uids of what made it: a TrainJob's pods are a Job's, which is a JobSet's, which is its own."""
        return _owners([*(job.item for job in self.jobs), *self.pods])

    def situation(self, job: FoundJob) -> Situation:
        """All that says why a job waits."""
        group = _group_of(job, self.groups)
        names = [other.name for other in self.jobs]
        events = sorted((event for event in self.events if is_event_of(event, job.name, names)), key=_time)
        own = {pod["metadata"]["name"] for pod in job.pods}
        others = tuple(
            pod for pod in self.pods if (pod["metadata"]["namespace"], pod["metadata"]["name"]) not in {(job.namespace, n) for n in own}
        )
        return Situation(job, group, tuple(events), self.queues, self.nodes, self.claims, others, self.site, self.device_claims)

    def named(self, name: str, namespace: str) -> FoundJob:
        """One job by its name, or by `jobs.batch/NAME`. Raises CommandError for one that is not there, and for several of the name."""
        kind, _, last = name.rpartition("/")
        found = [job for job in self.jobs if job.name == last and kind in ("", job.kind.resource.qualified)]
        # A TrainJob's JobSet and a MPIJob's Job are reached by the object that made them.
        found = [job for job in found if not job.owner or kind] or found
        if not found:
            known = ", ".join(sorted(job.name for job in self.jobs if not job.owner)) or "none"
            raise CommandError(f"there is no job `{name}` in {namespace}", f"jobs there: {known}; --namespace looks elsewhere", code=MISUSE)
        if len(found) > 1:
            names = ", ".join(job.reference for job in found)
            raise CommandError(f"there are {len(found)} jobs `{name}` in {namespace}", f"name one in full: {names}", code=MISUSE)
        return found[0]


def look(kubernetes: Kubernetes, namespace: str, site: Site | None = None) -> View:
    """Look once at the jobs of a namespace."""
    pods = with_claims(kubernetes.list(PODS) or [], kubernetes)
    own = [pod for pod in pods if pod["metadata"]["namespace"] == namespace]
    owners = owners_of(kubernetes, namespace)
    jobs = list[FoundJob]()
    for kind in JOB_KINDS:
        for item in kubernetes.list(kind.resource) or ():
            if item["metadata"].get("namespace") == namespace:
                name, label = item["metadata"]["name"], kind.drained.pod_label
                # With a label of its own kind, a job of another kind that has the same name is not mixed up with it.
                held = [pod for pod in own if (_label(pod, label) == name if label else name in jobs_of(pod, owners))]
                jobs.append(FoundJob(kind, item, in_order(held)))
    nodes = kubernetes.list(NODES) or []
    claiming = any(spec.get("resourceClaims") for spec in (*(pod["spec"] for pod in pods), *(job.pod_spec for job in jobs)))
    return View(
        site,
        tuple(jobs),
        tuple(pods),
        tuple(kubernetes.list(EVENTS, namespace=namespace) or ()),
        tuple(kubernetes.list(POD_GROUPS, namespace=namespace) or ()),
        {queue["metadata"]["name"]: queue for queue in kubernetes.list(QUEUES) or ()},
        tuple(with_slices(nodes, kubernetes) if claiming else nodes),
        {claim["metadata"]["name"]: claim for claim in kubernetes.list(CLAIMS, namespace=namespace) or ()},
        read_claims(kubernetes, namespace) if claiming else Claims(),
    )


def makers(kubernetes: Kubernetes, namespace: str, kinds: Iterable[Resource]) -> Mapping[str, frozenset[str]]:
    """By the uid of each object of these kinds and each pod of a namespace, the uids of what made it."""
    return _owners(item for kind in (*kinds, PODS) for item in kubernetes.list(kind, namespace=namespace) or ())


def _owners(items: Iterable[Object]) -> Mapping[str, frozenset[str]]:
    return {str(item["metadata"]["uid"]): makers_of(item) for item in items if item["metadata"].get("uid")}


def look_everywhere(kubernetes: Kubernetes, namespaces: Iterable[str]) -> list[View]:
    """A look at each namespace that has pods, and at those that are named, in the order of their names."""
    spaces = {str(pod["metadata"]["namespace"]) for pod in kubernetes.list(PODS) or ()}
    return [look(kubernetes, space) for space in sorted({*spaces, *namespaces})]


def _label(pod: Object, key: str) -> str | None:
    return (pod["metadata"].get("labels") or {}).get(key)


def _group_of(job: FoundJob, groups: tuple[Object, ...]) -> Object | None:
    """The job's PodGroup: made for it by Volcano, named by its pods, or of its name as launchers make it."""
    uid = job.item["metadata"].get("uid")
    named = {(pod["metadata"].get("annotations") or {}).get(GROUP_ANNOTATION) for pod in job.pods}
    for group in groups:
        owners = {owner.get("uid") for owner in group["metadata"].get("ownerReferences") or ()}
        if (uid and uid in owners) or group["metadata"]["name"] in named | {job.name}:
            return group
    return None


def _time(event: Object) -> str:
    """When it was last seen. Events of the newer API have a series, or `eventTime` alone."""
    series = event.get("series") or {}
    return str(event.get("lastTimestamp") or series.get("lastObservedTime") or event.get("eventTime") or "")
