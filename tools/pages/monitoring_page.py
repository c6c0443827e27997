"""Makes docs/monitoring.md: what is exported, shown and alerted, from the files that the cluster gets."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).parent.parent.parent
DASHBOARDS = ROOT / "addons/grafana/dashboards"
_BEFORE = """# Monitoring

What watches a cluster, from where its figures come, and what they cannot show. The tables are made from the files that the cluster gets, by
`make docs`. Tests run every query below in Prometheus's own engine, over made-up scrapes of a cluster at work and of what can go wrong; no figure
was scraped from a cluster on AWS.

Dashboards are in Grafana (`addons.grafana`), alerts in Prometheus (`addons.prometheus`) and, with `addons.prometheus.alertmanager`, in
Alertmanager. Which receiver an alert reaches is yours to configure there.
"""
_AFTER = """
## What to know

- **Cores.** neuron-monitor has series of a core only while a process holds it. `NeuronCoresIdle` therefore asks for nodes on which a pod runs
  that holds devices, and on which neuron-monitor answers.
- **Errors.** The exporter drops the series of a process as soon as it is gone, and with them the error that ended it. It is scraped each 5
  seconds, its own period; a counter that is new counts from zero. What a broken device leaves behind is a node condition:
  `AcceleratedHardwareReady` by `addons.nodeMonitoring`, `NeuronHealth` by `addons.neuron.nodeProblemDetector`. Switch one of them on.
- **Nodes, not instances.** Pods do not reach the instance metadata (hop limit 1), so `instance_id` and its like are empty. Prometheus adds `node`.
- **File system.** The FSx driver gives kubelet no figures of its volumes, so `kubelet_volume_stats_*` has none of Lustre.
  `addons.lustreExporter` asks from one pod that mounts the claim; when the file system does not answer, its target is down. Throughput and
  the load of servers and targets are in CloudWatch only: namespace AWS/FSx, `DataReadBytes`, `DataWriteBytes`, `DiskIopsUtilization`.
- **DRA.** neuron-monitor does not work where devices are handed out by DRA (Neuron documentation); the two are refused together.
- **One reader.** EKS's CloudWatch add-on brings a neuron-monitor of its own; it is switched off unless `addons.cloudWatch.neuronMetrics` is on,
  which is refused beside `addons.neuronMonitor`.
- **Managed Prometheus.** EKS gives a pod its credentials as the pod is made. The pods of Prometheus and Grafana carry the id of their Pod Identity
  association, so that switching `addons.managedPrometheus` on makes them again. AWS bills the workspace by samples; those of neuron-monitor
  come six times as often as the others.
- **Failed executions in `trn top`** are those since the processes began where the exporter is asked, and those of one period of 5 seconds where
  neuron-monitor itself is.
"""


def page() -> str:
    """The whole page."""
    return "\n".join([_BEFORE.rstrip(), "", *_exporters(), "", *_dashboards(), "", *_alerts(), _AFTER.rstrip()]) + "\n"


def exporters() -> dict[str, dict[str, Any]]:
    """By name, as metrics.yaml has them."""
    return yaml.safe_load((DASHBOARDS / "metrics.yaml").read_text())


def _exporters() -> Iterator[str]:
    yield from ("## Exporters", "", "| exporter | switch | metrics used here |", "| --- | --- | --- |")
    for name, exporter in exporters().items():
        yield f"| {name} | `addons.{exporter['addon']}` | {', '.join(f'`{metric}`' for metric in exporter['metrics'])} |"


def _dashboards() -> Iterator[str]:
    owner = {metric: exporter["addon"] for exporter in exporters().values() for metric in exporter["metrics"]}
    yield from ("## Dashboards", "", "| dashboard | panel | needs | what it shows |", "| --- | --- | --- | --- |")
    for path in sorted(DASHBOARDS.glob("*.json")):
        model = json.loads(path.read_text())
        for panel in model["panels"]:
            words = {word for target in panel["targets"] for word in re.findall(r"\w+", target["expr"])}
            needs = sorted({owner[word] for word in words if word in owner})
            switches = ", ".join(f"`{key}`" for key in needs)
            yield f"| {model['title']} | {panel['title']} | {switches} | {panel['description']} |"


def _alerts() -> Iterator[str]:
    yield from ("## Alerts", "", "| alert | severity | after | text |", "| --- | --- | --- | --- |")
    for group in yaml.safe_load((ROOT / "addons/prometheus/alerts.yaml").read_text())["groups"]:
        for rule in group["rules"]:
            text = re.sub(r"\{\{ \$labels\.(\w+) \}\}", lambda found: found[1].upper(), rule["annotations"]["summary"])
            yield f"| {rule['alert']} | {rule['labels']['severity']} | {rule.get('for', 'at once')} | {text} |"
