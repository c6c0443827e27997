"""The monitoring page names what the cluster gets, and the switch that each part needs."""

from tests.addons.test_dashboards import ALERTS, EXPORTERS, PANELS
from tools.pages import monitoring_page


def test_every_exporter_panel_and_alert_has_a_line():
    """A table that leaves one out says that it is not there."""
    page = monitoring_page.page()
    assert all(f"| {name} | `addons.{exporter['addon']}` |" in page for name, exporter in EXPORTERS.items())
    assert all(f"| {panel['title']} | `" in page for _, panel in PANELS)
    assert all(f"| {alert['alert']} | {alert['labels']['severity']} | {alert.get('for', 'at once')} |" in page for alert in ALERTS)
    assert "{{" not in page


def test_a_panel_names_the_add_ons_of_its_metrics():
    """Whoever sees an empty panel looks there."""
    (line,) = [line for line in monitoring_page.page().splitlines() if line.startswith("| File systems | Free |")]
    assert "| `lustreExporter` |" in line
    (line,) = [line for line in monitoring_page.page().splitlines() if line.startswith("| Jobs and queues | Devices held")]
    assert "| `prometheus` |" in line
