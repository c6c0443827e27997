"""What Prometheus has scraped of a cluster in one situation or another: series of each exporter, as plain data.

Two trn1.32xlarge nodes with one job on both, for 75 minutes. Names and labels are those of `addons/grafana/dashboards/metrics.yaml`; the
figures are made up. A situation changes what one exporter says, and names the alerts that must fire then: those and no others.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from addons.prometheus import SCRAPE_INTERVAL
from addons.prometheus.values import POD_MONITORS

START_S = 1_750_000_007
"""Seconds since 1970 at which each situation begins."""
END_S = 4500
USUAL_S = int(SCRAPE_INTERVAL.removesuffix("s"))
NEURON_S = int(POD_MONITORS["neuron-monitor"]["podMetricsEndpoints"][0].get("interval", SCRAPE_INTERVAL).removesuffix("s"))
"""Seconds between two scrapes of neuron-monitor."""
NODES = ("node-1", "node-2")
RUNTIME = "367"
OWN = {"neuron-monitor": "neuron-monitor", "efa-exporter": "efa-exporter", "lustre-exporter": "training"}
"""Namespaces of the exporters that a PodMonitor of ours finds."""


@dataclass(frozen=True)
class Series:
    """One series: its labels with its name, and stretches of samples."""

    labels: Mapping[str, str]
    stretches: Sequence[Mapping[str, float]]
    gone_at_s: float | None = None
    """When a scrape found it missing."""

    @property
    def name(self) -> str:
        """Of the metric."""
        return self.labels["__name__"]

    def as_data(self) -> dict[str, Any]:
        """For the engine."""
        return {"labels": dict(self.labels), "stretches": list(self.stretches), "goneAtS": self.gone_at_s}


def steady(labels: Mapping[str, str], value: float, every_s: int = USUAL_S, *, per_s: float = 0, from_s: int = 0) -> Series:
    """A value in every scrape until the end, growing by `per_s`."""
    return Series(labels, [{"fromS": from_s, "toS": END_S, "everyS": every_s, "value": value, "perS": per_s}])


def seen(labels: Mapping[str, str], every_s: int, *shown: tuple[float, float, float]) -> Series:
    """What scrapes see of a series that the exporter shows from, until (not at), at a value: perhaps nothing."""
    at = [(float(time), value) for first, last, value in shown for time in range(0, END_S + 1, every_s) if first <= time < last]
    gone = next((float(time) for time in range(0, END_S + 1, every_s) if at and time > at[-1][0]), None)
    return Series(labels, [{"fromS": time, "toS": time, "everyS": 1, "value": value, "perS": 0} for time, value in at], gone)


def target(exporter: str, node: str) -> dict[str, str]:
    """Labels that Prometheus puts on each series of a target of ours."""
    return {
        "job": f"monitoring/{exporter}",
        "namespace": OWN[exporter],
        "pod": f"{exporter}-{node}",
        "container": exporter,
        "endpoint": "metrics",
        "instance": f"10.0.0.{node[-1]}:8000",
        "node": node,
    }


def up(exporter: str, node: str, *, down_from_s: int | None = None) -> list[Series]:
    """Whether the target answered."""
    labels, every = {"__name__": "up", **target(exporter, node)}, NEURON_S if exporter == "neuron-monitor" else USUAL_S
    if down_from_s is None:
        return [steady(labels, 1, every)]
    stretches = [(0, down_from_s - every, 1), (down_from_s, END_S, 0)]
    return [Series(labels, [{"fromS": a, "toS": b, "everyS": every, "value": value, "perS": 0} for a, b, value in stretches])]


def neuron(name: str, node: str, **labels: str) -> dict[str, str]:
    """Labels of a series of neuron-monitor. From a pod it knows nothing of its instance."""
    return {"__name__": name, **target("neuron-monitor", node), **labels}


def neuron_monitor(node: str, *, busy: float | None = 0.9) -> list[Series]:
    """One node, with a process that is so busy; None for a node without a process."""
    found = up("neuron-monitor", node)
    found += [
        steady(neuron("hardware_ecc_events_total", node, event_type=event, neuron_device_index=str(device)), 0, NEURON_S)
        for event in ("mem_ecc_corrected", "mem_ecc_uncorrected", "sram_ecc_corrected", "sram_ecc_uncorrected")
        for device in (0, 5)
    ]
    return found if busy is None else [*found, *process(node, busy)]


def process(node: str, busy: float) -> list[Series]:
    """Series that there are while a process uses Neuron."""
    of = {"runtime_tag": RUNTIME}
    found = [steady(neuron("neuroncore_utilization_ratio", node, neuroncore=str(core), **of), busy, NEURON_S) for core in (0, 1, 2, 3)]
    for use in ("constants", "model_code", "model_shared_scratchpad", "runtime_memory", "tensors"):
        name = f"neuroncore_memory_usage_{use}"
        found += [steady(neuron(name, node, neuroncore=str(core), memory_location="None", **of), 2**30, NEURON_S) for core in (0, 1, 2, 3)]
    for place in ("host", "neuron_device"):
        found.append(steady(neuron("neuron_runtime_memory_used_bytes", node, memory_location=place, **of), 2**33, NEURON_S))
    for status in ("completed", "completed_with_err", "timed_out"):
        rate = 10 if status == "completed" else 0
        found.append(steady(neuron("execution_status_total", node, status_type=status, **of), 5, NEURON_S, per_s=rate))
    for error in ("generic", "numerical", "transient", "model", "runtime", "hardware"):
        found.append(steady(neuron("execution_errors_total", node, error_type=error, **of), 0, NEURON_S))
    for percentile in ("p0", "p50", "p99", "p100"):
        found.append(steady(neuron("execution_latency_seconds", node, percentile=percentile, **of), 0.08, NEURON_S))
    return found


def without(series: Sequence[Series], name: str, **labels: str) -> list[Series]:
    """All but those of a metric with these labels."""
    return [item for item in series if item.name != name or not labels.items() <= item.labels.items()]


EFA_RATES: Mapping[str, float] = {
    "tx_bytes": 2e9,
    "rx_bytes": 2e9,
    "rdma_read_bytes": 1e9,
    "rdma_write_bytes": 1e9,
    "rdma_read_wr_err": 0,
    "rdma_write_wr_err": 0,
    "rx_drops": 0,
    "retrans_bytes": 1e3,
    "unresponsive_remote_events": 0,
}
"""Of each counter, a second and device."""


def efa_exporter(node: str, *, missing: Sequence[str] = (), **rates: float) -> list[Series]:
    """One node with two devices; `rates` are those of the first device, `missing` counters that its driver has not."""
    found = up("efa-exporter", node)
    for device in ("rdmap0", "rdmap16"):
        for counter, usual in EFA_RATES.items():
            labels = {"__name__": f"node_amazonefa_{counter}", **target("efa-exporter", node), "device": device, "port": "1"}
            if counter not in missing:
                found.append(steady(labels, 7, per_s=rates.get(counter, usual) if device == "rdmap0" else usual))
    return found


def lustre_exporter(*, free: float = 0.5, growth_per_s: float = 1e6, down_from_s: int | None = None) -> list[Series]:
    """The exporter on a core node; `free` is the share that is left at the end."""
    node, size = "core-1", 1200 * 2**30
    found = up("lustre-exporter", node, down_from_s=down_from_s)
    if down_from_s is not None:
        return found
    figures = {"size_bytes": (size, 0), "available_bytes": (size * free + growth_per_s * END_S, -growth_per_s)}
    for name, (value, per_s) in {**figures, "inodes": (1e8, 0), "free_inodes": (9e7, 0)}.items():
        labels = {"__name__": f"lustre_client_{name}", **target("lustre-exporter", node), "claim": "fsx-claim"}
        found.append(steady(labels, value, per_s=per_s))
    return found


@dataclass(frozen=True)
class Pod:
    """A pod that asks for all devices of a node."""

    name: str
    node: str = ""
    """Empty while it waits for one."""
    phase: str = "Running"
    age_s: int = 7200
    """At the end."""
    restarts_per_s: float = 0


JOB = tuple(Pod(f"bert-{number}", node) for number, node in enumerate(NODES))
HEALTHY = {"Ready": "true", "MemoryPressure": "false", "AcceleratedHardwareReady": "true", "NeuronHealth": "false"}
"""Conditions of a good node by their status. EKS's agent says that the hardware is ready, Neuron's problem detector that no error was seen."""


def kube_state_metrics(pods: Sequence[Pod] = JOB, **conditions: str) -> list[Series]:
    """Pods and nodes as the API server has them; `conditions` are those of the first node."""
    common = {"job": "kube-state-metrics", "instance": "10.0.0.9:8080"}
    found = list[Series]()
    for pod in pods:
        of = {**common, "namespace": "training", "pod": pod.name, "uid": f"uid-{pod.name}"}
        asked = {**of, "container": "worker", "node": pod.node, "resource": "aws_amazon_com_neuron", "unit": "integer"}
        found.append(steady({"__name__": "kube_pod_container_resource_requests", **asked}, 16))
        found.append(steady({"__name__": "kube_pod_created", **of}, START_S + END_S - pod.age_s))
        restarts = {"__name__": "kube_pod_container_status_restarts_total", **of, "container": "worker"}
        found.append(steady(restarts, 0, per_s=pod.restarts_per_s))
        for phase in ("Pending", "Running", "Succeeded", "Failed", "Unknown"):
            found.append(steady({"__name__": "kube_pod_status_phase", **of, "phase": phase}, float(phase == pod.phase)))
    for node in NODES:
        allocatable = {**common, "node": node, "resource": "aws_amazon_com_neuron", "unit": "integer"}
        found.append(steady({"__name__": "kube_node_status_allocatable", **allocatable}, 16))
        for condition, status in {**HEALTHY, **(conditions if node == NODES[0] else {})}.items():
            for value in ("true", "false", "unknown"):
                labels = {"__name__": "kube_node_status_condition", **common, "node": node, "condition": condition, "status": value}
                found.append(steady(labels, float(value == status)))
    return found


def volcano() -> list[Series]:
    """Scheduler and controller, with one queue that has all devices."""
    found = list[Series]()
    for name, value in (("allocated", 32_000), ("deserved", 16_000)):
        labels = {"__name__": f"volcano_queue_{name}_scalar_resources", "job": "volcano-scheduler-service", "queue_name": "training"}
        found.append(steady({**labels, "resource": "aws.amazon.com/neuron"}, value))
    wait = {"job_name": "bert", "queue": "training", "job_namespace": "training"}
    found.append(steady({"__name__": "volcano_e2e_job_scheduling_duration", "job": "volcano-scheduler-service", **wait}, 4200))
    for phase, count in (("running", 1), ("pending", 0), ("inqueue", 0)):
        labels = {"__name__": f"volcano_queue_pod_group_{phase}_count", "job": "volcano-controllers-service", "queue_name": "training"}
        found.append(steady(labels, count))
    return found


AT_WORK: Mapping[str, list[Series]] = {
    "neuron-monitor": [item for node in NODES for item in neuron_monitor(node)],
    "efa-exporter": [item for node in NODES for item in efa_exporter(node)],
    "lustre-exporter": lustre_exporter(),
    "kube-state-metrics": kube_state_metrics(),
    "volcano": volcano(),
}
"""By exporter; Volcano's two in one."""
_SECOND = {"neuron-monitor": neuron_monitor(NODES[1]), "efa-exporter": efa_exporter(NODES[1])}


@dataclass(frozen=True)
class Situation:
    """Series that differ from those of a cluster at work, and the alerts that fire: their names and the labels that their texts use."""

    changed: Mapping[str, list[Series]]
    fires: Sequence[tuple[str, Mapping[str, str]]] = ()

    @property
    def series(self) -> list[Series]:
        """All of them."""
        return [item for group in {**AT_WORK, **self.changed}.values() for item in group]


def on_first(series: list[Series], *, exporter: str = "neuron-monitor") -> Mapping[str, list[Series]]:
    """What the exporter says of the first node, with the second at work."""
    return {exporter: [*series, *_SECOND[exporter]]}


def pods(*changed: Pod) -> Mapping[str, list[Series]]:
    """These pods in place of the job, and no process anywhere."""
    idle = [item for node in NODES for item in neuron_monitor(node, busy=None)]
    return {"kube-state-metrics": kube_state_metrics(changed), "neuron-monitor": idle}


def _ends_in(error: str, *shown: tuple[float, float, float]) -> Mapping[str, list[Series]]:
    """The first node's counter of one kind of error as the exporter shows it; what else it says stays."""
    labels = neuron("execution_errors_total", NODES[0], error_type=error, runtime_tag=RUNTIME)
    return on_first([*without(neuron_monitor(NODES[0]), "execution_errors_total", error_type=error), seen(labels, NEURON_S, *shown)])


def _memory_errors(event: str) -> Mapping[str, list[Series]]:
    labels = neuron("hardware_ecc_events_total", NODES[0], event_type=event, neuron_device_index="5")
    usual = without(neuron_monitor(NODES[0]), "hardware_ecc_events_total", event_type=event, neuron_device_index="5")
    return on_first([*usual, seen(labels, NEURON_S, (0, 3602, 0), (3602, END_S + 1, 2))])


_NODE = {"node": NODES[0]}
_IDLE = "NeuronCoresIdle"
_EFA_1 = {"node": NODES[0], "device": "rdmap0"}
_CLAIM = {"namespace": "training", "claim": "fsx-claim"}
SITUATIONS: Mapping[str, Situation] = {
    "at work": Situation({}),
    # Idle cores
    "a job does next to nothing on one node": Situation(on_first(neuron_monitor(NODES[0], busy=0.01)), [(_IDLE, _NODE)]),
    "a job's process has not come up on one node": Situation(on_first(neuron_monitor(NODES[0], busy=None)), [(_IDLE, _NODE)]),
    "pods wait for a node": Situation(pods(Pod("bert-0", phase="Pending", age_s=1200))),
    "a pod waits for a node for long": Situation(
        pods(Pod("bert-0", phase="Pending", age_s=1900)), [("TrainingPodPending", {"namespace": "training", "pod": "bert-0"})]
    ),
    "pods have ended": Situation(pods(Pod("bert-0", NODES[0], phase="Succeeded"), Pod("bert-1", NODES[1], phase="Failed"))),
    "no job at all": Situation(pods()),
    "neuron-monitor is off": Situation({"neuron-monitor": []}),
    "neuron-monitor is down on one node": Situation(
        on_first(up("neuron-monitor", NODES[0], down_from_s=900)), [("NeuronMonitorDown", _NODE)]
    ),
    "neuron-monitor was made again": Situation(
        on_first([*without(neuron_monitor(NODES[0]), "up"), *up("neuron-monitor", NODES[0], down_from_s=4200)])
    ),
    # Errors
    "a hardware error ends a process": Situation(
        _ends_in("hardware", (0, 3602, 0), (3602, 3608, 1)), [("NeuronExecutionErrors", {**_NODE, "error_type": "hardware"})]
    ),
    "a process fails in its first period": Situation(
        _ends_in("runtime", (3602, 3608, 3)), [("NeuronExecutionErrors", {**_NODE, "error_type": "runtime"})]
    ),
    "a process has NaN again and again": Situation(
        _ends_in("numerical", (0, 4000, 2), (4000, 4300, 5), (4300, END_S + 1, 9)),
        [("NeuronExecutionErrors", {**_NODE, "error_type": "numerical"})],
    ),
    "Prometheus starts when a process has had an error": Situation(
        _ends_in("hardware", (0, END_S + 1, 2)), [("NeuronExecutionErrors", {**_NODE, "error_type": "hardware"})]
    ),
    "transient errors": Situation(_ends_in("transient", (0, 3600, 0), (3600, END_S + 1, 40))),
    "memory errors that were corrected": Situation(_memory_errors("mem_ecc_corrected")),
    "memory errors that were not corrected": Situation(
        _memory_errors("sram_ecc_uncorrected"), [("NeuronMemoryErrorUncorrected", {**_NODE, "neuron_device_index": "5"})]
    ),
    # Nodes
    "EKS's agent finds a broken device": Situation(
        {"kube-state-metrics": kube_state_metrics(AcceleratedHardwareReady="false")},
        [("NeuronDeviceBroken", {**_NODE, "condition": "AcceleratedHardwareReady"})],
    ),
    "Neuron's problem detector finds a broken device": Situation(
        {"kube-state-metrics": kube_state_metrics(NeuronHealth="true")}, [("NeuronDeviceBroken", {**_NODE, "condition": "NeuronHealth"})]
    ),
    "a node is not ready": Situation({"kube-state-metrics": kube_state_metrics(Ready="unknown")}, [("TrainingNodeNotReady", _NODE)]),
    "containers come back": Situation({"kube-state-metrics": kube_state_metrics([Pod("bert-0", NODES[0], restarts_per_s=0.01), JOB[1]])}),
    # EFA
    "an older EFA driver": Situation(on_first(efa_exporter(NODES[0], missing=["unresponsive_remote_events"]), exporter="efa-exporter")),
    "failed writes with an older EFA driver": Situation(
        on_first(efa_exporter(NODES[0], missing=["unresponsive_remote_events"], rdma_write_wr_err=0.1), exporter="efa-exporter"),
        [("EfaErrors", _EFA_1)],
    ),
    "failed reads": Situation(on_first(efa_exporter(NODES[0], rdma_read_wr_err=0.1), exporter="efa-exporter"), [("EfaErrors", _EFA_1)]),
    "peers do not respond": Situation(
        on_first(efa_exporter(NODES[0], unresponsive_remote_events=0.1), exporter="efa-exporter"), [("EfaErrors", _EFA_1)]
    ),
    "packets are sent again": Situation(on_first(efa_exporter(NODES[0], retrans_bytes=1e6, rx_drops=1), exporter="efa-exporter")),
    # File system
    "the file system is almost full": Situation({"lustre-exporter": lustre_exporter(free=0.05)}, [("LustreAlmostFull", _CLAIM)]),
    "the file system does not answer": Situation(
        {"lustre-exporter": lustre_exporter(down_from_s=3600)}, [("LustreDoesNotAnswer", {"namespace": "training"})]
    ),
    "the Lustre exporter is off": Situation({"lustre-exporter": []}),
}
