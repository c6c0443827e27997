"""A push of files into a real registry, the reference implementation of the distribution specification: what ours in tests accepts, it accepts."""

import contextlib
import json
import os
import socket
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.kubernetes.conftest import Programs
from tests.trn.jobs.image.images import DOCKER, OCI, files, push, put_base
from tests.trn.jobs.image.strict_registry import StrictRegistry, serving
from trn.jobs.image.layer import make_layer, selected
from trn.jobs.image.push import made_of, plan_push
from trn.jobs.image.registry import Registry

pytestmark = pytest.mark.kubernetes
START_S = 120
CONFIGURATION = {"version": 0.1, "log": {"level": "error"}, "storage": {"delete": {"enabled": True}, "filesystem": {}}, "http": {}}


@pytest.fixture
def host(programs: Programs, tmp_path: Path) -> Iterator[str]:
    """The registry, empty, on a port of this machine."""
    program = programs("registry")["registry"]
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{free.getsockname()[1]}"
    configuration = tmp_path / "registry.json"
    configuration.write_text(json.dumps(CONFIGURATION))
    environment = {
        "REGISTRY_HTTP_ADDR": address,
        "REGISTRY_STORAGE_FILESYSTEM_ROOTDIRECTORY": str(tmp_path / "kept"),
        "PATH": os.environ["PATH"],
    }
    with (tmp_path / "log").open("w") as log:
        process = subprocess.Popen(
            [program, "serve", configuration], env={**environment, "OTEL_TRACES_EXPORTER": "none"}, stdout=log, stderr=log
        )
    try:
        _wait(address, process, tmp_path / "log")
        yield address
    finally:
        process.terminate()
        process.wait()


def _wait(address: str, process: "subprocess.Popen[bytes]", log: Path) -> None:
    name, _, port = address.partition(":")
    until = time.monotonic() + START_S
    while time.monotonic() < until and process.poll() is None:
        with contextlib.suppress(OSError), socket.create_connection((name, int(port)), 1):
            return
        time.sleep(0.05)
    raise AssertionError(f"the registry did not start: {log.read_text()}")


@pytest.mark.parametrize("kind", [OCI, DOCKER])
def test_a_push_is_taken_mounted_and_named(host: str, tmp_path: Path, kind: str):
    """Sent once; a second push sends nothing; another repository takes the layers over; what it keeps has the digest that was printed."""
    there = Registry(host, pause=lambda _: None)
    with serving(StrictRegistry(tokens=True)) as gallery:
        put_base(gallery, kind=kind)
        source, image = Registry(gallery.host), f"{gallery.host}/neuron/base:1"
        folder = files(tmp_path / "src", train="print(1)", lib__a="2")
        made = made_of(image, source, make_layer(folder, "/workspace", selected(folder)), "/workspace")
        first = plan_push(made, there, "dev/training", "1", (), exists=True)
        assert [step.way for step in first.steps] == ["copy", "copy", "send", "send"]
        push(first, there, source, lambda _: None)
        kept = there.manifest("dev/training", "1")
        assert kept is not None
        assert (kept.digest, kept.media_type) == (made.manifest.digest, kind)
        assert plan_push(made, there, "dev/training", "1", (), exists=True).is_named
        gallery.asked.clear()
        second = plan_push(made, there, "dev/other", "1", ["dev/training"], exists=True)
        assert [step.way for step in second.steps] == ["mount", "mount", "send", "send"]
        push(second, there, source, lambda _: None)
        # Neither layer of the base was read again.
        assert gallery.asked == []
        assert there.small_blob("dev/other", made.layer.digest) == b"".join(made.layer.read(0))


def test_an_upload_that_breaks_is_taken_up_where_it_was(host: str, tmp_path: Path):
    """The registry says how much of it arrived, when it has written that down."""
    there = Registry(host, pause=lambda _: time.sleep(0.1))
    folder = files(tmp_path / "src", train="x")
    (folder / "data").write_bytes(os.urandom(3_000_000))
    layer, starts = make_layer(folder, "/workspace", selected(folder)), list[int]()

    def read(start: int) -> Iterator[bytes]:
        starts.append(start)
        for chunk in layer.read(start):
            yield chunk
            if len(starts) == 1 and start + len(chunk) >= 1 << 20:
                from urllib3.exceptions import ProtocolError

                raise ProtocolError("broken here")

    there.send("dev/training", layer.digest, layer.size, read)
    assert there.has_blob("dev/training", layer.digest)
    assert starts[-1] > 0
