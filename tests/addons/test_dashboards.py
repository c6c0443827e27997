"""Dashboards and alerts: sound models, and metric names that somebody has read."""

import json
import re
from typing import Any

import pytest
import yaml

from addons.grafana import GrafanaSettings
from addons.grafana.values import DASHBOARDS, MANAGED, MANAGED_PLUGIN, dashboards, grafana_values, managed_dashboards
from addons.lustre_exporter.component import lustre_exporter_spec
from addons.manifests import POD_IDENTITY_ANNOTATION
from addons.prometheus import NAMESPACE, SCRAPE_INTERVAL
from addons.prometheus.component import alert_rules
from addons.prometheus.values import POD_MONITORS, SERVICE_MONITORS, prometheus_values
from addons.registry import SWITCHED
from simulator.engine.change import rehearse_change
from simulator.recording import Recording
from tests.addons.cases import cluster
from tests.stacks.order_laws import RELEASE
from tests.support import dev_configuration, merged, record_stack

EXPORTERS: dict[str, Any] = yaml.safe_load((DASHBOARDS / "metrics.yaml").read_text())
METRICS: dict[str, list[str]] = {name: labels for exporter in EXPORTERS.values() for name, labels in exporter["metrics"].items()}
TARGET_LABELS = {"node", "namespace", "pod", "container", "instance", "job"}
"""What Prometheus itself puts on each series of a monitor of ours."""
MODELS: dict[str, Any] = {name: json.loads(text) for name, text in dashboards().items()}
PANELS = [(name, panel) for name, model in MODELS.items() for panel in model["panels"]]
ALERTS = [rule for group in alert_rules()["groups"] for rule in group["rules"]]
QUERIES = [target["expr"] for _, panel in PANELS for target in panel["targets"]] + [rule["expr"] for rule in ALERTS]
WORDS = {
    "by",
    "on",
    "and",
    "unless",
    "last_over_time",
    "vector",
    "group_left",
    "sum",
    "avg",
    "max",
    "min",
    "count",
    "rate",
    "increase",
    "deriv",
    "time",
    "ignoring",
    "or",
    "bool",
}
"""Words of PromQL that the queries use."""
UNITS = {"percentunit", "short", "ops", "s", "ms", "bytes", "bps"}


def metric_names(query: str) -> set[str]:
    """Names of metrics in a query: every word that is neither PromQL's, nor a label, nor within braces."""
    bare = re.sub(r"\{[^}]*\}", "", query)
    bare = re.sub(r"\b(by|on|ignoring|group_left)\s*\([^)]*\)", "", bare)
    bare = re.sub(r"\[[^\]]*\](\s+offset\s+\w+)?", "", bare)
    return {word for word in re.findall(r"[a-zA-Z_][a-zA-Z0-9_]*", bare) if word not in WORDS}


@pytest.mark.parametrize("query", QUERIES)
def test_every_metric_of_a_query_is_one_of_a_declared_exporter(query: str):
    """A panel over a metric that is not exported is empty, and an alert over it never fires."""
    names = metric_names(query)
    assert names
    assert names <= METRICS.keys()


def test_every_listed_metric_is_used_and_has_an_exporter():
    """The list says what the dashboards rest on, no more; each exporter is an add-on, scraped by a monitor of its name."""
    assert {name for query in QUERIES for name in metric_names(query)} == METRICS.keys()
    assert sum(len(exporter["metrics"]) for exporter in EXPORTERS.values()) == len(METRICS), "a metric has one exporter"
    for name, exporter in EXPORTERS.items():
        assert exporter["addon"] in SWITCHED
        assert exporter["source"]
        own = name in POD_MONITORS or name in SERVICE_MONITORS
        assert own == (name not in ("kube-state-metrics", "prometheus"))
        if name in POD_MONITORS:
            # The operator calls the targets of a PodMonitor by its namespace and name.
            assert exporter["job"] == f"{NAMESPACE}/{name}"


def label_uses(query: str) -> set[str]:
    """Labels that a query selects, groups or joins by."""
    selected = [word for braces in re.findall(r"\{([^}]*)\}", query) for word in re.findall(r"([a-z_]+)\s*(?:=~|!=|!~|=)", braces)]
    grouped = [word for words in re.findall(r"\b(?:by|on)\s*\(([^)]*)\)", query) for word in re.findall(r"[a-z_]+", words)]
    return {*selected, *grouped}


@pytest.mark.parametrize("query", QUERIES)
def test_every_label_of_a_query_is_one_that_a_metric_of_it_has(query: str):
    """Grouped by a label that no series has, all of them are one line without a name."""
    known = TARGET_LABELS.union(*(METRICS[name] for name in metric_names(query)))
    assert label_uses(query) <= known
    assert "instance_id" not in label_uses(query), "the exporter cannot ask the instance metadata from a pod"


@pytest.mark.parametrize("query", QUERIES)
def test_a_job_that_a_query_names_is_one_of_an_exporter(query: str):
    """`up` of a job that is not scraped is never 1."""
    named = set(re.findall(r'job="([^"]*)"', query))
    assert named <= {exporter["job"] for exporter in EXPORTERS.values()}
    assert named or "up" not in metric_names(query)


@pytest.mark.parametrize(("name", "panel"), PANELS, ids=lambda item: item["title"] if isinstance(item, dict) else item)
def test_a_rate_follows_the_interval_of_the_panel(name: str, panel: dict[str, Any]):
    """A range of one minute holds one or two samples of a scrape each 30 s: gaps, and peaks that are not there."""
    ranges = [found for target in panel["targets"] for found in re.findall(r"\brate\([^\[]*\[([^\]]*)\]", target["expr"])]
    assert set(ranges) <= {"$__rate_interval"}


def test_grafana_knows_how_often_prometheus_scrapes():
    """`$__rate_interval` is four times the data source's interval, 15 s unless it is set."""
    values = prometheus_values(cluster())
    assert values["prometheus"]["prometheusSpec"]["scrapeInterval"] == SCRAPE_INTERVAL
    (source,) = grafana_values(GrafanaSettings())["datasources"]["datasources.yaml"]["datasources"]
    assert source["jsonData"]["timeInterval"] == SCRAPE_INTERVAL


def test_neuron_monitor_is_scraped_as_often_as_it_reports():
    """The series of a process are gone one period after it, and with them the error that ended it."""
    (endpoint,) = POD_MONITORS["neuron-monitor"]["podMetricsEndpoints"]
    assert (endpoint["interval"], endpoint["scrapeTimeout"]) == ("5s", "5s")


def test_the_lustre_exporter_is_looked_for_in_every_namespace():
    """It lives where the claim is, in a namespace that the configuration names."""
    assert POD_MONITORS["lustre-exporter"]["namespaceSelector"] == {"any": True}
    assert (
        POD_MONITORS["lustre-exporter"]["selector"]["matchLabels"].items()
        <= lustre_exporter_spec("i", "c")["selector"]["matchLabels"].items()
    )


@pytest.mark.parametrize(
    ("query", "names"),
    [
        ('sum by (node) (rate(x_total{a="b",c=~"d|e"}[5m])) / 1000', {"x_total"}),
        ("(time() - max by (namespace, pod) (made)) and on (pod) (there == 1)", {"made", "there"}),
        ("avg(a * on(node) group_left(job) b)", {"a", "b"}),
        ("(last_over_time(a[15m]) unless last_over_time(a[15m] offset 15m)) or vector(0)", {"a"}),
    ],
)
def test_names_are_reported_from_words_and_labels(query: str, names: set[str]):
    """The check above is only as good as this."""
    assert metric_names(query) == names


@pytest.mark.parametrize("name", MODELS)
def test_a_dashboard_is_a_model_that_grafana_loads(name: str):
    """What Grafana cannot read it leaves out, with a line in a log."""
    model = MODELS[name]
    assert model["uid"] == name
    assert model["title"]
    assert isinstance(model["schemaVersion"], int)
    ids = [panel["id"] for panel in model["panels"]]
    assert len(set(ids)) == len(ids) > 0


@pytest.mark.parametrize(("name", "panel"), PANELS, ids=lambda item: item["title"] if isinstance(item, dict) else item)
def test_a_panel_says_what_it_shows_and_where_from(name: str, panel: dict[str, Any]):
    """Its data source is the one that the values make; its place is on the grid."""
    assert panel["datasource"] == {"type": "prometheus", "uid": "prometheus"}
    assert panel["description"].endswith(".")
    assert panel["fieldConfig"]["defaults"]["unit"] in UNITS
    place = panel["gridPos"]
    assert place["x"] + place["w"] <= 24
    others = [other["gridPos"] for owner, other in PANELS if owner == name and other is not panel]
    assert all(other["x"] != place["x"] or other["y"] != place["y"] for other in others)


@pytest.mark.parametrize("expression", QUERIES)
def test_brackets_close(expression: str):
    """The operator refuses a rule that does not parse; Grafana shows an error in the panel."""
    for opening, closing in ("()", "[]", "{}"):
        assert expression.count(opening) == expression.count(closing)


@pytest.mark.parametrize("alert", ALERTS, ids=lambda alert: alert["alert"])
def test_an_alert_says_what_is_wrong_and_how_bad(alert: dict[str, Any]):
    """The first line of an alert must be enough."""
    assert alert["labels"]["severity"] in ("warning", "critical")
    labels = set(re.findall(r"\$labels\.([a-z_]+)", alert["annotations"]["summary"]))
    assert labels
    grouped = re.findall(r"\bby\s*\(([^)]*)\)", alert["expr"].split("and on", 1)[0])
    if grouped:
        assert labels <= {word.strip() for word in grouped[0].split(",")}, "a label that the expression drops is empty in the message"


def test_the_alerts_that_were_asked_for_are_there():
    """Core idle, EFA errors, node not ready, Lustre full."""
    asked = {"NeuronCoresIdle", "EfaErrors", "TrainingNodeNotReady", "LustreAlmostFull", "NeuronDeviceBroken", "NeuronExecutionErrors"}
    assert asked <= {alert["alert"] for alert in ALERTS}


def test_grafanas_password_stands_nowhere():
    """State, outputs and Helm's values are read by more people than Grafana is."""
    recording = record_stack(merged(dev_configuration(), addons={"grafana": {"adminSecret": None}}))
    (release,) = [item for item in recording.of_type(RELEASE) if item.inputs["name"] == "grafana"]
    assert "adminPassword" not in release.inputs["values"]
    assert "admin" not in release.inputs["values"]
    assert [item.name for item in recording if item.type.endswith(":Secret")] == []
    named = record_stack(merged(dev_configuration(), addons={"grafana": {"adminSecret": "mine"}}))
    assert "grafanaPassword" not in named.stack_outputs


def test_the_exporters_series_get_the_name_of_their_node():
    """The Neuron exporter knows instances only; jobs and nodes could not be joined."""
    relabeling = {"sourceLabels": ["__meta_kubernetes_pod_node_name"], "targetLabel": "node"}
    assert POD_MONITORS["neuron-monitor"]["podMetricsEndpoints"][0]["relabelings"] == [relabeling]
    assert SERVICE_MONITORS["karpenter"]["endpoints"][0]["relabelings"] == [relabeling]


WATCHED = {"prometheus": {"enabled": True}, "grafana": {"enabled": True}}


def watched(*, managed: bool, mirror: str | None = None) -> Recording:
    """The shipped stack with Grafana, with and without Amazon Managed Prometheus."""
    return record_stack(merged(dev_configuration(), addons={**WATCHED, "managedPrometheus": {"enabled": managed}, "mirror": mirror}))


def sources(recording: Recording) -> dict[str, Any]:
    """Grafana's data sources by uid."""
    (release,) = [item for item in recording.of_type(RELEASE) if item.inputs["name"] == "grafana"]
    return {source["uid"]: source for source in release.inputs["values"]["datasources"]["datasources.yaml"]["datasources"]}


def test_grafana_reads_the_workspace_with_a_right_to_it_alone():
    """Signed by Pod Identity: no key stands in values or state, and nothing can be written."""
    recording = watched(managed=True)
    source = sources(recording)[MANAGED]
    assert source["type"] == MANAGED_PLUGIN
    assert source["url"].startswith("https://aps-workspaces.us-west-2.amazonaws.com/workspaces/ws-")
    signed = {"httpMethod": "POST", "sigV4Auth": True, "sigV4AuthType": "default", "sigV4Region": "us-west-2"}
    assert source["jsonData"] == {**signed, "timeInterval": SCRAPE_INTERVAL}
    assert "secureJsonData" not in source
    (association,) = [
        item for item in recording.of_type("aws:eks/podIdentityAssociation:PodIdentityAssociation") if item.name == "grafana-identity"
    ]
    assert (association.inputs["namespace"], association.inputs["serviceAccount"]) == ("monitoring", "grafana")
    (policy,) = [item for item in recording.of_type("aws:iam/rolePolicy:RolePolicy") if item.inputs["name"] == "grafana"]
    (statement,) = json.loads(policy.inputs["policy"])["Statement"]
    assert statement["Action"] == ["aps:GetLabels", "aps:GetMetricMetadata", "aps:GetSeries", "aps:QueryMetrics"]
    (workspace,) = recording.of_type("aws:amp/workspace:Workspace")
    assert statement["Resource"] == workspace.outputs["arn"]
    (release,) = [item for item in recording.of_type(RELEASE) if item.inputs["name"] == "grafana"]
    assert release.inputs["values"]["serviceAccount"] == {"name": "grafana"}
    assert association.urn in release.dependencies


@pytest.mark.parametrize("recorded", [{"managed": False}, {"managed": True, "mirror": "mirror.example"}])
def test_without_a_workspace_or_a_way_to_the_plug_in_there_is_one_source(recorded: dict[str, Any]):
    """A plug-in that cannot be fetched keeps Grafana from starting."""
    recording = watched(**recorded)
    assert sources(recording).keys() == {"prometheus"}
    (release,) = [item for item in recording.of_type(RELEASE) if item.inputs["name"] == "grafana"]
    assert "plugins" not in release.inputs["values"]
    assert [item.name for item in recording if item.name.startswith("dashboard-") and item.name.endswith("-managed")] == []


def test_pods_are_made_again_when_their_identity_comes():
    """EKS puts credentials into a pod as it is made: a pod from before the association has none until another template replaces it."""
    before, after = watched(managed=False), watched(managed=True)
    for chart, name, path in (
        ("kube-prometheus-stack", "remote-write-identity", ("prometheus", "prometheusSpec", "podMetadata", "annotations")),
        ("grafana", "grafana-identity", ("podAnnotations",)),
    ):
        (old,) = [item for item in before.of_type(RELEASE) if item.inputs["name"] == chart]
        (new,) = [item for item in after.of_type(RELEASE) if item.inputs["name"] == chart]
        (association,) = [item for item in after.of_type("aws:eks/podIdentityAssociation:PodIdentityAssociation") if item.name == name]
        assert POD_IDENTITY_ANNOTATION not in json.dumps(old.inputs["values"])
        annotations = new.inputs["values"]
        for key in path:
            annotations = annotations[key]
        assert annotations == {POD_IDENTITY_ANNOTATION: association.outputs["associationId"]}
        assert association.urn in new.dependencies, "the right comes before the pod"


def test_every_dashboard_is_there_over_the_workspace_too():
    """The same panels, asked of the other source, under names of their own."""
    made = {name: json.loads(text) for name, text in managed_dashboards().items()}
    assert made.keys() == {f"{name}-managed" for name in MODELS}
    for name, model in MODELS.items():
        other = made[f"{name}-managed"]
        assert (other["uid"], other["title"]) == (f"{name}-managed", f"{model['title']} (Amazon Managed Prometheus)")
        assert {json.dumps(panel["datasource"]) for panel in other["panels"]} == {json.dumps({"type": MANAGED_PLUGIN, "uid": MANAGED})}
        assert [panel["targets"] for panel in other["panels"]] == [panel["targets"] for panel in model["panels"]]
    shown = [item.name for item in watched(managed=True) if item.name.startswith("dashboard-") and item.name.endswith("-managed")]
    assert sorted(shown) == sorted(f"dashboard-{name}" for name in made)


def test_without_the_workspace_only_those_that_use_it_change():
    """Switched off beside Grafana it goes from both, and nothing else moves."""
    result = rehearse_change(watched(managed=True), watched(managed=False), seed=0)
    assert [step.error for step in result.phase.errors] == []
    names = {(item.kind, item.registration.name) for item in result.touched if not item.registration.name.startswith("dashboard-")}
    own = {item.name for item in watched(managed=True)} - {item.name for item in watched(managed=False)}
    assert {name for kind, name in names if kind == "update"} == {"kube-prometheus-stack", "grafana"}
    assert {name for kind, name in names if kind == "delete"} <= own
    assert {kind for kind, _ in names} == {"update", "delete"}
