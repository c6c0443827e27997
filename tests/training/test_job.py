"""Reading a job file: what is accepted, and how each mistake is reported."""

from typing import Any

import pytest

from facts.problems import Problem
from tests.training.sites import job
from training.duration import seconds
from training.job import JobFileError, parse_job

SMALLEST: dict[str, Any] = {"name": "bert", "command": ["python3", "train.py"]}


def mistakes(values: Any) -> list[Problem]:
    """Every problem of a job file."""
    with pytest.raises(JobFileError) as caught:
        parse_job(values)
    return list(caught.value.problems)


def test_the_smallest_job_file_has_a_name_and_a_command():
    """Everything else has a default, or comes from the cluster."""
    found = parse_job(SMALLEST)
    assert (found.nodes, found.toolchain, found.launcher, found.restarts.max) == (1, None, None, 3)
    assert [mount.path for mount in found.mounts] == ["/fsx"]


@pytest.mark.parametrize(
    ("values", "path", "says"),
    [
        ({"name": "Bert_1"}, "name", "not of the form expected"),
        ({"name": "b" * 41}, "name", "not of the form expected"),
        ({"nodes": 0}, "nodes", "outside its limits"),
        ({"nodes": "2"}, "nodes", "wrong kind of value"),
        ({"toolchain": "xla-2.31"}, "toolchain", "not one of the values allowed"),
        ({"image": "https://registry/x"}, "image", "not a valid image reference"),
        ({"mounts": [{"path": "fsx"}]}, "mounts[0].path", "not a valid path in the container"),
        ({"mounts": [{"path": "/a"}, {"path": "/a", "claim": "b"}]}, "mounts[1].path", "a path that another mount has"),
        ({"mounts": [{"path": "/a"}, {"path": "//a/.", "claim": "b"}]}, "mounts[1].path", "a path that another mount has"),
        ({"mounts": [{"path": "/trn/x"}]}, "mounts[0].path", "a path that every container has for itself"),
        ({"mounts": [{"path": "/dev/shm"}]}, "mounts[0].path", "a path that every container has for itself"),
        ({"mounts": [{"path": "/fsx/../data"}]}, "mounts[0].path", "a path with `..`"),
        ({"checkpoints": {"path": "/fsx/../etc"}}, "checkpoints.path", "a path with `..`"),
        ({"cache": {"path": "/fsx/../etc"}}, "cache.path", "write where it leads: /etc"),
        ({"command": ["a\0b"]}, "command[0]", "a null character"),
        ({"environment": {"A": "\0"}}, "environment.A", "a null character"),
        ({"checkpoints": {"path": "/fsx", "interval": "10min"}}, "checkpoints.interval", "not a valid time"),
        ({"ttl": "24856d"}, "ttl", "together at most 2147483647 s"),
        ({"timeLimit": "35791395m"}, "timeLimit", "together at most 2147483647 s"),
        ({"checkpoints": {"path": "/fsx", "grace": "596524h"}}, "checkpoints.grace", "together at most 2147483647 s"),
        ({"checkpoints": {}}, "checkpoints.path", "is missing"),
        ({"restarts": {"exitCodes": [0]}}, "restarts.exitCodes[0]", "outside its limits"),
        ({"environment": {"TRN_JOB": "x"}}, "environment.TRN_JOB", "not a valid name of an environment variable"),
        ({"environment": {"STEPS": 3}}, "environment.STEPS", "text expected"),
        ({"cache": {"path": "s3://B"}}, "cache.path", "not a valid place of a compile cache"),
        ({"data": {"path": "/fsx/d", "source": "bucket"}}, "data.source", "not a valid source of a data set"),
        ({"data": {"path": "/fsx/d", "source": "s3://X/y"}}, "data.source", "the id OWNER/NAME of a Hugging Face data set"),
        ({"data": {"path": "/fsx/d", "prepare": {"tokenizer": "a/b"}}}, "data.source", "has no text to read"),
        (
            {"data": {"path": "/fsx/d", "source": "a/b", "prepare": {"tokenizer": "bert"}}},
            "data.prepare.tokenizer",
            "not a valid tokenizer",
        ),
        ({"data": {"path": "/fsx/d", "source": "a/b", "prepare": {"tokenizer": "/a/../b.json"}}}, "data.prepare.tokenizer", "with `..`"),
        ({"data": {"path": "/fsx/d", "source": "/fsx/../x"}}, "data.source", "with `..`"),
        (
            {"data": {"path": "/fsx/d", "source": "a/b", "prepare": {"tokenizer": "a/b", "validation": 1}}},
            "data.prepare.validation",
            "limits",
        ),
        ({"nodeGroup": "a", "pool": "b"}, "pool", "a pool beside a node group"),
        ({"recipe": "bert"}, "command", "both `command` and `recipe` are there"),
        ({"command": []}, "command", "neither `command` nor `recipe` is there"),
        ({"start": "mpirun"}, "start", "not one of the values allowed"),
        ({"toolchian": "xla-2.30"}, "toolchian", "did you mean `toolchain`?"),
    ],
)
def test_a_mistake_names_its_key(values: dict[str, Any], path: str, says: str):
    """The shape of every message of the house: key path, value, what is allowed, a fix."""
    (problem,) = mistakes({**SMALLEST, **values})
    assert problem.path == path
    assert says in str(problem)
    assert problem.hint


def test_all_mistakes_come_at_once():
    """One run, one list."""
    assert len(mistakes({"name": "B", "nodes": 0, "ttl": "soon", "xyz": 1, "command": ["a"]})) == 4


@pytest.mark.parametrize("values", [None, [], "bert", 3])
def test_a_file_without_keys_is_refused(values: Any):
    """An empty file is read as nothing at all."""
    (problem,) = mistakes(values)
    assert "no mapping of keys" in problem.wrong


def test_times_are_seconds():
    """Every launcher counts in seconds."""
    assert [seconds(text) for text in ("90s", "30m", "12h", "7d")] == [90, 1800, 43_200, 604_800]


def test_a_job_file_holds_nothing_of_a_cluster():
    """The same file runs on another one: what names the cluster's things is optional."""
    found = job()
    assert (found.node_group, found.pool, found.queue, found.toolchain, found.mounts[0].claim) == (None,) * 5
