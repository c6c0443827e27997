"""What keeps a job's pods from nodes: claims, devices, taints, too few nodes. Each rule is one function, pure.

The objects decide where they can; the scheduler's own words are kube-scheduler's of Kubernetes 1.35, which Volcano 1.15 repeats.
"""

import re
from collections.abc import Iterator
from decimal import Decimal

from facts.device_claims import COUNTED_AS
from facts.typed import typed
from facts.volcano_queues import amount
from trn.kubernetes.claimed import CHIPS, INTERFACES
from trn.kubernetes.client import Object
from trn.kubernetes.situation import Cause, Situation, is_over, is_ready, offered, shown, untolerated

_NO_CLAIM = re.compile(r'persistentvolumeclaim "([^"]+)" (not found|is being deleted|bound to non-existent persistentvolume "[^"]*")')
_UNBOUND = "unbound immediate PersistentVolumeClaims"


def claim(s: Situation) -> Iterator[Cause]:
    """A claim that is not there, or not bound (kubernetes pkg/scheduler/framework/plugins/volumebinding/volume_binding.go)."""
    if s.is_placed or not (s.job.pods or s.said) or s.claims is None:
        return
    namespace = s.job.namespace
    for volume in s.spec.get("volumes") or ():
        name = (volume.get("persistentVolumeClaim") or {}).get("claimName")
        if name is None:
            continue
        found = s.claims.get(name)
        if found is None:
            yield Cause(
                "claim",
                f"there is no claim {name} in {namespace}",
                f"`{typed('pulumi up')}` makes the stack's; make another one, or mount another",
            )
            return
        phase = (found.get("status") or {}).get("phase", "Pending")
        # A claim of a class that waits for its first pod is Pending until that is placed, and holds nothing up.
        if phase == "Lost" or (phase == "Pending" and _UNBOUND in s.said):
            yield Cause("claim", f"the claim {name} is {phase}: no volume is bound to it", f"`kubectl -n {namespace} describe pvc {name}`")
            return
    if found := _NO_CLAIM.search(s.said):
        yield Cause("claim", f"the claim {found[1]} {found[2]}", f"`kubectl -n {namespace} describe pvc {found[1]}`")


def no_nodes_of_group(s: Situation) -> Iterator[Cause]:
    """A selector that names no node, and no group of the stack that could have any."""
    if s.is_placed or s.matching or s.group_of_nodes is not None or not s.nodes:
        return
    wanted = ", ".join(f"{key}={value}" for key, value in (s.spec.get("nodeSelector") or {}).items())
    if wanted:
        yield Cause(
            "selector", f"no node has the labels {wanted}", "`kubectl get nodes --show-labels`; name a node group of the stack file"
        )


def gang_too_large(s: Situation) -> Iterator[Cause]:
    """More nodes at once than the group may ever have."""
    nodes = s.group_of_nodes
    if nodes is None or s.is_placed or s.job.wanted <= nodes.largest_size:
        return
    what = f"it wants {s.job.wanted} nodes at once, and {nodes.name} may have {nodes.largest_size}"
    key = f"{nodes.path}.{'maxNodes' if nodes.is_pool else 'maxSize'}"
    yield Cause(
        "gang", what, f"submit it with `nodes: {nodes.largest_size}`, or raise `{key}` in the stack file and run `{typed('pulumi up')}`"
    )


def devices(s: Situation) -> Iterator[Cause]:
    """Nodes that offer no EFA interfaces, or no Neuron chips: their device plug-in does not run, or they have none."""
    ready = [node for node in s.matching if is_ready(node)]
    if s.is_placed or not ready:
        return
    kinds = ((INTERFACES, "EFA", "EFA interfaces"), (CHIPS, "devices", "Neuron chips"))
    for resource, name, what in ((resource, name, what) for resources, name, what in kinds for resource in resources):
        if resource in s.asks and not any(offered(node, resource) for node in ready):
            nodes = s.group_of_nodes
            if name == "EFA" and nodes is not None and not nodes.uses_efa:
                do = f"set `efa: false` in the job file, or give {nodes.path} EFA in the stack file"
            else:
                do = f"`{typed(f'trn status {s.stack}')}` shows whether the {'DRA driver' if resource.startswith(COUNTED_AS) else 'device plug-in'} runs on every node"
            yield Cause(name, f"its {len(ready)} nodes offer no {what} ({resource}) to pods", do)
            return
    for resource, asked in s.asks.items():
        most = max(offered(node, resource) for node in ready)
        if asked > most:
            what = f"each pod asks for {shown(asked)} {resource}, and no node has more than {shown(most)}"
            yield Cause("gang", what, "ask for less, or name a group with larger nodes")
            return


def taint(s: Situation) -> Iterator[Cause]:
    """Nodes that would do but for a taint, or that were closed by `kubectl cordon` (plugins/tainttoleration, nodeunschedulable)."""
    fitting = [node for node in s.matching if is_ready(node) and _is_large_enough(s, node)]
    if s.is_placed or len(_usable(s)) >= s.job.wanted:
        return
    for node in fitting:
        name = node["metadata"]["name"]
        found = untolerated(s.spec, node)
        if node.get("spec", {}).get("unschedulable"):
            yield Cause("taint", f"the node {name} is closed to new pods (cordoned)", f"`kubectl uncordon {name}`")
            return
        if found is not None:
            yield Cause(
                "taint",
                f"the node {name} has the taint {found}, which its pods do not tolerate",
                f"`kubectl taint nodes {name} {found}-`, or add the toleration to the job",
            )
            return


def capacity(s: Situation) -> Iterator[Cause]:
    """Fewer nodes than are wanted: a group that is set too small, or one that AWS does not fill."""
    nodes, usable = s.group_of_nodes, _usable(s)
    missing = s.job.wanted - len(usable)
    if s.is_placed or missing <= 0 or nodes is None:
        return
    there = f"it wants {s.job.wanted} nodes, and {len(usable)} of {nodes.name} are ready"
    if nodes.is_pool:
        yield Cause(
            "capacity",
            f"{there}; Karpenter makes the others where AWS has capacity",
            "`kubectl get nodeclaims` and `kubectl describe` of one of them",
        )
    elif nodes.size < s.job.wanted:
        yield Cause(
            "capacity", f"{there}: the stack asks for {nodes.size}", f"`{typed(f'trn scale {s.stack} {nodes.name} {s.job.wanted}')}`"
        )
    else:
        yield Cause(
            "capacity",
            f"{there}: AWS has not given the {missing} others, or they are not ready",
            f"`{typed(f'trn status {s.stack}')}` shows what the node group says",
        )


def too_few_nodes(s: Situation) -> Iterator[Cause]:
    """As above, where no group of the stack is named."""
    usable = _usable(s)
    if not s.is_placed and s.nodes and len(usable) < s.job.wanted and s.group_of_nodes is None and (s.said or s.group is not None):
        yield Cause(
            "gang",
            f"it wants {s.job.wanted} nodes, and {len(usable)} would take its pods",
            f"take fewer nodes, or add some: `{typed('trn scale')}`",
        )


def busy(s: Situation) -> Iterator[Cause]:
    """Enough nodes, held by the pods of others."""
    usable = _usable(s)
    if s.is_placed or not usable or not (s.said or s.group is not None):
        return
    own = {pod["spec"]["nodeName"] for pod in s.job.pods if "nodeName" in pod.get("spec", {}) and not is_over(pod)}
    free = [node for node in usable if node["metadata"]["name"] in own or _has_room(s, node)]
    if len(free) < s.job.wanted:
        what = f"{len(free)} of the {s.job.wanted} nodes that it wants are free: other pods hold the rest"
        yield Cause("busy", what, f"`{typed(f'trn jobs {s.stack}')}` shows what runs: it starts when others end")


def unschedulable(s: Situation) -> Iterator[Cause]:
    """Whatever else the scheduler says, in its words."""
    if not s.is_placed and s.said:
        yield Cause(
            "scheduler",
            f"the scheduler finds no place: {' '.join(s.said.split())[:300]}",
            "`kubectl get nodes` and `kubectl describe` of a pod of it",
        )


def _is_large_enough(s: Situation, node: Object) -> bool:
    return all(offered(node, resource) >= asked for resource, asked in s.asks.items())


def _usable(s: Situation) -> list[Object]:
    """Nodes that would take one of its pods if they were empty."""
    return [
        node
        for node in s.matching
        if is_ready(node)
        and not node.get("spec", {}).get("unschedulable")
        and untolerated(s.spec, node) is None
        and _is_large_enough(s, node)
    ]


def _has_room(s: Situation, node: Object) -> bool:
    name = node["metadata"]["name"]
    there = [pod for pod in s.others if pod.get("spec", {}).get("nodeName") == name and not is_over(pod)]
    return all(
        offered(node, resource) - sum((_asked(pod, resource) for pod in there), Decimal(0)) >= asked for resource, asked in s.asks.items()
    )


def _asked(pod: Object, resource: str) -> Decimal:
    found = Decimal(0)
    for container in pod["spec"].get("containers") or ():
        given = container.get("resources") or {}
        found += amount((given.get("requests") or {}).get(resource) or (given.get("limits") or {}).get(resource) or 0)
    return found
