"""The short run that fills a job's compile cache: the same graphs, since it has the same nodes, workers and arguments. Pure."""

from typing import Any

from training.compiling import SCRIPT, script
from training.environment import CACHE
from training.job import NAME_LIMIT, Cache, Job, Restarts
from training.payload import ENTRY_SCRIPT
from training.plan import SCRIPTS, Plan
from training.pod import files_name
from trn.cli.errors import MISUSE, CommandError
from trn.kubernetes.client import Object

SUFFIX = "-precompile"
TOOLS = {"torch-xla": "neuron_parallel_compile", "jax": "none"}
"""What compiles, by framework. neuron_parallel_compile is part of torch-neuronx's XLA line; JAX compiles as it runs, through the same
cache (libneuronxla). Native PyTorch's cache has variables of its own (TORCH_NEURONX_...), whose layout is not established."""
ENDED = ("Succeeded", "Failed")


def tool_of(plan: Plan) -> str:
    """What compiles a job's graphs. Raises CommandError for a job whose cache cannot be filled before."""
    toolchain = plan.toolchain
    if toolchain is None or toolchain.framework not in TOOLS:
        name = toolchain.name if toolchain is not None else "`none`"
        hint = "its first start compiles; jobs of torch-xla and JAX toolchains can be compiled before"
        raise CommandError(f"the cache of toolchain {name} cannot be filled before the job", hint, code=MISUSE)
    if plan.cache is None:
        raise CommandError(
            "the job has no lasting place for its compile cache",
            "set `cache.path` to a folder on a mount, or to s3://BUCKET/PREFIX",
            code=MISUSE,
        )
    return TOOLS[toolchain.framework]


def short_run(job: Job, plan: Plan, steps: int, arguments: tuple[str, ...]) -> Job:
    """The job that compiles: under another name, with the job's own cache, few steps, and no checkpoints, since its results mean nothing.

    `arguments`: of a job with a command of its own, whatever makes it short; a recipe takes `--steps`.
    """
    if job.recipe is None and not arguments:
        hint = "add --arg with what makes it short, such as --arg=--max_steps=10; it may be repeated"
        raise CommandError("the job has a command of its own, and how it is kept short is not known", hint, code=MISUSE)
    assert plan.cache is not None
    more = arguments or ("--steps", str(steps))
    name = f"{job.name[: NAME_LIMIT - len(SUFFIX)].rstrip('-')}{SUFFIX}"
    own: dict[str, Any] = {
        "name": name, "args": (*job.args, *more), "cache": Cache(path=plan.cache), "checkpoints": None, "restarts": Restarts(max=0), "ttl": "1h",
    }  # fmt: skip
    return job.model_copy(update=own)


def wrapped(objects: list[Object], job: Job, tool: str) -> list[Object]:
    """Rendered objects whose pods compile. Raises CommandError where a launcher starts its workers in another way."""
    found = [_wrapped(body, tool) for body in objects]
    files = [body for body in found if body["kind"] == "ConfigMap" and body["metadata"]["name"] == files_name(job.name)]
    if found == objects or not files:
        raise CommandError(
            f"a job of launcher `{job.launcher or 'default'}` cannot be compiled before",
            "add --on volcano, jobset or indexed-job",
            code=MISUSE,
        )
    files[0]["data"] = {**files[0]["data"], SCRIPT: script()}
    return found


def _wrapped(value: Any, tool: str) -> Any:
    if isinstance(value, dict):
        return {key: _command(item, tool) if key == "command" else _wrapped(item, tool) for key, item in value.items()}
    return [_wrapped(item, tool) for item in value] if isinstance(value, list) else value


def _command(words: Any, tool: str) -> Any:
    is_entry = isinstance(words, list) and words[:2] == ["python3", f"{SCRIPTS}/{ENTRY_SCRIPT}"]
    return ["python3", f"{SCRIPTS}/{SCRIPT}", "--tool", tool, "--", *words] if is_entry else words


def users_of(cache: str, pods: list[Object]) -> list[str]:
    """Pods that use a cache and have not ended: what one of them compiles has a lock that is no leftover."""
    found = list[str]()
    for pod in pods:
        containers = pod.get("spec", {}).get("containers", ())
        values = {item.get("value") for each in containers for item in each.get("env", ()) if item.get("name") == CACHE}
        if cache in values and pod.get("status", {}).get("phase") not in ENDED:
            found.append(pod["metadata"]["name"])
    return sorted(found)
