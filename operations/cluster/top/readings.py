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
    """Executions that failed since the processes began."""
    uncorrected_count: int
    """Memory errors of the devices that could not be corrected."""


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
    """Of one line of `neuron-monitor` (its user guide, aws-neuron-sdk v2.32). Raises ValueError, KeyError for anything else."""
    found: dict[str, Any] = json.loads(text)
    reports = [entry["report"] for entry in found["neuron_runtime_data"]]
    cores = [item for report in reports for item in report["neuroncore_counters"]["neuroncores_in_use"].items()]
    devices = found.get("system_data", {}).get("neuron_hw_counters", {}).get("neuron_devices") or []
    return Reading(
        # Percent here, a share in the exporter's series.
        {int(core): entry["neuroncore_utilization"] / 100 for core, entry in cores},
        sum(report["memory_used"]["neuron_runtime_used_bytes"]["neuron_device"] for report in reports),
        sum(sum(report["execution_stats"]["error_summary"].values()) for report in reports),
        sum(device.get(name, 0) for device in devices for name in UNCORRECTED),
    )
