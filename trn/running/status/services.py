"""What runs beside the nodes: control plane, queues, rendezvous, file system."""

from collections.abc import Iterator

from addons.etcd import EtcdSettings
from addons.volcano import QUEUES, VolcanoSettings
from facts.typed import typed
from trn.aws.eks import described
from trn.aws.stack_file_system import file_systems
from trn.cli.findings import Finding, failed, passed, skipped
from trn.running.subject import Subject, name_of

ETCD_PORT = 2379


def control_plane(subject: Subject) -> Iterator[Finding]:
    """It is ACTIVE, and runs the version of the stack file."""
    wanted = subject.settings.control_plane.kubernetes_version
    entry = described(subject.api, subject.settings.name) or {}
    status, version = entry.get("status", "not there"), entry.get("version", "?")
    if status != "ACTIVE":
        yield failed("control plane", f"it is {status}", "`aws eks describe-cluster` says why")
    elif version != wanted:
        yield failed("control plane", f"Kubernetes {version}, the stack file says {wanted}", f"`{typed('pulumi up')}`")
    else:
        yield passed("control plane", f"ACTIVE, Kubernetes {version}")


def queues(subject: Subject) -> Iterator[Finding]:
    """A job sent to a closed queue waits for ever."""
    addon = subject.settings.addons.of(VolcanoSettings)
    if not addon.enabled:
        yield skipped("queues", "Volcano is off in the configuration")
        return
    found = subject.kubernetes.list(QUEUES)
    if found is None:
        yield failed("queues", "the cluster knows no Volcano queues", f"`{typed('pulumi up')}` installs Volcano")
        return
    states = {name_of(queue): queue.get("status", {}).get("state", "unknown") for queue in found}
    for name in addon.queues:
        state = states.get(name, "not there")
        do = f"`vcctl queue operate -a open -n {name}`" if name in states else f"`{typed('pulumi up')}` makes it"
        yield passed("queues", f"{name} is Open") if state == "Open" else failed("queues", f"{name} is {state}", do)


def etcd(subject: Subject) -> Iterator[Finding]:
    """TorchX's rendezvous speaks version 2 of etcd's API, which etcd 3.5 serves only with an option."""
    if not subject.settings.addons.of(EtcdSettings).enabled:
        yield skipped("etcd", "off in the configuration")
        return
    namespace = subject.settings.training.namespace
    # Through the API server: no pod has to be started for it.
    answer = subject.kubernetes.read(f"/api/v1/namespaces/{namespace}/services/etcd-client:{ETCD_PORT}/proxy/v2/keys/")
    if answer is None:
        yield failed("etcd", "it does not answer at /v2/keys", f"`kubectl -n {namespace} logs etcd-server-0`; it needs --enable-v2")
    else:
        yield passed("etcd", "version 2 of its API answers")


def file_system(subject: Subject) -> Iterator[Finding]:
    """It is AVAILABLE, and its claim is bound."""
    lustre, namespace = subject.settings.storage.lustre, subject.settings.training.namespace
    if not lustre.enabled:
        yield skipped("file system", "off in the configuration")
        return
    found = file_systems(subject.api, subject.settings)
    if not found:
        given = lustre.existing
        what = f"there is no {given.file_system_id}" if given is not None else "there is none with the cluster's tag"
        yield failed("file system", what, "its owner knows where it went" if given is not None else f"`{typed('pulumi up')}` makes it")
    for entry in found:
        text = f"{entry['FileSystemId']} is {entry['Lifecycle']}"
        available = entry["Lifecycle"] == "AVAILABLE"
        yield passed("file system", text) if available else failed("file system", text, "`aws fsx describe-file-systems` says why")
    claim = subject.kubernetes.read(f"/api/v1/namespaces/{namespace}/persistentvolumeclaims/{lustre.claim_name}")
    phase = "not there" if claim is None else claim.get("status", {}).get("phase", "unknown")
    text = f"claim {namespace}/{lustre.claim_name} is {phase}"
    do = f"`kubectl -n {namespace} describe pvc {lustre.claim_name}`"
    yield passed("file system", text) if phase == "Bound" else failed("file system", text, do)
