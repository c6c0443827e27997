"""`trn top`: what neuron-monitor says of each node, from either of its outputs, in one view."""

import io
import json
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console
from typer.testing import CliRunner

from addons import neuron_monitor
from addons.manifests import own_labels
from tests.support import ROOT
from tests.terminal import terminal
from tests.trn.given import Given
from tests.trn.kubernetes.healthy_cluster import Healthy
from trn.app import app
from trn.kubernetes.job_pods import PODS
from trn.kubernetes.kinds import NODES
from trn.running.top.readings import Reading, from_exporter, from_monitor
from trn.running.top.rows import EXPORTER_LABEL, EXPORTER_NAMESPACE, EXPORTER_PORT, MONITOR
from trn.running.top.view import LEVELS, NodePart, Row, bars, table

COMMON = 'instance_id="i-1",instance_type="trn1.32xlarge"'
GIB = 2**30


def series(cores: dict[int, float], used_bytes: int = 0, errors: int = 0, ecc: int = 0) -> str:
    """Text of the exporter, spelt as a scrape of a trn1n.32xlarge (OpenTelemetry collector, AWS's fork, Neuron scraper test)."""
    use = [f'neuroncore_utilization_ratio{{{COMMON},neuroncore="{core}",runtime_tag="367"}} {value}' for core, value in cores.items()]
    return "\n".join(
        [
            "# HELP neuroncore_utilization_ratio NeuronCore utilization ratio",
            "# TYPE neuroncore_utilization_ratio gauge",
            *use,
            "# TYPE neuron_runtime_memory_used_bytes gauge",
            f'neuron_runtime_memory_used_bytes{{{COMMON},memory_location="host",runtime_tag="367"}} 6.10705408e+08',
            f'neuron_runtime_memory_used_bytes{{{COMMON},memory_location="neuron_device",runtime_tag="367"}} {float(used_bytes)}',
            f'neuron_runtime_memory_used_bytes{{{COMMON},memory_location="neuron_device",runtime_tag="368"}} 1.0',
            "# TYPE execution_errors_total counter",
            f'execution_errors_total{{{COMMON},error_type="generic",runtime_tag="367"}} {float(errors)}',
            f'execution_errors_total{{{COMMON},error_type="hardware",runtime_tag="367"}} 1.0',
            f'execution_errors_created{{{COMMON},error_type="generic",runtime_tag="367"}} 1.7e+09',
            "# TYPE hardware_ecc_events_total counter",
            f'hardware_ecc_events_total{{{COMMON},event_type="mem_ecc_corrected",neuron_device_index="5"}} 9.0',
            f'hardware_ecc_events_total{{{COMMON},event_type="mem_ecc_uncorrected",neuron_device_index="5"}} {float(ecc)}',
            f'hardware_ecc_events_total{{{COMMON},event_type="sram_ecc_uncorrected",neuron_device_index="5"}} 1.0',
            "",
        ]
    )


def process(pid: int = 367, report: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """One process in neuron-monitor's JSON, with every group that its guide shows (aws-neuron-sdk neuron-monitor-user-guide.rst)."""
    groups = {
        "execution_stats": {
            "period": 5.030613214,
            "error_summary": {"generic": 2, "numerical": 0, "transient": 0, "model": 0, "runtime": 0, "hardware": 1},
            "execution_summary": {"completed": 123, "completed_with_err": 3, "completed_with_num_err": 0, "timed_out": 0},
            "latency_stats": {"total_latency": None, "device_latency": None},
            "error": "",
        },
        "memory_used": {
            "period": 5.00001,
            "neuron_runtime_used_bytes": {"host": 5, "neuron_device": 7, "usage_breakdown": {"host": {"tensors": 0}}},
            "loaded_models": None,
            "error": "",
        },
        "neuron_runtime_vcpu_usage": {"period": 5.03, "vcpu_usage": {"user": 42.01, "system": 12.34}, "error": ""},
        "neuroncore_counters": {
            "period": 5.000113182,
            "neuroncores_in_use": {"0": {"neuroncore_utilization": 42.5, "flops": 1}, "1": {"neuroncore_utilization": 0, "v3d": None}},
            "error": "",
        },
    }
    return {"pid": pid, "address": "", "neuron_runtime_tag": str(pid), "error": "", "report": {**groups, **(report or {})}}


def monitored(*processes: dict[str, Any], **system: Any) -> dict[str, Any]:
    """One line of neuron-monitor itself."""
    devices = [
        {"neuron_device_index": 0, "mem_ecc_corrected": 9, "mem_ecc_uncorrected": 3, "sram_ecc_uncorrected": 1, "sram_ecc_corrected": 0}
    ]
    return {
        "neuron_runtime_data": list(processes or [process()]),
        "system_data": {
            "memory_info": {"period": 5.3, "memory_total_bytes": 49345835008, "memory_used_bytes": 16042344448, "error": ""},
            "neuron_hw_counters": {"period": 5.0, "neuron_devices": devices, "error": ""},
            "vcpu_usage": {"period": 5.0, "average_usage": {"user": 32.77, "idle": 39.36}, "context_switch_count": 123456, "error": ""},
            **system,
        },
        "instance_info": {"instance_type": "trn1.32xlarge", "error": "no instance metadata"},
        "neuron_hardware_info": {"neuron_device_count": 16, "neuroncore_per_device_count": 2, "error": ""},
    }


def test_the_exporters_series_are_read():
    """Of all processes; stamps of creation and what the device fixed are left out."""
    assert from_exporter(series({0: 0.5, 31: 1.0}, 2 * GIB, errors=3, ecc=2)) == Reading({0: 0.5, 31: 1.0}, 2 * GIB + 1, 4, 3)


def test_a_node_without_a_process_has_no_cores():
    """neuron-monitor then gives no series of cores, and that is no fault."""
    assert from_exporter(f'neuron_hardware_info{{{COMMON},neuron_device_count="16"}} 1.0\n') == Reading({}, 0, 0, 0)
    assert from_monitor(json.dumps({"neuron_runtime_data": []})) == Reading({}, 0, 0, 0, error_span_s=0)
    nothing = {"neuron_runtime_data": None, "system_data": {"neuron_hw_counters": {"neuron_devices": None, "error": ""}}}
    assert from_monitor(json.dumps(nothing)) == Reading({}, 0, 0, 0, error_span_s=0)
    assert from_monitor(json.dumps({**nothing, "system_data": None})) == Reading({}, 0, 0, 0, error_span_s=0)


@pytest.mark.parametrize(("text", "says"), [("", "gave no series"), ("<html>no</html>", "invalid metric name")])
def test_what_is_no_exporter_is_no_reading(text: str, says: str):
    """A proxy that answers with a page of its own."""
    with pytest.raises(ValueError, match=says):
        from_exporter(text)


def test_neuron_monitors_own_json_means_the_same():
    """Percent becomes a share; errors are those of one period, which the exporter adds up."""
    assert from_monitor(json.dumps(monitored())) == Reading({0: 0.425, 1: 0}, 7, 3, 4, error_span_s=5.030613214)
    assert from_exporter(series({0: 0.5})).error_span_s is None


GROUPS = ("neuroncore_counters", "memory_used", "execution_stats", "neuron_runtime_vcpu_usage")


@pytest.mark.parametrize("group", GROUPS)
def test_a_section_that_is_null_costs_its_own_figures_only(group: str):
    """neuron-monitor writes null for a group that a process does not have at that moment."""
    whole = from_monitor(json.dumps(monitored()))
    found = from_monitor(json.dumps(monitored(process(report={group: None}))))
    assert found.cores == ({} if group == "neuroncore_counters" else whole.cores)
    assert found.device_bytes == (0 if group == "memory_used" else whole.device_bytes)
    assert found.error_count == (0 if group == "execution_stats" else whole.error_count)
    assert found.uncorrected_count == whole.uncorrected_count
    inner = {"period": 5.0, "neuroncores_in_use": None, "neuron_runtime_used_bytes": None, "error_summary": None, "error": ""}
    assert from_monitor(json.dumps(monitored(process(report={group: inner})))).uncorrected_count == whole.uncorrected_count


def test_one_failed_process_does_not_lose_the_node():
    """The others are shown, and the failed one is reported in neuron-monitor's words."""
    failed = {"pid": 9, "address": "", "neuron_runtime_tag": "llama", "error": "runtime is gone", "report": None}
    found = from_monitor(json.dumps(monitored(failed, process())))
    assert (found.cores, found.device_bytes, found.unread) == ({0: 0.425, 1: 0}, 7, ("process llama: runtime is gone",))
    silent = from_monitor(
        json.dumps(monitored({**failed, "error": "", "report": None}, process(2, {"memory_used": {"error": "no driver"}})))
    )
    assert silent.unread == ("process llama: no report", "process 2, memory_used: no driver")
    system = from_monitor(json.dumps(monitored(neuron_hw_counters={"neuron_devices": None, "error": "ioctl"})))
    assert (system.unread, system.uncorrected_count) == (("neuron_hw_counters: ioctl",), 0)
    assert "not read: process llama: runtime is gone" in shown(row(reading=found))
    assert getattr(row(reading=found).part.use, "unread", None) == ("process llama: runtime is gone",)


def row(**changes: Any) -> Row:
    """A node of four cores."""
    reading = Reading({0: 1.0, 1: 0.5}, 3 * GIB, 0, 0)
    return Row(
        **{
            "node": "n",
            "instance_type": "t",
            "pods": ("a/b",),
            "core_count": 4,
            "chip_count": 2,
            "device_memory_gib": 32,
            "reading": reading,
            **changes,
        }
    )


def shown(*rows: Row) -> str:
    """The table as text."""
    console = Console(file=io.StringIO(), width=200)
    console.print(table(rows))
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


def cells(line: str) -> list[str]:
    """What stands in the columns of one line."""
    return [part.strip() for part in line.split("  ") if part.strip()]


def test_a_row_says_what_is_in_use():
    """Cores that no pod holds count as idle."""
    lines = shown(row(node="ip-10-0-0-1.us-west-2.compute.internal")).splitlines()
    assert cells(lines[1]) == ["ip-10-0-0-1", "b", "2 of 4", "38%", "▆", "3 of 32 GiB", "none"]
    assert lines[2].strip() == "t"
    assert row().cores == (1.0, 0.5, 0.0, 0.0)
    assert "no pod" in shown(row(pods=()))


def test_errors_and_silence_are_reported():
    """With what to do."""
    assert "failed executions since the start: 2, uncorrected memory errors: 1, replace the node" in shown(
        row(reading=Reading({}, 0, 2, 1))
    )
    assert "failed executions in the last 5 s: 2" in shown(row(reading=Reading({}, 0, 2, 0, error_span_s=5.03)))
    assert "no answer: it is gone" in shown(row(reading=None, problem="it is gone"))
    assert row(reading=None, problem="gone").part == NodePart(node="n", instance_type="t", pods=("a/b",), problem="gone", use=None)


def test_every_chip_has_a_sign():
    """Two cores of Trainium, four or eight of Trainium2, in one."""
    assert bars((0.0, 0.01, 0.5, 1.0, 1.2), 5) == " ▁▄██"
    assert bars([1.0, 0.0] * 64, 16) == "▄" * 16
    assert bars([1.0, 1.0, 0.0, 0.0], 2) == "█ "
    assert len(LEVELS) == 9


# The command


@pytest.fixture
def healthy(monkeypatch: pytest.MonkeyPatch, given: Given) -> Healthy:
    """The shipped stack, up, with its exporter and two jobs, one on each node."""
    monkeypatch.chdir(ROOT)
    made = Healthy()
    given.api = made.cloud.api
    given.cluster = made.cluster
    for number, job in ((1, "bert"), (2, "llama")):
        named = {"metadata": {"labels": own_labels(neuron_monitor.NAME)}, "spec": {"nodeName": f"node-{number}", "containers": [{}]}}
        made.cluster.put(PODS, f"monitor-{number}", neuron_monitor.NAME, **named)
        path = f"/api/v1/namespaces/{neuron_monitor.NAME}/pods/monitor-{number}:{neuron_monitor.PORT}/proxy/metrics"
        made.cluster.texts[path] = series(dict.fromkeys(range(32), number / 4), number * 64 * GIB)
        containers = [{"resources": {"limits": {"aws.amazon.com/neuron": "16"}}}]
        spec = {"nodeName": f"node-{number}", "containers": containers}
        made.cluster.put(PODS, f"{job}-0", metadata={"labels": {"volcano.sh/job-name": job}}, spec=spec, status={"phase": "Running"})
    made.cluster.put(PODS, "bert-9", metadata={"labels": {"volcano.sh/job-name": "bert"}}, spec=spec, status={"phase": "Succeeded"})
    made.cluster.put(PODS, "waits-0", spec={"containers": containers}, status={"phase": "Pending"})
    return made


def trn(*arguments: str) -> tuple[int, str, str]:
    """Exit code, standard output, standard error."""
    result = CliRunner().invoke(app, ["top", *arguments], catch_exceptions=False)
    return result.exit_code, result.stdout, result.stderr


def test_all_nodes_are_in_one_view(healthy: Healthy):
    """With the pods that hold their devices."""
    code, out, _ = trn("dev")
    assert code == 0
    assert [cells(line)[:6] for line in out.splitlines()[1::2]] == [
        ["node-1", "bert-0", "32 of 32", "25%", "▂" * 16, "64 of 512 GiB"],
        ["node-2", "llama-0", "32 of 32", "50%", "▄" * 16, "128 of 512 GiB"],
    ]
    assert out.count("failed executions since the start: 1, uncorrected memory errors: 1, replace the node") == 2


def test_a_jobs_nodes_are_its_own(healthy: Healthy):
    """And JSON has every core."""
    code, out, _ = trn("dev", "llama", "--json", "-")
    (node,) = json.loads(out)["nodes"]
    use = node["use"]
    assert code == 0
    assert (node["node"], node["pods"], use["utilizationShare"], use["coresInUse"], use["coreCount"]) == (
        "node-2",
        ["training/llama-0"],
        0.5,
        32,
        32,
    )
    assert (use["deviceMemoryBytes"], use["deviceMemoryTotalBytes"]) == (128 * GIB + 1, 512 * GIB)
    assert (use["executionErrors"], use["uncorrectedMemoryErrors"], use["coreShares"]) == (1, 1, [0.5] * 32)
    assert (use["executionErrorsSeconds"], use["unread"]) == (None, [])


@pytest.mark.parametrize("arguments", [("llam",), ("bert", "--namespace", "other")])
def test_a_job_that_is_not_there_is_misuse(healthy: Healthy, arguments: tuple[str, ...]):
    """With the jobs that are."""
    code, _, err = trn("dev", *arguments)
    assert (code, "holds Neuron devices in" in err, "jobs with pods there:" in err) == (2, True, True)


def test_a_node_that_gives_no_answer_is_reported_beside_the_others(healthy: Healthy):
    """And is exit code 1."""
    path = next(path for path in healthy.cluster.texts if "monitor-1" in path)
    healthy.cluster.texts[path] = "<html>"
    code, out, _ = trn("dev", "--once")
    assert (code, "node-1" in out, "no answer: the answer makes no sense" in out, "50%" in out) == (1, True, True, True)
    del healthy.cluster.texts[path]
    assert "no answer: monitor-1 is gone" in trn("dev")[1]
    healthy.cluster.objects[PODS] = [pod for pod in healthy.cluster.objects[PODS] if pod["metadata"]["name"] != "monitor-1"]
    assert "no answer: no exporter runs there" in trn("dev")[1]


def test_the_view_goes_on_until_ctrl_c(healthy: Healthy, monkeypatch: pytest.MonkeyPatch):
    """Which is the way to end it, and no failure."""
    naps = list[float]()

    def nap(seconds: float) -> None:
        naps.append(seconds)
        healthy.cluster.texts.update({path: series({0: 1.0}) for path in healthy.cluster.texts})
        if len(naps) == 3:
            raise KeyboardInterrupt

    screen = io.StringIO()
    monkeypatch.setattr("trn.cli.output.results", lambda json_file: Console(file=screen, force_terminal=True, width=200))
    monkeypatch.setattr("time.sleep", nap)
    assert trn("dev", "--every", "2")[0] == 0
    assert naps == [2, 2, 2]
    assert "32 of 32" in screen.getvalue()
    assert "1 of 32" in screen.getvalue()


def test_a_view_that_cannot_be_redrawn_is_shown_once(healthy: Healthy, monkeypatch: pytest.MonkeyPatch):
    """`trn top` would show an empty screen until Ctrl-C."""
    with terminal("dumb"):
        console = Console(file=io.StringIO(), force_terminal=True, width=200)
        monkeypatch.setattr("trn.cli.output.results", lambda json_file: console)
        assert trn("dev")[0] == 0
    assert isinstance(console.file, io.StringIO)
    assert "trn1.32xlarge" in console.file.getvalue()


def test_no_node_is_no_failure(healthy: Healthy):
    """The night."""
    healthy.cluster.objects[NODES].clear()
    code, out, _ = trn("dev", "--json", "-")
    assert (code, json.loads(out)["nodes"]) == (0, [])
    assert trn("dev")[1] == "no Neuron node is up\n"


# Without the exporter


@pytest.fixture
def without_exporter(healthy: Healthy, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Healthy:
    """The add-on is off; kubectl and the AWS CLI are there."""
    healthy.cluster.objects[PODS] = [pod for pod in healthy.cluster.objects[PODS] if not pod["metadata"]["name"].startswith("monitor")]
    monkeypatch.setattr("shutil.which", lambda name: name)
    return healthy


def test_a_jobs_own_pods_are_asked(without_exporter: Healthy, monkeypatch: pytest.MonkeyPatch):
    """One on each node, by kubectl with a kubeconfig of its own."""
    calls = list[list[str]]()

    def answered(arguments: list[str], **more: Any) -> Any:
        calls.append(arguments)
        return subprocess.CompletedProcess(arguments, 0, json.dumps(monitored()) + "\n", "")

    monkeypatch.setattr("subprocess.run", answered)
    code, out, _ = trn("dev", "bert", "--json", "-")
    assert (code, json.loads(out)["nodes"][0]["use"]["coreShares"][:2]) == (0, [0.425, 0])
    assert [call[3:7] for call in calls] == [["--namespace", "training", "exec", "bert-0"]]
    assert calls[0][7:] == ["--", *MONITOR]


@pytest.mark.parametrize(
    ("answer", "says"),
    [
        (
            subprocess.CompletedProcess([], 0, "", "sh: neuron-monitor: not found"),
            "neuron-monitor does not run in bert-0: sh: neuron-monitor: not found",
        ),
        (subprocess.CompletedProcess([], 1, "x", ""), "neuron-monitor does not run in bert-0: it said nothing"),
        (subprocess.CompletedProcess([], 0, "[]", ""), "the answer makes no sense"),
        (subprocess.CompletedProcess([], 0, '{"neuron_runtime_data": [7]}', ""), "the answer makes no sense"),
        (subprocess.TimeoutExpired([], 60), "bert-0 does not answer within 60 s"),
    ],
)
def test_a_pod_that_cannot_say_is_reported(without_exporter: Healthy, monkeypatch: pytest.MonkeyPatch, answer: Any, says: str):
    """An image without Neuron's tools."""

    def answered(*arguments: Any, **more: Any) -> Any:
        if isinstance(answer, Exception):
            raise answer
        return answer

    monkeypatch.setattr("subprocess.run", answered)
    code, out, _ = trn("dev", "bert")
    assert (code, says in out) == (1, True)


def test_without_a_job_there_is_no_exporter_to_ask(without_exporter: Healthy, monkeypatch: pytest.MonkeyPatch):
    """With the key that installs the exporter."""
    code, _, err = trn("dev")
    assert (code, "addons.neuronMonitor.enabled: true" in err) == (1, True)
    monkeypatch.setattr("shutil.which", lambda name: None)
    assert "kubectl is not on PATH" in trn("dev", "bert")[2]


def test_the_exporter_is_looked_for_where_the_add_on_puts_it():
    """Two places that must say the same."""
    assert (EXPORTER_NAMESPACE, EXPORTER_PORT) == (neuron_monitor.NAME, neuron_monitor.PORT)
    key, _, value = EXPORTER_LABEL.partition("=")
    assert own_labels(neuron_monitor.NAME)[key] == value
