"""What neuron-monitor says of one node, from either of its outputs: its exporter's text, or its own JSON."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

CORE_USE = "neuroncore_utilization_ratio"
MEMORY = "neuron_runtime_memory_used_bytes"
ERRORS = "execution_errors_total"
ECC = "hardware_ecc_events_total"
UNCORRECTED = ("mem_ecc_uncorrected", "sram_ecc_uncorrected")
"""What a device cannot fix itself: replace the node."""


@dataclass(frozen=True)
class Reading:
    """One node at one moment. Where no process uses Neuron there are no cores in it: neuron-monitor then has no such series."""

    cores: Mapping[int, float]
    """Busy share of each logical core that a process holds, 0 to 1."""
    device_bytes: int
    """Device memory in use."""
    error_count: int
    """Executions that failed: since the processes began, or in the last `error_span_s` seconds."""
    uncorrected_count: int
    """Memory errors of the devices that could not be corrected."""
    error_span_s: float | None = None
    """Seconds that `error_count` covers; None for all since the processes began. The exporter adds up, neuron-monitor's JSON does not."""
    unread: tuple[str, ...] = ()
    """Processes and groups of metrics that neuron-monitor could not read, in its words; the figures lack them."""


def from_exporter(text: str) -> Reading:
    """Of Prometheus' text format. Raises ValueError for anything else."""
    from prometheus_client.parser import text_string_to_metric_families

    samples = [sample for family in text_string_to_metric_families(text) for sample in family.samples]

    def named(name: str) -> Iterator[tuple[Mapping[str, str], float]]:
        return ((sample.labels, sample.value) for sample in samples if sample.name == name)

    if not samples:
        raise ValueError("the exporter gave no series")
    return Reading(
        {int(labels["neuroncore"]): value for labels, value in named(CORE_USE)},
        round(sum(value for labels, value in named(MEMORY) if labels["memory_location"] == "neuron_device")),
        round(sum(value for _, value in named(ERRORS))),
        round(sum(value for labels, value in named(ECC) if labels["event_type"] in UNCORRECTED)),
    )


def from_monitor(text: str) -> Reading:
    """Of one line of `neuron-monitor` (its user guide, aws-neuron-sdk v2.32). Raises ValueError, KeyError, TypeError for anything else.

    Any section may be null or carry an `error`: of a process that ends, of a group that could not be read. The rest still counts.
    """
    found: dict[str, Any] = json.loads(text)
    processes = [_map(entry) for entry in found["neuron_runtime_data"] or ()]
    reports = [_map(entry.get("report")) for entry in processes]
    cores = [item for report in reports for item in _map(_map(report.get("neuroncore_counters")).get("neuroncores_in_use")).items()]
    hardware = _map(_map(found.get("system_data")).get("neuron_hw_counters"))
    executions = [_map(report.get("execution_stats")) for report in reports]
    used = [_map(_map(report.get("memory_used")).get("neuron_runtime_used_bytes")) for report in reports]
    return Reading(
        # Percent here, a share in the exporter's series.
        {int(core): (_map(entry).get("neuroncore_utilization") or 0) / 100 for core, entry in cores},
        sum(entry.get("neuron_device") or 0 for entry in used),
        sum(count or 0 for entry in executions for count in _map(entry.get("error_summary")).values()),
        sum(_map(device).get(name) or 0 for device in hardware.get("neuron_devices") or () for name in UNCORRECTED),
        error_span_s=max((entry.get("period") or 0 for entry in executions), default=0),
        unread=(*(text for entry in processes for text in _unread(entry)), *_errors("neuron_hw_counters", hardware)),
    )


def _map(section: Any) -> Mapping[str, Any]:
    """A section; nothing where it is null."""
    if section is None:
        return {}
    if not isinstance(section, Mapping):
        raise ValueError(f"a section is {section!r}")
    return section


def _unread(process: Mapping[str, Any]) -> Iterator[str]:
    name = f"process {process.get('neuron_runtime_tag') or process.get('pid') or 'without a name'}"
    yield from _errors(name, process)
    if process.get("report") is None and not process.get("error"):
        yield f"{name}: no report"
    for group, section in _map(process.get("report")).items():
        yield from _errors(f"{name}, {group}", _map(section))


def _errors(name: str, section: Mapping[str, Any]) -> Iterator[str]:
    if section.get("error"):
        yield f"{name}: {section['error']}"
