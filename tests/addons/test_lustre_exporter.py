"""The Lustre exporter says what statvfs says, and is down where the file system does not answer."""

import os
import threading
import urllib.error
import urllib.request
from collections.abc import Iterator
from http.server import ThreadingHTTPServer
from pathlib import Path

import pytest
import yaml

from addons.grafana.values import DASHBOARDS
from addons.lustre_exporter import DECLARATION
from addons.lustre_exporter.component import MOUNT, lustre_exporter_spec
from addons.lustre_exporter.lustre_exporter import Handler, exposition
from tests.stacks.addon_sets import only_with_needs
from tests.support import merged, record_stack

FULL = os.statvfs_result((4096, 4096, 300_000, 40_000, 30_000, 9_000, 900, 900, 0, 255))
"""Blocks of 4 KiB: 300,000 of them, 40,000 free for root, 30,000 for others; 9,000 inodes, 900 free."""


@pytest.fixture
def server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """The exporter over a folder, and its address."""
    monkeypatch.setattr(Handler, "path_of_claim", str(tmp_path))
    monkeypatch.setattr(Handler, "claim", "fsx-claim")
    served = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=served.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{served.server_port}/metrics"
    served.shutdown()
    served.server_close()


def test_size_free_space_and_inodes_are_told(monkeypatch: pytest.MonkeyPatch):
    """In bytes; what is kept back for root is not free for a job."""
    monkeypatch.setattr("os.statvfs", lambda path: FULL)
    samples = [line for line in exposition("/shared", "fsx-claim").splitlines() if not line.startswith("#")]
    assert samples == [
        'lustre_client_size_bytes{claim="fsx-claim"} 1228800000',
        'lustre_client_available_bytes{claim="fsx-claim"} 122880000',
        'lustre_client_inodes{claim="fsx-claim"} 9000',
        'lustre_client_free_inodes{claim="fsx-claim"} 900',
    ]


def test_its_names_are_those_of_the_dashboards():
    """Both sides are ours, and must say the same."""
    listed = yaml.safe_load((DASHBOARDS / "metrics.yaml").read_text())["lustre-exporter"]["metrics"]
    types = [line.split()[2:] for line in exposition("/", "c").splitlines() if line.startswith("# TYPE")]
    assert types == [[name, "gauge"] for name in listed]


def test_it_serves_a_real_file_system(server: str):
    """Over HTTP, in the text format."""
    with urllib.request.urlopen(server) as response:
        assert response.headers["Content-Type"] == "text/plain; version=0.0.4"
        text = response.read().decode()
    assert float(text.splitlines()[1].split()[-1]) > 0


def test_a_file_system_that_gives_an_error_is_a_target_that_is_down(server: str, monkeypatch: pytest.MonkeyPatch):
    """Stale figures would say that all is well."""

    def gone(path: str) -> os.statvfs_result:
        raise OSError(108, "Cannot send after transport endpoint shutdown")

    monkeypatch.setattr("os.statvfs", gone)
    with pytest.raises(urllib.error.HTTPError, match="503"):
        urllib.request.urlopen(server)


def test_a_file_system_that_hangs_holds_one_call_only(server: str, monkeypatch: pytest.MonkeyPatch):
    """Each scrape would else leave a thread behind, until the pod is out of memory."""
    began, answer = threading.Event(), threading.Event()

    def hanging(path: str) -> os.statvfs_result:
        began.set()
        assert answer.wait(30)
        return FULL

    monkeypatch.setattr("os.statvfs", hanging)
    first = threading.Thread(target=lambda: urllib.request.urlopen(server).read())
    first.start()
    assert began.wait(30)
    try:
        with pytest.raises(urllib.error.HTTPError, match="503"):
            urllib.request.urlopen(server)
    finally:
        answer.set()
        first.join(30)
    with urllib.request.urlopen(server) as response:
        assert response.status == 200, "it goes on when the file system answers again"


def test_its_pod_mounts_the_claim_and_asks_for_no_device():
    """It watches; it writes nothing, and takes no room from a job."""
    pod = lustre_exporter_spec("image", "fsx-claim")["template"]["spec"]
    (container,) = pod["containers"]
    assert {"name": "claim", "persistentVolumeClaim": {"claimName": "fsx-claim"}} in pod["volumes"]
    assert {"name": "claim", "mountPath": MOUNT, "readOnly": True} in container["volumeMounts"]
    assert container["resources"]["requests"].keys() == {"cpu", "memory"}
    assert "tolerations" not in pod


def test_its_pod_is_replaced_with_the_volume():
    """One that still mounts the old file system would report that one, and hold its claim."""
    recording = record_stack(only_with_needs(DECLARATION.key))
    (exporter,) = [item for item in recording if item.type.endswith(":Deployment")]
    (claim,) = [item for item in recording if item.type.endswith(":PersistentVolumeClaim")]
    (volume,) = [item for item in recording if item.type.endswith(":PersistentVolume")]
    assert exporter.options["replace_with"] == [volume.urn]
    assert claim.urn in exporter.dependencies


def test_without_a_file_system_there_is_nothing_to_watch():
    """A pod that waits for a claim which is never made would wait for ever."""
    configuration = only_with_needs(DECLARATION.key)
    names = [item.name for item in record_stack(configuration) if item.type.endswith(":Deployment")]
    assert names == ["lustre-exporter"]
    without = merged(configuration, storage={"lustre": {"enabled": False}})
    assert [item.name for item in record_stack(without) if "lustre" in item.name] == []
