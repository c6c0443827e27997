"""What a pod needs before its first container: objects that it refers to, its folders, its namespaces."""

from tests.kubernetes.kubelet.contents import Contents
from tests.kubernetes.kubelet.names import hosts_file
from tests.kubernetes.kubelet.node import Node
from tests.kubernetes.kubelet.pods import Object, uid
from tests.kubernetes.kubelet.sandbox import Sandbox, find_sandbox, make_sandbox
from tests.kubernetes.kubelet.store import PodFolder
from tests.kubernetes.kubelet.volumes import Sources, plan_volumes


def prepare(pod: Object, node: Node, folder: PodFolder) -> Sandbox:
    """The pod's sandbox: the one that runs already, or a new one with everything in its place.

    Raises MissingReference, UnknownField, volumes.Refused, NetworkFailed, api.Refused, api.Gone.
    """
    machine = node.machine
    before = find_sandbox(folder)
    address = node.host if pod["spec"].get("hostNetwork") else machine.addresses.take(uid(pod))
    if before and before.holder.alive:
        return before
    contents = Contents(machine.api, pod)
    sources = Sources(contents.bytes_of, contents.token, {"podIP": address, "hostIP": node.host}, node.allocatable)
    volumes = plan_volumes(pod, sources)
    folder.make(pod, volumes)
    folder.write_hosts(hosts_file(pod, address, machine.names.now))
    return make_sandbox(pod, folder, volumes, machine.network, address, machine.life)
