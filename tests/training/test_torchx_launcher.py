"""The launcher of TorchX: its command line brings the whole job, and what TorchX cannot say is refused."""

import json
import shlex
from itertools import pairwise
from typing import Any

import pytest

from tests.training.sites import NEWEST, group, job, site
from training import launchers
from training.check import problems
from training.job import Job, parse_job
from training.site import Site


def command(on: Site | None = None, **keys: Any) -> dict[str, str]:
    """Options of the command that is printed."""
    made, where = job(launcher="torchx", **keys), on or site()
    assert problems(made, where) == []
    (document,) = launchers.launcher("torchx").documents(made, where)
    return dict(pairwise(shlex.split(document.text.partition("exec ")[2])))


def sent(**keys: Any) -> Job:
    """The job that the component reads."""
    return parse_job(json.loads(command(**keys)["--job"]))


EVERY_KEY: dict[str, Any] = {
    "environment": {"A": "1"},
    "recipe": "bert",
    "command": [],
    "args": ["--name", "a 'b' $c"],
    "devices": 4,
    "nodes": 1,
    "timeLimit": "1h",
    "mounts": [{"path": "/fsx"}, {"path": "/b", "claim": "models"}],
    "restarts": {"max": 1, "hangAfter": "2h"},
    "rendezvous": "etcd",
    "priority": "high",
    "data": {"path": "/fsx/data"},
    "cache": {"path": "/fsx/cache"},
    "checkpoints": {"path": "/fsx/checkpoints", "keep": 2},
}


def test_the_whole_job_file_is_sent():
    """But for `ttl`, which TorchX's Volcano Job does not have. What is dropped in silence would be found out on nodes that bill."""
    assert sent(**EVERY_KEY, ttl="3d") == job(**EVERY_KEY)


def test_the_command_says_what_the_file_leaves_to_the_stack():
    """Nodes, claim, etcd, toolchain and image: the component reads no stack file."""
    found = command()
    assert (found["--instance"], found["--node_group"], found["--claim"]) == ("trn1.32xlarge", "trn1-32xl", "fsx-claim")
    assert (found["--toolchain"], found["--etcd"], found["--efa"]) == ("xla-2.30", "etcd-client:2379", "True")
    assert found["-cfg"].startswith("namespace=training,queue=training")
    assert found["--image"].startswith("public.ecr.aws/neuron/")


def test_a_pool_is_named_as_one():
    """Its nodes have another label."""
    pools = {"p": group("p", "trn2.48xlarge", logical_core_size=1, is_pool=True, release_version=NEWEST)}
    found = command(site(pools=pools), pool="p", toolchain="torch-2.33", image="r.example/t:1")
    assert (found["--pool"], found["--logical_core_size"], "--node_group" in found) == ("p", "1", False)


@pytest.mark.parametrize(
    ("on", "keys", "path"),
    [
        (site(), {"restarts": {"max": 1, "exitCodes": [2]}}, "restarts.exitCodes"),
        (site(devices="dra"), {}, "devices"),
        (site(efa_devices="dra"), {}, "devices"),
    ],
)
def test_what_torchx_cannot_say_is_refused(on: Site, keys: dict[str, Any], path: str):
    """With the launcher that can."""
    (found,) = problems(job(launcher="torchx", **keys), on)
    assert found.path == path
    assert "volcano" in found.hint
