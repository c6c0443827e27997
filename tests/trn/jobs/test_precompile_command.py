"""`trn precompile`: the job's own short run, wrapped, and never beside a pod that uses the same cache."""

from typing import Any

import pytest

from tests.training.sites import SITE, job
from training.compiling import SCRIPT, script
from training.environment import CACHE
from training.launchers import launcher
from training.plan import plan
from trn.cli.errors import CommandError
from trn.jobs.precompile.plan import SUFFIX, short_run, tool_of, users_of, wrapped

ENTRY = ["python3", "/trn/entry.py", "--"]


def containers(value: Any) -> list[dict[str, Any]]:
    """All containers of some objects."""
    if isinstance(value, list):
        return [found for item in value for found in containers(item)]
    if not isinstance(value, dict):
        return []
    return [*value.get("containers", []), *(found for item in value.values() for found in containers(item))]


@pytest.mark.parametrize(("toolchain", "tool"), [("xla-2.30", "neuron_parallel_compile"), ("jax-2.32", "none")])
@pytest.mark.parametrize("on", ["volcano", "jobset", "indexed-job"])
def test_the_run_that_compiles_is_the_job_itself_but_short(toolchain: str, tool: str, on: str):
    """Same cache, nodes and workers, or it would compile other graphs; no checkpoint, which it would overwrite."""
    whole = job(toolchain=toolchain, launcher=on, recipe="bert", command=(), checkpoints={"path": "/fsx/checkpoints/bert"})
    made = plan(whole, SITE)
    assert tool_of(made) == tool
    short = short_run(whole, made, 7, ())
    theirs = plan(short, SITE)
    assert short.name == f"{whole.name}{SUFFIX}"
    assert (theirs.cache, theirs.workers_per_node, short.nodes) == (made.cache, made.workers_per_node, whole.nodes)
    assert (short.checkpoints, short.restarts.max, short.args[-2:]) == (None, 0, ("--steps", "7"))
    objects = wrapped(launcher(on).render(short, SITE), short, tool)
    commands = [each["command"] for each in containers(objects) if "/trn/entry.py" in each.get("command", ())]
    assert commands
    assert all(words[:8] == ["python3", f"/trn/{SCRIPT}", "--tool", tool, "--", *ENTRY] for words in commands)
    (files,) = [body["data"] for body in objects if body["kind"] == "ConfigMap"]
    assert files[SCRIPT] == script()
    variables = {item["name"]: item["value"] for item in containers(objects)[0]["env"]}
    assert variables[CACHE] == made.cache
    assert "TRN_CHECKPOINTS" not in variables


def test_a_command_of_ones_own_says_what_makes_it_short():
    """Only its author knows."""
    own = job(command=("python3", "train.py"), recipe=None)
    with pytest.raises(CommandError, match="how it is kept short is not known"):
        short_run(own, plan(own, SITE), 10, ())
    assert short_run(own, plan(own, SITE), 10, ("--max_steps=10",)).args[-1] == "--max_steps=10"


def test_a_toolchain_without_such_a_cache_is_refused():
    """The name of an image says nothing of its cache."""
    other = job(toolchain="none", image="registry.example/train:1")
    with pytest.raises(CommandError, match="cannot be filled before"):
        tool_of(plan(other, SITE))


def test_objects_that_start_no_worker_by_the_entry_script_are_refused():
    """What is not wrapped would train."""
    with pytest.raises(CommandError, match="--on volcano") as refused:
        wrapped([{"kind": "RayJob", "metadata": {"name": "x"}}], job(), "none")
    assert refused.value.hint


def pod(name: str, cache: str, phase: str) -> dict[str, Any]:
    """A pod with a compile cache."""
    spec = {"containers": [{"env": [{"name": CACHE, "value": cache}]}]}
    return {"metadata": {"name": name}, "spec": spec, "status": {"phase": phase}}


def test_a_cache_that_is_in_use_is_left_alone():
    """Locks of a pod that compiles are no leftovers; those of one that has ended are."""
    pods = [pod("a", "/fsx/c", "Running"), pod("b", "/fsx/c", "Failed"), pod("c", "/fsx/d", "Running"), pod("d", "/fsx/c", "Pending")]
    assert users_of("/fsx/c", pods) == ["a", "d"]
