"""What keeps a job from having pods at all: webhooks, quotas, a hold, its queue. Each rule is one function, pure.

Texts are those of Kubernetes 1.35 and Volcano 1.15; each rule names where they are written.
"""

import re
from collections.abc import Iterator
from decimal import Decimal

from facts.typed import typed
from facts.volcano_queues import amount
from trn.kubernetes.client import Object
from trn.kubernetes.situation import COUNTED, Cause, Situation, shown

CREATE_FAILED = ("FailedCreate", "FailedCreatePod", "FailedCreateWorkload", "PodGroupError", "PluginError", "PVCError")
"""Reasons of events of controllers that could not make something."""
_NO_ANSWER = re.compile(r'failed calling webhook "([^"]+)"')
_DENIED = re.compile(r'admission webhook "([^"]+)" denied the request:? ?(.*)', re.DOTALL)
_QUOTA = re.compile(r"exceeded quota: ([^,\s]+), (.*)", re.DOTALL)
KUEUE_LABEL = "kueue.x-k8s.io/queue-name"


def webhook(s: Situation) -> Iterator[Cause]:
    """A webhook that does not answer, or refuses (kubernetes staging/src/k8s.io/apiserver/pkg/admission/plugin/webhook/errors/statuserror.go)."""
    if len(s.job.pods) >= s.job.wanted:
        return
    for text in s.messages(*CREATE_FAILED):
        if found := _NO_ANSWER.search(text):
            what = f"the webhook {found[1]} does not answer, so no pods can be made"
            yield Cause("webhook", what, f"`trn addons {s.stack}` names its add-on; `kubectl get pods -A` shows whether its pods run")
            return
        if found := _DENIED.search(text):
            yield Cause("webhook", f"the webhook {found[1]} refuses its pods: {_line(found[2])}", f"change the job, {_again(s)}")
            return


def namespace_quota(s: Situation) -> Iterator[Cause]:
    """A ResourceQuota that is used up (kubernetes plugin/pkg/admission/resourcequota/controller.go)."""
    if len(s.job.pods) >= s.job.wanted:
        return
    for text in s.messages(*CREATE_FAILED):
        if found := _QUOTA.search(text):
            what = f"the quota {found[1]} of the namespace {s.job.namespace} leaves no room: {_line(found[2])}"
            yield Cause("quota", what, f"`kubectl -n {s.job.namespace} describe resourcequota {found[1]}`")
            return


def not_created(s: Situation) -> Iterator[Cause]:
    """Any other refusal of the API server to make a pod: it is shown as it is."""
    if len(s.job.pods) < s.job.wanted and (texts := s.messages(*CREATE_FAILED)):
        yield Cause("refused", f"its pods cannot be made: {_line(texts[0])}", _describe(s))


def held(s: Situation) -> Iterator[Cause]:
    """`suspend` of a Job, a JobSet or a TrainJob, of `runPolicy` in the training operator's kinds. Kueue sets it until it admits a job."""
    spec = s.job.item.get("spec") or {}
    if not (spec.get("suspend") or (spec.get("runPolicy") or {}).get("suspend")):
        return
    queue = (s.job.item["metadata"].get("labels") or {}).get(KUEUE_LABEL)
    namespace = s.job.namespace
    if queue is not None:
        what = f"Kueue has not admitted it: the queue {queue} has no room for all of it yet"
        yield Cause("quota", what, f"`kubectl -n {namespace} describe workloads` says what is missing")
    else:
        patch = f'kubectl -n {namespace} patch {s.job.kind.resource.qualified} {s.job.name} --type merge -p \'{{"spec": {{"suspend": false}}}}\''
        yield Cause("suspended", "it is suspended: `spec.suspend` is true", f"`{patch}`")


def queue(s: Situation) -> Iterator[Cause]:
    """A Volcano queue that is not there, takes no jobs, or may not have as much (volcano pkg/scheduler/plugins/capacity, proportion)."""
    group = s.group
    if group is None or s.queues is None or s.is_placed:
        return
    name = group.get("spec", {}).get("queue") or "default"
    found = s.queues.get(name)
    if found is None:
        yield Cause("queue", f"there is no Volcano queue {name}", f"name another `queue`, {_again(s)}; `kubectl get queues` lists them")
        return
    state = (found.get("status") or {}).get("state") or "Open"
    if state != "Open":
        yield Cause("queue", f"the queue {name} is {state}: it starts no jobs", f"`vcctl queue operate -a open -n {name}`")
        return
    if s.job.pods and group.get("status", {}).get("phase") != "Pending":
        return  # It has been let through: what its pods lack is something else.
    yield from _room(s, name, found)


def _room(s: Situation, name: str, found: Object) -> Iterator[Cause]:
    spec, status = found.get("spec") or {}, found.get("status") or {}
    most, given = spec.get("capability") or {}, status.get("allocated") or {}
    for resource in (key for key in COUNTED if key in most and key in s.asks):
        wanted, limit, taken = s.asks[resource] * s.job.wanted, amount(most[resource]), amount(given.get(resource, 0))
        if wanted > limit:
            what = f"it asks for {shown(wanted)} {resource}, and the queue {name} may have {shown(limit)} in all"
            yield Cause(
                "quota",
                what,
                f"take fewer nodes or another queue, or raise `addons.volcano.queues.{name}.capability` and run `{typed('pulumi up')}`",
            )
            return
        if wanted > limit - taken:
            left = max(Decimal(0), limit - taken)
            what = f"it asks for {shown(wanted)} {resource}, and the queue {name} has {shown(left)} of {shown(limit)} left"
            yield Cause("quota", what, f"`{typed(f'trn jobs {s.stack}')}` shows what runs: it starts when others end")
            return
    if texts := [text for text in s.messages("Unschedulable") if text.startswith("queue resource quota insufficient")]:
        yield Cause("quota", f"the queue {name} has no room for it: {_line(texts[0])}", f"`{typed(f'trn jobs {s.stack}')}` shows what runs")


def _line(text: str) -> str:
    return " ".join(text.split())[:300]


def _again(s: Situation) -> str:
    return f"then `{typed(f'trn cancel {s.stack} {s.job.name}')}` and submit it again"


def _describe(s: Situation) -> str:
    return f"`kubectl -n {s.job.namespace} describe {s.job.kind.resource.qualified} {s.job.name}`"
