"""The EFA exporter reads what the driver writes, and serves it as Prometheus wants it."""

import re
import threading
import urllib.request
from http.server import ThreadingHTTPServer
from pathlib import Path

import pytest
import yaml

from addons.efa_exporter.efa_exporter import PREFIX, Handler, exposition
from addons.grafana.values import DASHBOARDS


@pytest.fixture
def sysfs(tmp_path: Path) -> Path:
    """Two devices as the EFA driver shows them, one with a counter that cannot be read."""
    for device, counters in {"rdmap0": {"tx_bytes": "12", "rx_bytes": "7"}, "rdmap16": {"tx_bytes": "9", "lifespan": "n/a"}}.items():
        folder = tmp_path / device / "ports" / "1" / "hw_counters"
        folder.mkdir(parents=True)
        for name, text in counters.items():
            (folder / name).write_text(f"{text}\n")
    (tmp_path / "rdmap0" / "ports" / "1" / "counters").mkdir()
    return tmp_path


def test_every_counter_of_every_device_is_a_sample(sysfs: Path):
    """One type line per name, one sample per device and port; what is no number is left out."""
    assert exposition(sysfs) == (
        "# TYPE node_amazonefa_rx_bytes counter\n"
        'node_amazonefa_rx_bytes{device="rdmap0",port="1"} 7\n'
        "# TYPE node_amazonefa_tx_bytes counter\n"
        'node_amazonefa_tx_bytes{device="rdmap0",port="1"} 12\n'
        'node_amazonefa_tx_bytes{device="rdmap16",port="1"} 9\n'
    )


def test_a_node_without_efa_has_nothing_to_say(tmp_path: Path):
    """An error here would mark the target as down."""
    assert exposition(tmp_path) == "\n"


def test_it_serves_what_it_reads(sysfs: Path, monkeypatch: pytest.MonkeyPatch):
    """Over HTTP, with the content type of the text format."""
    monkeypatch.setattr(Handler, "root", sysfs)
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{server.server_port}/metrics") as response:
            assert response.headers["Content-Type"] == "text/plain; version=0.0.4"
            assert response.read().decode() == exposition(sysfs)
    finally:
        server.shutdown()
        server.server_close()


def test_the_dashboards_names_begin_as_the_exporters_do():
    """The rest of each name is the driver's file name."""
    listed = yaml.safe_load((DASHBOARDS / "metrics.yaml").read_text())["efa-exporter"]["metrics"]
    assert listed
    assert all(re.fullmatch(PREFIX + "[a-z_]+", name) for name in listed)
