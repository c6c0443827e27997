"""Makes a page for each launcher, from what its module says and from one job that all of them render."""

import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import yaml

from addons.registry import SWITCHED
from facts.yaml_text import write_yaml
from stacks.config import parse_settings
from training.job import parse_job
from training.launchers import launchers
from training.launchers.base import Launcher
from training.site import OUTSIDE, Site
from trn.engine.job_site import site_of
from trn.engine.stack_file import read_stack_file
from trn.jobs.rendering import Rendered, as_text, read_account, rendered

SAMPLE = "docs/samples/jobs/bert.yaml"
ACCOUNT = "docs/samples/account.yaml"
JOBS: Mapping[str, Mapping[str, Any]] = {
    "batch": {"nodes": 1},
    "mpijob": {"toolchain": "jax-2.32"},
    "rayjob": {"image": "registry.example/ray-torch-neuronx:2.60.0"},
    "sagemaker": {"image": "123456789012.dkr.ecr.us-west-2.amazonaws.com/bert:1.0"},
    "tfjob": {"toolchain": "none", "image": "registry.example/tensorflow:2.21.0", "start": "tensorflow"},
}
"""What the sample says otherwise for a launcher; None leaves a key out."""
STACKS: Mapping[str, Mapping[str, Any]] = {
    "batch": {"nodeGroups": ["trn1-32xl"]},
    "slurm": {"nodeGroups": ["trn1-32xl"]},
}
"""Keys of a launcher's add-on beside `enabled`."""
BESIDE: Mapping[str, tuple[str, ...]] = {"slurm": ("certManager",)}
"""Add-ons that a launcher's own needs, by launcher."""
WIDTH = 150
"""Characters of a line that a page shows."""
FILE = re.compile(r"^(cat >[^\n]*<<'(\w+)')\n.*?^\2$", re.MULTILINE | re.DOTALL)
"""A file that a script writes."""
PACKED = re.compile(r"[A-Za-z0-9+/=]{200,}")
"""Packed files: their letters change with every line of the scripts in them, and say nothing."""


def pages(root: Path) -> dict[str, str]:
    """File name to text."""
    return {f"docs/launchers/{launcher.name}.md": page(launcher, root) for launcher in launchers()}


def page(launcher: Launcher, root: Path) -> str:
    """One launcher: when to take it, what it needs and lacks, a job, restarts, how it was tried, states, sources."""
    keys = sample(launcher, root)
    lines = [
        f"# {launcher.title}",
        "",
        f"`launcher: {launcher.name}`, or `--on {launcher.name}`. Take it when: {launcher.take_it}.",
        "",
        f"What all have in common: [jobs.md](../jobs.md). Made from `training/launchers/{launcher.name.replace('-', '_')}.py` by `make docs`.",
        "",
        "## What must be there?",
        "",
        *_needs(launcher),
        "",
        "## What does it lack?",
        "",
        *(f"- {text[0].upper()}{text[1:]}." for text in launcher.lacks),
        "",
        "## What does it make of a job?",
        "",
        *_shown(launcher, keys, root),
        "",
        "## How does it restart?",
        "",
        launcher.restarts,
        "",
        "## How was it tried?",
        "",
        launcher.tried,
        "",
        "## How is its state read?",
        "",
        f"{launcher.status} Anything else is `waiting`.",
        "",
        "| there | `trn` |",
        "| --- | --- |",
        *(f"| `{word}` | {phase} |" for word, phase in launcher.states.items()),
        "",
        "## Versions and sources",
        "",
        *(f"- {text}." for text in (*_versions(launcher), *launcher.sources)),
    ]
    return "\n".join(lines) + "\n"


def sample(launcher: Launcher, root: Path) -> dict[str, Any]:
    """The sample job as the launcher takes it."""
    keys = {**yaml.safe_load((root / SAMPLE).read_text()), **JOBS.get(launcher.name, {}), "launcher": launcher.name}
    return {key: value for key, value in keys.items() if value is not None}


def switches(launcher: Launcher) -> dict[str, Any]:
    """The `addons` of a stack file that the launcher needs; empty for none."""
    if launcher.addon is None:
        return {}
    return {
        launcher.addon: {"enabled": True, **STACKS.get(launcher.name, {})},
        **{key: {"enabled": True} for key in BESIDE.get(launcher.name, ())},
    }


def made(launcher: Launcher, root: Path) -> Rendered:
    """The sample on the shipped stack with what the launcher needs. Raises CompleteError where that is refused."""
    return rendered(parse_job(sample(launcher, root)), site_for(launcher, root), SAMPLE)


def site_for(launcher: Launcher, root: Path) -> Site:
    """The shipped stack with what the launcher needs, as jobs meet it."""
    stack_file = read_stack_file("dev", root)
    configuration = dict(stack_file.configuration)
    configuration["addons"] = {**configuration["addons"], **switches(launcher)}
    return _with_account(site_of(parse_settings(configuration, "dev", rehearsal=True), "dev"), launcher, root)


def made_on(launcher: Launcher, keys: Mapping[str, Any], site: Site) -> tuple[list[Any], list[Any]]:
    """Objects and documents of a job on a site. Raises CompleteError where that is refused."""
    found = rendered(parse_job({**keys, "launcher": launcher.name}), site, SAMPLE)
    return found.objects, found.documents


def _with_account(site: Site, launcher: Launcher, root: Path) -> Site:
    return replace(site, account=read_account(root / ACCOUNT)) if launcher.name in OUTSIDE else site


def _needs(launcher: Launcher) -> list[str]:
    lines = [f"- {text[0].upper() if text[0].isalpha() else text[0]}{text[1:]}." for text in launcher.needs]
    if launcher.addon is None:
        return [
            "Nothing in the stack beside its Neuron nodes." if not lines else "No add-on of the stack.",
            *(["", *lines] if lines else []),
        ]
    text = write_yaml({"trn:addons": switches(launcher)}).rstrip()
    return ["In the stack file:", "", "```yaml", text, "```", *(["", *lines] if lines else [])]


def _shown(launcher: Launcher, keys: Mapping[str, Any], root: Path) -> list[str]:
    found = made(launcher, root)
    changed = ", ".join(f"`{key}`" for key in JOBS.get(launcher.name, {}))
    why = f"The sample of [jobs.md](../jobs.md), but for {changed}." if changed else ""
    account = f" --account {ACCOUNT}" if launcher.name in OUTSIDE else ""
    without = "before it the object that carries the files" if launcher.resource is not None else "here without the text of files"
    text = write_yaml(dict(keys), width=WIDTH).rstrip()
    return [
        *([why, ""] if why else []),
        "```yaml",
        text,
        "```",
        "",
        f"`trn submit job.yaml{account} --dry-run` prints on the shipped stack, {without}:",
        "",
        f"```{_language(found)}",
        *_short(as_text(found.objects[1:], found.documents)),
        "```",
    ]


def _language(found: Rendered) -> str:
    """How the text is coloured."""
    if found.launcher.resource is not None:
        return "yaml"
    return (
        {"json": "json", "sh": "sh", "sbatch": "sh"}.get(found.documents[0].name.rpartition(".")[2], "yaml")
        if len(found.documents) == 1
        else "text"
    )


def _short(text: str) -> list[str]:
    """Lines of a page, each cut at the width: without the text of files, plain or packed."""
    text = PACKED.sub("...", FILE.sub(r"\1\n...\n\2", text))
    return [line if len(line) <= WIDTH else f"{line[: WIDTH - 4]} ..." for line in text.rstrip().splitlines()]


def _versions(launcher: Launcher) -> list[str]:
    """Charts of the add-on, and the API that serves the job."""
    charts = SWITCHED[launcher.addon].charts if launcher.addon is not None else ()
    api = [f"API {launcher.resource.path.removeprefix('/apis/')}, kind {launcher.resource.kind}"] if launcher.resource is not None else []
    return [*(f"chart {chart.name} {chart.version}" for chart in charts), *api]
