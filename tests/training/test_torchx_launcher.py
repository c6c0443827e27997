"""The launcher of TorchX: its command line says the job, and what the component has no argument for is refused."""

import shlex
from itertools import pairwise
from typing import Any

import pytest

from tests.training.sites import job, site
from training import launchers
from training.check import problems


def words(**keys: Any) -> list[str]:
    """The command that is printed."""
    made = job(launcher="torchx", **keys)
    assert problems(made, site()) == []
    (document,) = launchers.launcher("torchx").documents(made, site())
    return shlex.split(document.text.partition("exec ")[2])


def test_the_command_names_the_jobs_parts():
    """TorchX's `--` separates its component's arguments from the worker's words."""
    found = words(rendezvous="etcd", restarts={"max": 1}, args=["--name", "a b"])
    given = dict(pairwise(found))
    assert (given["--nodes"], given["--workers"], given["--rendezvous"], given["--retries"]) == ("2", "32", "etcd", "1")
    assert found[found.index("--") :] == ["--", "python3", "/fsx/train.py", "--name", "a b"]
    assert "queue=training" in given["-cfg"]


@pytest.mark.parametrize(
    ("keys", "path"),
    [
        ({"environment": {"A": "1"}}, "environment"),
        ({"recipe": "bert", "command": []}, "recipe"),
        ({"devices": 4}, "devices"),
        ({"timeLimit": "1h"}, "timeLimit"),
        ({"start": "none"}, "start"),
        ({"mounts": [{"path": "/a"}, {"path": "/b"}]}, "mounts"),
        ({"restarts": {"max": 1, "exitCodes": [2]}}, "restarts.exitCodes"),
    ],
)
def test_what_the_component_has_no_argument_for_is_refused(keys: dict[str, Any], path: str):
    """A key that is dropped in silence would be found out on nodes that bill."""
    assert path in {problem.path for problem in problems(job(launcher="torchx", **keys), site())}
