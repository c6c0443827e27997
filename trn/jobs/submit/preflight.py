"""What of a job the stack file cannot know: looked up in the cluster, before anything is made."""

from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime, timedelta
from decimal import Decimal

from addons.volcano import QUEUES
from facts.device_claims import EFA_COUNTED, NEURON_COUNTED
from facts.names import EFA_RESOURCE, NEURON_RESOURCE
from facts.typed import typed
from facts.volcano_queues import amount
from training.duration import seconds
from training.plan import Plan
from trn.cli.findings import Finding, failed, passed, skipped, warned
from trn.jobs.rendering import Rendered
from trn.kubernetes.client import Kubernetes, Object
from trn.kubernetes.kinds import NODES


def block(plan: Plan, now: datetime) -> Iterator[Finding]:
    """Whether the job's capacity block still has the time that the job needs."""
    use, job = plan.nodes.block, plan.job
    if use is None:
        return
    name, drained = plan.nodes.name, f"{use.drained:%Y-%m-%d %H:%M} UTC"
    if now >= use.drained:
        do = f"extend the block, or buy another one and set it at `{plan.nodes.path}`; `{typed('trn submit --on')}`, or another `nodeGroup`, where there are nodes"
        yield failed("block", f"the capacity block of {name} is over: its nodes were drained at {drained}", do)
        return
    begins = max(now, use.window.starts)
    left = use.drained - begins
    if now < use.window.starts:
        yield warned("block", f"the capacity block of {name} begins at {use.window.starts:%Y-%m-%d %H:%M} UTC", "the job waits until then")
    needs = timedelta(seconds=seconds(job.time_limit)) if job.time_limit is not None else None
    if needs is not None and needs <= left:
        yield passed("block", f"its time limit of {job.time_limit} ends before the nodes of {name} are drained at {drained}")
        return
    what = f"nodes of {name} are drained at {drained}, after at most {left.total_seconds() / 3600:.1f} hours of the job"
    if job.checkpoints is None:
        yield warned("block", f"{what}: it keeps no checkpoints, and starts anew", "set `checkpoints`, or a `timeLimit` that ends before")
    else:
        yield warned(
            "block",
            f"{what}: it saves then, and goes on where there are nodes again",
            "extend the block in time, or let a second one follow",
        )


def night(plan: Plan, now: datetime) -> Iterator[Finding]:
    """Whether the job may run when a schedule empties its group."""
    hours, job = plan.nodes.hours, plan.job
    down = hours.next_down(now) if hours is not None else None
    if hours is None or down is None:
        return
    limit = timedelta(seconds=seconds(job.time_limit)) if job.time_limit is not None else None
    up = hours.next_up(now)
    # At night the group goes up before it goes down again, and a job that waits begins then.
    begins = up if up is not None and up < down else now
    left = down - begins
    if limit is not None and limit <= left:
        yield passed("night", f"its time limit of {job.time_limit} ends before the schedule empties {plan.nodes.name} at {_time(down)}")
        return
    what = f"a schedule empties {plan.nodes.name} at {_time(down)}, after at most {left.total_seconds() / 3600:.1f} hours of the job"
    again = (
        "when the group has nodes again"
        if hours.up_at is not None
        else f"after `{typed(f'trn scale {plan.site.stack} {plan.nodes.name}')}`"
    )
    if job.checkpoints is None:
        yield warned("night", f"{what}: it keeps no checkpoints, and starts anew", "set `checkpoints`, or a `timeLimit` that ends before")
    else:
        yield warned("night", f"{what}: it saves then, and goes on {again}", "a group without `schedule` runs it in one piece")


def _time(moment: datetime) -> str:
    return f"{moment:%Y-%m-%d %H:%M} UTC"


HasImage = Callable[[str], bool | None]


def findings(
    found: Rendered, kubernetes: Kubernetes, has_image: HasImage, now: datetime | None = None, *, is_pushed: bool = False
) -> list[Finding]:
    """Everything that is looked up. Reads only.

    `has_image`: whether there is an image; None where that cannot be known. `now`: the time against which capacity blocks and
    schedules are held; the clock's without it. `is_pushed`: whether the image is made before the job.
    """
    plan, at = found.plan, now or datetime.now(UTC)
    return [
        *(() if is_pushed else _image(plan, has_image)),
        *_queue(plan, kubernetes),
        *_claims(plan, kubernetes),
        *_priority(plan, kubernetes),
        *_nodes(plan, kubernetes, at),
        *block(plan, at),
        *night(plan, at),
    ]


def _image(plan: Plan, has_image: HasImage) -> Iterator[Finding]:
    known = has_image(plan.image)
    if known:
        yield passed("image", f"{plan.image} is there")
    elif known is False:
        yield failed("image", f"there is no image {plan.image}", "push it, or name another one under `image`")
    else:
        yield skipped("image", f"{plan.image} is not in a repository that could be asked")


def _queue(plan: Plan, kubernetes: Kubernetes) -> Iterator[Finding]:
    if plan.queue is None:
        return
    queue = kubernetes.read(f"{QUEUES.path}/{QUEUES.plural}/{plan.queue}")
    if queue is None:
        yield failed("queue", f"the cluster has no Volcano queue {plan.queue}", f"`{typed('pulumi up')}` makes those of the stack file")
        return
    state = queue.get("status", {}).get("state", "unknown")
    if state != "Open":
        yield failed("queue", f"{plan.queue} is {state}: it takes no jobs", f"`vcctl queue operate -a open -n {plan.queue}`")
        return
    yield from _room(plan, queue)


def _room(plan: Plan, queue: Object) -> Iterator[Finding]:
    """What the job asks for against what the queue may have, and has given away."""
    most: Mapping[str, int | str] = queue.get("spec", {}).get("capability") or {}
    given: Mapping[str, int | str] = queue.get("status", {}).get("allocated") or {}
    asks = asked(plan)
    for resource in asks.keys() & most.keys():
        limit, taken = amount(most[resource]), amount(given.get(resource, 0))
        if asks[resource] > limit:
            do = "take fewer nodes, another queue, or raise `capability` in the stack file"
            yield failed("queue", f"the job asks for {_shown(asks[resource])} {resource}, {plan.queue} may have {_shown(limit)} in all", do)
            return
        if asks[resource] > limit - taken:
            free = max(Decimal(0), limit - taken)
            yield warned(
                "queue",
                f"{plan.queue} has {_shown(free)} {resource} left, the job asks for {_shown(asks[resource])}",
                "it waits until others end",
            )
            return
    yield passed("queue", f"{plan.queue} is Open")


def asked(plan: Plan) -> dict[str, Decimal]:
    """What all pods of a job ask for together, by resource."""
    share, nodes = plan.share, plan.job.nodes
    found = {
        "cpu": Decimal(share.cpu_millis) / 1000,
        "memory": Decimal(share.memory_mib) * 2**20,
        (NEURON_COUNTED if plan.claimed.chip_count else NEURON_RESOURCE): Decimal(plan.chip_count),
        (EFA_COUNTED if plan.claimed.interface_count else EFA_RESOURCE): Decimal(plan.interface_count),
    }
    return {resource: amount * nodes for resource, amount in found.items() if amount}


def _shown(number: Decimal) -> str:
    return f"{number:f}".rstrip("0").rstrip(".") if "." in f"{number:f}" else f"{number:f}"


def _claims(plan: Plan, kubernetes: Kubernetes) -> Iterator[Finding]:
    namespace = plan.site.namespace
    for claim in dict.fromkeys(mount.claim for mount in plan.mounts):
        there = kubernetes.read(f"/api/v1/namespaces/{namespace}/persistentvolumeclaims/{claim}")
        if there is None:
            yield failed(
                "claim",
                f"there is no claim {claim} in {namespace}",
                f"`{typed('pulumi up')}` makes the stack's; another one has to be made before",
            )
        elif there.get("status", {}).get("phase") != "Bound":
            phase = there.get("status", {}).get("phase", "unknown")
            yield warned("claim", f"{claim} is {phase}: pods wait for it", f"`kubectl -n {namespace} describe pvc {claim}`")
        else:
            yield passed("claim", f"{claim} is Bound")


def _priority(plan: Plan, kubernetes: Kubernetes) -> Iterator[Finding]:
    name = plan.job.priority
    if name is None:
        return
    if kubernetes.read(f"/apis/scheduling.k8s.io/v1/priorityclasses/{name}") is None:
        yield failed("priority", f"the cluster has no PriorityClass {name}", "`kubectl get priorityclasses` lists them")
    else:
        yield passed("priority", name)


def _nodes(plan: Plan, kubernetes: Kubernetes, now: datetime) -> Iterator[Finding]:
    """Nodes that could take a pod; the job waits for those that are not there."""
    wanted, nodes = plan.job.nodes, plan.nodes
    selector = nodes.selector.items()
    found = [node for node in kubernetes.list(NODES) or () if selector <= node["metadata"].get("labels", {}).items()]
    usable = [node for node in found if _is_ready(node) and not node.get("spec", {}).get("unschedulable")]
    if not plan.chip_count:
        # Pods of a job on processors share nodes.
        wanted = min(1, wanted)
    what = f"{len(usable)} of {wanted} nodes of {nodes.name} are ready"
    if len(usable) >= wanted:
        yield passed("nodes", what)
    elif nodes.is_pool:
        yield warned("nodes", what, "Karpenter makes the others once the job waits")
    elif nodes.block is not None:
        yield warned("nodes", what, "the group goes up by itself when its capacity block begins: the job waits until then")
    elif nodes.hours is not None and (up := nodes.hours.next_up(now)) is not None:
        do = f"its schedule fills the group at {up:%Y-%m-%d %H:%M} UTC: the job waits until then"
        yield warned("nodes", what, f"{do}, or `{typed(f'trn scale {plan.site.stack} {nodes.name} {wanted}')}`")
    else:
        do = f"`{typed(f'trn scale {plan.site.stack} {nodes.name} {wanted}')}`, unless an autoscaler does it: the job waits until then"
        yield warned("nodes", what, do)


def _is_ready(node: Object) -> bool:
    conditions = node.get("status", {}).get("conditions", ())
    return any(item["type"] == "Ready" and item["status"] == "True" for item in conditions)
