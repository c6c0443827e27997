"""A script as a job file: what the command line leaves open is chosen here. Pure, but for the script's text."""

import os
import re
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from facts import neuron_releases
from facts.toolchains import TOOLCHAINS, driver_conflict
from facts.typed import typed
from training.job import NAME, NAME_LIMIT, SHARED_PATH, Job, parse_job
from training.lint.scripts import framework_of
from training.plan import Plan, candidates, launcher_of
from training.site import Site
from trn.cli.errors import MISUSE, CommandError
from trn.jobs.rendering import SCRIPTS

PYTHON, SHELL = SCRIPTS


@dataclass(frozen=True)
class Asked:
    """What the command line says."""

    script: Path
    arguments: tuple[str, ...] = ()
    nodes: int = 1
    job: str | None = None
    source: Path | None = None
    """Folder that goes along. Without it, the script's own in a repository of git's, else the script alone."""
    toolchain: str | None = None
    image: str | None = None
    group: str | None = None
    launcher: str | None = None
    time_limit: str | None = None


def keys(asked: Asked, site: Site, text: str, beside: Path) -> dict[str, Any]:
    """The keys of the job file, as it spells them. `text`: the script's; `beside`: folder of the job file.

    Raises CommandError for what is no script, and one outside of its source.
    """
    script = asked.script
    if script.suffix not in SCRIPTS:
        hint = (
            f"a job file is submitted by `{typed('trn submit')}`"
            if script.suffix in (".yaml", ".yml")
            else f"name a script, {' or '.join(SCRIPTS)}"
        )
        raise CommandError(f"`{script}` is no script", hint, code=MISUSE)
    source = asked.source or (script.parent if _is_in_repository(script.parent) else script)
    folder = source if source.is_dir() else source.parent
    word = Path(os.path.relpath(script.resolve(), folder.resolve()))
    if word.parts[0] == "..":
        raise CommandError(f"`{script}` is not in `{folder}`", "name a folder with --source that has the script in it", code=MISUSE)
    name = asked.job or job_name(script)
    toolchain = asked.toolchain or (toolchain_for(text, site, asked) if asked.image is None else None)
    lasting = {"path": f"{SHARED_PATH}/checkpoints/{name}"} if site.claim is not None and re.fullmatch(NAME, name) else None
    found = {
        "name": name,
        "source": os.path.relpath(source, beside),
        "command": ["bash" if script.suffix == SHELL else "python3", word.as_posix()],
        "args": list(asked.arguments),
        "nodes": asked.nodes,
        "toolchain": toolchain,
        "image": asked.image,
        **_place(asked.group, site),
        "launcher": asked.launcher,
        "checkpoints": lasting,
        "timeLimit": asked.time_limit,
    }
    return {key: value for key, value in found.items() if value not in (None, [])}


def job_of(values: Mapping[str, Any]) -> Job:
    """The job. Raises JobFileError with what the command line has wrong."""
    return parse_job(values, "what was asked for")


def job_name(script: Path) -> str:
    """A name of the script's: `train_bert.py` is `train-bert`."""
    words = re.sub(r"[^a-z0-9]+", "-", script.stem.lower()).strip("-")
    return (words if words[:1].isalpha() else f"run-{words}")[:NAME_LIMIT].strip("-")


def _place(group: str | None, site: Site) -> dict[str, str]:
    return {"pool" if group in site.pools and group not in site.node_groups else "nodeGroup": group} if group is not None else {}


def toolchain_for(text: str, site: Site, asked: Asked) -> str | None:
    """The toolchain of a script: the stack's unless the script imports another framework, else the newest that runs on the nodes.

    None leaves it to the stack. A script of plain `torch` runs by either of PyTorch's, as the lint says.
    """
    wanted = framework_of(text)
    stack = TOOLCHAINS.get(site.toolchain or "")
    if wanted is None or (stack is not None and (stack.framework == wanted or (wanted == "torch" and stack.framework == "torch-xla"))):
        return site.toolchain
    keys = {"name": "probe", "command": ["true"], "launcher": asked.launcher, "nodes": asked.nodes, **_place(asked.group, site)}
    probe = parse_job({key: value for key, value in keys.items() if value is not None})
    seen = site.seen_by(launcher_of(probe, site))
    for nodes in candidates(probe, seen):
        driver = neuron_releases.ami_driver(nodes.release_version)
        fitting = [
            each.name for each in TOOLCHAINS.values()
            if each.framework == wanted and nodes.instance.name in each.workers and driver_conflict(each, driver) is None
        ]  # fmt: skip
        if fitting:
            return fitting[-1]
    return site.toolchain


def _is_in_repository(folder: Path) -> bool:
    environment = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    if shutil.which("git") is None:
        return False
    words = ["git", "rev-parse", "--is-inside-work-tree"]
    answer = subprocess.run(words, cwd=folder or ".", env=environment, capture_output=True, text=True)
    return answer.stdout.strip() == "true"


def chosen(plan: Plan, launcher: str) -> list[str]:
    """What was chosen, for a person."""
    job, nodes = plan.job, plan.nodes
    rows: Sequence[tuple[str, str]] = (
        ("toolchain", plan.toolchain.name if plan.toolchain is not None else "none: nothing is checked of the image"),
        ("image", plan.image),
        ("nodes", f"{job.nodes} x {nodes.instance.name} of {nodes.name}, {plan.workers_per_node} processes on each"),
        ("launcher", f"{launcher}{f', queue {plan.queue}' if plan.queue is not None else ''}"),
        ("checkpoints", f"{job.checkpoints.path}: the script finds it as TRN_CHECKPOINTS" if job.checkpoints else "none: the cluster has no file system"),
        ("compile cache", plan.cache or "none: every start compiles again"),
        ("time limit", job.time_limit or "none: it runs, and costs, until it ends"),
    )  # fmt: skip
    width = max(len(name) for name, _ in rows)
    return [f"  {name.ljust(width)}  {value}" for name, value in rows]
