"""Which nodes of a second group can take the jobs of the first. Pure."""

from collections.abc import Mapping, Sequence

from trn.kubernetes.client import Object
from trn.kubernetes.jobs.job import FoundJob
from trn.running.roll.others import holds_devices, is_over


def free_nodes(nodes: Sequence[Object], pods: Sequence[Object], moved: Sequence[FoundJob]) -> list[str]:
    """Names of nodes that take pods, have the devices that each pod of the jobs asks for, and hold no devices for other jobs."""
    own = {str(pod["metadata"].get("uid")) for job in moved for pod in job.pods}
    taken = {
        pod["spec"].get("nodeName")
        for pod in pods
        if holds_devices(pod) and not is_over(pod) and str(pod["metadata"].get("uid")) not in own
    }
    asked = [_asked(job.pod_spec) for job in moved]
    return [
        node["metadata"]["name"]
        for node in nodes
        if node["metadata"]["name"] not in taken and not node["spec"].get("unschedulable") and all(_offers(node, each) for each in asked)
    ]


def _asked(spec: Mapping[str, object]) -> dict[str, int]:
    """Devices of a pod: resources with a domain in their name, such as `aws.amazon.com/neuron`."""
    found: dict[str, int] = {}
    containers = spec.get("containers")
    for part in containers if isinstance(containers, list) else ():
        for name, count in ((part.get("resources") or {}).get("limits") or {}).items():
            if "/" in name and str(count).isdecimal():
                found[name] = found.get(name, 0) + int(count)
    return found


def _offers(node: Object, asked: Mapping[str, int]) -> bool:
    """Whether an empty node has as much of each device."""
    offered = (node.get("status") or {}).get("allocatable") or {}
    return all(int(offered.get(name, 0)) >= count for name, count in asked.items())
