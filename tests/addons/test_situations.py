"""The made-up scrapes against what the exporters are declared to say: Prometheus's engine then runs every query over them.

The engine is built from its Go module: `pytest -m kubernetes tests/addons/test_queries.py`.
"""

import pytest

from tests.addons.situations import AT_WORK, END_S, NEURON_S, SITUATIONS, Series, seen
from tests.addons.test_dashboards import ALERTS, EXPORTERS, METRICS, TARGET_LABELS

EVERYTHING = {item.name: item for situation in SITUATIONS.values() for item in situation.series}


def test_a_cluster_at_work_has_every_metric():
    """What a query asks for and no scrape has, no test would run."""
    assert {item.name for group in AT_WORK.values() for item in group} == METRICS.keys()


@pytest.mark.parametrize("series", EVERYTHING.values(), ids=EVERYTHING.keys())
def test_each_series_has_the_labels_that_its_exporter_is_declared_with(series: Series):
    """A test over labels that no exporter has shows nothing."""
    own = series.labels.keys() - {"__name__", "endpoint"} - TARGET_LABELS
    assert own <= set(METRICS[series.name])
    assert set(METRICS[series.name]) <= series.labels.keys()
    assert series.labels["job"] in {exporter["job"] for exporter in EXPORTERS.values()}


def test_every_alert_fires_in_one_situation_and_is_silent_in_others():
    """One that always fires is switched off, and the others with it."""
    fired = [{name for name, _ in situation.fires} for situation in SITUATIONS.values()]
    assert set().union(*fired) == {alert["alert"] for alert in ALERTS}
    assert not fired[0], "an alert fires in a cluster that works"


def test_a_scrape_sees_what_is_there_when_it_comes():
    """The error that ends a process is shown for one period of 5 s: a scrape each 30 s passes it by."""
    shown = ((0, 3602, 0), (3602, 3608, 1))
    often, seldom = seen({}, 5, *shown), seen({}, 30, *shown)
    assert often.stretches[-1]["value"] == 1
    assert (often.gone_at_s, seldom.gone_at_s) == (3610, 3630)
    assert {stretch["value"] for stretch in seldom.stretches} == {0}
    assert NEURON_S == 5
    assert seen({}, 5, (0, END_S + 1, 1)).gone_at_s is None
