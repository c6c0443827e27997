"""The rows of `trn top`: what neuron-monitor says on each node, asked of all nodes at once."""

import subprocess
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

from addons.neuron import NeuronSettings
from facts.typed import typed
from trn.change.clients import access
from trn.change.kubectl import kubectl
from trn.cli.errors import MISUSE, CommandError
from trn.kubernetes.claimed import CHIPS, with_claims
from trn.kubernetes.client import Kubernetes, Object
from trn.kubernetes.job_pods import PODS, known_jobs, pods_of
from trn.running.subject import Subject, core_count, hardware, name_of
from trn.running.top.readings import Reading, from_exporter, from_monitor
from trn.running.top.view import Row

EXPORTER_NAMESPACE, EXPORTER_PORT = "neuron-monitor", 8000
EXPORTER_LABEL = "app.kubernetes.io/name=neuron-monitor"
ASKED_AT_ONCE = 16
ASKED_S = 60
MONITOR = ("sh", "-c", "timeout 20 neuron-monitor | head -n 1")
"""Its first line comes after one period, 5 seconds."""
Reader = Callable[[str, Object | None], Reading]
"""The reading of a node, by its name and one of the pods that hold its devices."""


def rows(subject: Subject, read: Reader, namespace: str, job: str | None) -> list[Row]:
    """One for each Neuron node, or for each on which the job has a pod. Raises CommandError for a job that has none."""
    held = holders(subject.kubernetes, namespace, job)
    if job is not None and not held:
        wrong = f"no pod of a job `{job}` holds Neuron devices in {namespace}"
        raise CommandError(wrong, known_jobs(subject.kubernetes, namespace), code=MISUSE)
    nodes = [(group, name_of(node)) for group, node in subject.neuron_nodes if job is None or name_of(node) in held]

    def row(name: str) -> Reading | str:
        pods = held.get(name, [])
        try:
            return read(name, pods[0] if pods else None)
        except CommandError as error:
            return str(error.args[0])
        except (ValueError, KeyError, TypeError) as error:
            return f"the answer makes no sense: {error!r}"

    with ThreadPoolExecutor(ASKED_AT_ONCE) as pool:
        answers = list(pool.map(row, [name for _, name in nodes]))
    return [
        Row(
            node=name,
            instance_type=group.instance_type,
            pods=tuple(f"{pod['metadata']['namespace']}/{name_of(pod)}" for pod in held.get(name, ())),
            core_count=core_count(group),
            chip_count=hardware(group).chip_count,
            device_memory_gib=hardware(group).device_memory_gib,
            reading=None if isinstance(answer, str) else answer,
            problem=answer if isinstance(answer, str) else "",
        )
        for (group, name), answer in zip(nodes, answers, strict=True)
    ]


def holders(kubernetes: Kubernetes, namespace: str, job: str | None) -> Mapping[str, list[Object]]:
    """Pods that run and hold Neuron devices, by node: of everybody, or of one job."""
    found: dict[str, list[Object]] = {}
    pods = (kubernetes.list(PODS) or []) if job is None else pods_of(kubernetes, namespace, job)
    for pod in with_claims(pods, kubernetes):
        limits = [part.get("resources", {}).get("limits") or {} for part in pod["spec"]["containers"]]
        if any(name in entry for entry in limits for name in CHIPS) and pod.get("status", {}).get("phase") == "Running":
            found.setdefault(pod["spec"]["nodeName"], []).append(pod)
    return found


@contextmanager
def reader(subject: Subject, namespace: str, job: str | None) -> Iterator[Reader]:
    """The exporter where it is installed; else neuron-monitor in the pods of the job, through kubectl."""
    exporters = exporters_by_node(subject.kubernetes)
    if exporters:
        yield lambda node, pod: _scraped(subject.kubernetes, exporters.get(node))
        return
    if job is None:
        hint = (
            f"set `addons.neuronMonitor.enabled: true` and run `{typed('pulumi up')}`; or name a job, and it is asked in the job's own pods"
        )
        if subject.settings.addons.of(NeuronSettings).devices == "dra":
            hint = "it does not support devices by claims; name a job, and neuron-monitor is asked in the job's own pods"
        raise CommandError("neuron-monitor's exporter is not installed", hint)
    access().need_tools("kubectl", "aws")
    with kubectl(subject.api, subject.settings.name, namespace) as first:
        yield lambda node, pod: _asked(first, pod)


def exporters_by_node(kubernetes: Kubernetes) -> Mapping[str, str]:
    """The exporter's pods, by their nodes."""
    found = kubernetes.list(PODS, namespace=EXPORTER_NAMESPACE, label=EXPORTER_LABEL) or []
    return {pod["spec"]["nodeName"]: name_of(pod) for pod in found if "nodeName" in pod["spec"]}


def _scraped(kubernetes: Kubernetes, exporter: str | None) -> Reading:
    if exporter is None:
        raise CommandError("no exporter runs there")
    # Through the API server: no port of the cluster is open to the outside.
    text = kubernetes.text(f"/api/v1/namespaces/{EXPORTER_NAMESPACE}/pods/{exporter}:{EXPORTER_PORT}/proxy/metrics")
    if text is None:
        raise CommandError(f"{exporter} is gone")
    return from_exporter(text)


def _asked(first: list[str], pod: Object | None) -> Reading:
    if pod is None:
        raise CommandError("no pod of the job runs there")
    arguments = [*first, "exec", name_of(pod), "--", *MONITOR]
    try:
        done = subprocess.run(arguments, capture_output=True, text=True, timeout=ASKED_S, check=False)
    except subprocess.TimeoutExpired as error:
        raise CommandError(f"{name_of(pod)} does not answer within {ASKED_S} s") from error
    if done.returncode or not done.stdout.strip():
        raise CommandError(f"neuron-monitor does not run in {name_of(pod)}: {done.stderr.strip()[:200] or 'it said nothing'}")
    return from_monitor(done.stdout)
