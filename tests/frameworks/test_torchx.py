"""TorchX's local scheduler starts two nodes, which meet at the first (c10d), or at a real etcd by its v2 API, and train as one."""

import os
import subprocess
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest

from local_kubernetes import build
from tests.frameworks.jobs import LIMIT_S, Job, free_port
from training.metrics_line import Step, parse

pytestmark = pytest.mark.frameworks
COMPONENT = Path(__file__).with_name("torchx_nodes.py")
OPTIONS = ("--data", "generated", "--size", "tiny", "--steps", "8", "--checkpoint-steps", "4")


@pytest.fixture
def etcd(tmp_path) -> Iterator[str]:
    """Endpoint of an etcd 3.5 with the v2 API, of the build that the Kubernetes tier keeps; skips where that was not made."""
    try:
        if not build.there("etcd"):
            pytest.skip("etcd was not built: `python -m local_kubernetes.build`")
    except build.Missing as missing:
        pytest.skip(str(missing))
    program = build.tools("etcd")["etcd"]
    clients, peers = (f"http://127.0.0.1:{free_port()}" for _ in range(2))
    options = ["--enable-v2", "--listen-client-urls", clients, "--advertise-client-urls", clients, "--listen-peer-urls", peers]
    cluster = [
        "--initial-advertise-peer-urls",
        peers,
        "--initial-cluster",
        f"default={peers}",
        "--data-dir",
        str(tmp_path / "etcd"),
        "--log-level",
        "error",
    ]
    process = subprocess.Popen([str(program), *options, *cluster])
    try:
        _answers(f"{clients}/v2/keys")
        yield clients.removeprefix("http://")
    finally:
        process.terminate()
        process.wait()


def _answers(url: str) -> None:
    """Waits until an address answers."""
    until = time.monotonic() + 30
    while True:
        try:
            urllib.request.urlopen(url, timeout=5).close()
            return
        except OSError:
            if time.monotonic() > until:
                raise
            time.sleep(0.1)


@pytest.fixture(scope="module")
def whole(python, tmp_path_factory) -> dict[int, float]:
    """Losses of two workers on one node."""
    return Job(python("torch"), tmp_path_factory.mktemp("whole"), "bert", "torchrun").run(*OPTIONS).losses


def losses(python: Path, folder: Path, *more: object) -> dict[int, float]:
    """What two nodes that TorchX started have trained."""
    scripts = Job(python, folder, "bert", "torchrun").lay_out()
    given = ["--python", python, "--scripts", scripts, "--checkpoints", folder / "checkpoints", "--port", free_port(), *more]
    command = [
        python.parent / "torchx",
        "run",
        "--workspace",
        "",
        "-s",
        "local_cwd",
        "-cfg",
        f"log_dir={folder / 'logs'}",
        f"{COMPONENT}:nodes",
    ]
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("TRN_", "PYTHON"))} | {"HOME": str(folder)}
    done = subprocess.run(
        list(map(str, [*command, *given, "--", *OPTIONS])), env=environment, cwd=folder, capture_output=True, text=True, timeout=LIMIT_S
    )
    logs = [path.read_text() for path in sorted((folder / "logs").rglob("stdout.log"))]
    assert done.returncode == 0, done.stderr[-3000:] + "".join(logs)[-3000:]
    said = [found for log in logs for found in map(parse, log.splitlines()) if isinstance(found, Step) and found.rank == 0]
    return {step.step: step.loss for step in said}


def test_two_nodes_of_torchx_meet_at_the_first(python, whole, tmp_path):
    assert losses(python("torch"), tmp_path) == whole


def test_two_nodes_of_torchx_meet_at_etcd(python, whole, tmp_path, etcd):
    """As the original blueprint ran BERT; etcd 3.6 has no v2 API any more."""
    assert losses(python("torch"), tmp_path, "--etcd", etcd) == whole
