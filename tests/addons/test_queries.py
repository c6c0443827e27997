"""Every query of dashboards and alerts, run by Prometheus's own engine over what the exporters say in one situation after another.

The engine is that of the chart's Prometheus (3.14.0 is module v0.314.0), built from the Go module in prometheus_engine/.
"""

import json
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from addons.prometheus.component import alert_rules
from tests.addons.situations import END_S, SITUATIONS, START_S, USUAL_S
from tests.addons.test_dashboards import ALERTS, PANELS, QUERIES

pytestmark = pytest.mark.kubernetes

ENGINE = Path(__file__).parent / "prometheus_engine"
RATE_INTERVAL = f"{4 * USUAL_S}s"
"""What Grafana puts for `$__rate_interval` at its shortest: four scrapes."""
TARGETS = [(name, panel["title"], target) for name, panel in PANELS for target in panel["targets"]]
HAS_DATA_IN = {"Restarts": "containers come back"}
"""Panels that are empty, as they should be, while all is well."""


def as_asked(query: str) -> str:
    """A query as Grafana sends it."""
    return query.replace("$__rate_interval", RATE_INTERVAL)


@pytest.fixture(scope="session")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The engine's program, built here."""
    go = shutil.which("go")
    if go is None:
        pytest.skip("there is no Go to build Prometheus's engine with")
    made = tmp_path_factory.mktemp("prometheus") / "engine"
    built = subprocess.run([go, "build", "-o", str(made), "."], cwd=ENGINE, capture_output=True, text=True, check=False)
    if built.returncode and ("dial tcp" in built.stderr or "proxy" in built.stderr):
        pytest.skip(f"Prometheus's Go module cannot be had here: {built.stderr.strip().splitlines()[-1]}")
    assert built.returncode == 0, built.stderr
    return made


@pytest.fixture(scope="session")
def answers(engine: Path) -> Mapping[str, Any]:
    """What each query gives and which alerts fire, by situation."""
    asked = {
        "rules": yaml.safe_dump(alert_rules()),
        "queries": [as_asked(query) for query in QUERIES],
        "startS": START_S,
        # The operator's default.
        "evaluateEveryS": 30,
        "cases": [
            {"name": name, "series": [item.as_data() for item in situation.series], "endS": END_S} for name, situation in SITUATIONS.items()
        ],
    }
    done = subprocess.run([str(engine)], input=json.dumps(asked), capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return {answer["name"]: answer for answer in json.loads(done.stdout)}


def result(answers: Mapping[str, Any], situation: str, query: str) -> list[tuple[dict[str, str], float]]:
    """Labels and values at the end of a situation."""
    return [(sample["labels"], sample["value"]) for sample in answers[situation]["results"][QUERIES.index(query)]]


def panel_values(answers: Mapping[str, Any], situation: str, dashboard: str, title: str) -> list[dict[str, float]]:
    """What each target of a panel shows: values by their labels' values."""
    (panel,) = [panel for name, panel in PANELS if (name, panel["title"]) == (dashboard, title)]
    return [
        {" ".join(labels.values()): round(value, 6) for labels, value in result(answers, situation, target["expr"])}
        for target in panel["targets"]
    ]


@pytest.mark.parametrize(("dashboard", "title", "target"), TARGETS, ids=lambda item: item if isinstance(item, str) else item["refId"])
def test_every_panel_has_data(answers: Mapping[str, Any], dashboard: str, title: str, target: dict[str, Any]):
    """An empty panel looks like a quiet cluster; each line has a name for its legend."""
    found = result(answers, HAS_DATA_IN.get(title, "at work"), target["expr"])
    assert found
    wanted = set(target["legendFormat"].split("{{")[1:])
    assert all({word.partition("}}")[0] for word in wanted} <= labels.keys() for labels, _ in found)


@pytest.mark.parametrize("title", HAS_DATA_IN)
def test_a_panel_of_trouble_is_empty_without_any(answers: Mapping[str, Any], title: str):
    """Otherwise its data would mean nothing."""
    assert [result(answers, "at work", target["expr"]) for _, other, target in TARGETS if other == title] == [[]]


@pytest.mark.parametrize("situation", SITUATIONS)
def test_the_alerts_of_a_situation_fire_and_no_others(answers: Mapping[str, Any], situation: str):
    """With the labels that their texts name."""
    fired = {(item["alert"], tuple(sorted(item["labels"].items()))) for item in answers[situation]["fired"]}
    for name, labels in SITUATIONS[situation].fires:
        matching = {entry for entry in fired if entry[0] == name and labels.items() <= dict(entry[1]).items()}
        assert len(matching) == 1, f"{name} {labels} is not among {fired}"
        fired -= matching
    assert not fired


def test_an_alert_says_where(answers: Mapping[str, Any]):
    """A text with an empty label names no node and no job."""
    texts = [item["annotations"]["summary"] for answer in answers.values() for item in answer["fired"]]
    assert texts
    assert [text for text in texts if "<no value>" in text or "  " in text or text.startswith(" ") or " of :" in text] == []
    assert any(text == "node-1 reports a broken Neuron device (NeuronHealth): replace the node" for text in texts)


def test_an_alert_waits_as_long_as_it_says(answers: Mapping[str, Any]):
    """`for` counts from the moment at which the expression holds."""
    (idle,) = answers["a job does next to nothing on one node"]["fired"]
    assert 1800 <= idle["firedAfterS"] <= 1860
    (broken,) = answers["EKS's agent finds a broken device"]["fired"]
    assert broken["firedAfterS"] == 0
    assert {alert["alert"]: alert.get("for") for alert in ALERTS}["NeuronCoresIdle"] == "30m"


def test_devices_are_held_by_pods_that_run(answers: Mapping[str, Any]):
    """Held, waited for, and on nodes: of 32 devices."""
    shown = ("jobs", "Devices held, waited for and there")
    assert panel_values(answers, "at work", *shown) == [{"": 32}, {"": 0}, {"": 32}]
    assert panel_values(answers, "pods wait for a node", *shown) == [{"": 0}, {"": 16}, {"": 32}]
    assert panel_values(answers, "pods have ended", *shown) == [{"": 0}, {"": 0}, {"": 32}]


def test_rates_and_shares_are_right(answers: Mapping[str, Any]):
    """Two devices on each node, at 10^9 bytes a second each; a file system half full, that grows by 10^6 bytes a second."""
    read, written = panel_values(answers, "at work", "efa", "RDMA read and written")
    assert read == pytest.approx({"node-1": 16e9, "node-2": 16e9})
    assert written == pytest.approx(read)
    assert panel_values(answers, "at work", "storage", "Used share") == [{"fsx-claim training": 0.5}]
    (growth,) = panel_values(answers, "at work", "storage", "Growth in an hour")
    assert growth["fsx-claim training"] == pytest.approx(3.6e9, rel=1e-6)
    assert panel_values(answers, "at work", "jobs", "Queues: devices allocated and deserved") == [{"training": 32}, {"training": 16}]


def test_an_error_that_ends_a_process_is_on_the_dashboard(answers: Mapping[str, Any]):
    """One sample of it is all that there is."""
    (before,) = panel_values(answers, "at work", "neuron-cores", "Errors by kind")
    assert before["runtime"] == 0
    # 15 minutes later it is gone from a panel of 15 minutes: the end lies 898 s behind the only sample.
    (after,) = panel_values(answers, "a process fails in its first period", "neuron-cores", "Errors by kind")
    assert after["runtime"] == 3


def test_failures_are_counted_without_the_counters_of_newer_drivers(answers: Mapping[str, Any]):
    """The others still have a line for the node."""
    reads, writes, unresponsive, _ = panel_values(answers, "failed writes with an older EFA driver", "efa", "Failures")
    assert (reads["node-1"], round(writes["node-1"])) == (0, 60)
    assert unresponsive.keys() == {"node-2"}
