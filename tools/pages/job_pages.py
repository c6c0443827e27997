"""Makes the pages of training jobs: the reference of the job file, the toolchains, and what docs/jobs.md shows."""

import json
from pathlib import Path
from typing import Any

from facts.catalogue import NEURON_TYPES
from facts.neuron_releases import version_text
from facts.toolchains import TOOLCHAINS, Toolchain
from tools.pages.key_table import key_page, key_table
from tools.pages.marked import between
from training import memory
from training.account import Account
from training.environment import environment
from training.job import RESUME_EXIT_CODE, Job
from training.launchers import launchers
from training.lint.scripts import findings_of
from training.recipes.llama.llama_options import SHAPES, parse
from trn.engine.job_site import site_of
from trn.engine.program import settings_of
from trn.engine.stack_file import read_stack_file
from trn.jobs.lint.script_view import script_lines
from trn.jobs.rendering import Rendered, as_yaml, read_job, rendered

SCRIPT = "docs/samples/scripts/gpu.py"
SAMPLE = "docs/samples/jobs/bert.yaml"
SHOWN_LINES = 14
"""Of the sample's objects: its beginning says enough."""


def job_schema() -> dict[str, Any]:
    """JSON Schema of a job file, for editors that complete YAML."""
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **Job.model_json_schema(by_alias=True), "title": "Training job"}


def job_file_page() -> str:
    """Every key with type, default and effect."""
    introduction = (
        "Keys of a job file, which `trn submit` reads as it reads a stack file. Made from `training/job.py` by `make docs`; [jobs.md](jobs.md) says how to use them.",
        f"Times are a whole number and `s`, `m`, `h` or `d`. Exit code {RESUME_EXIT_CODE} says that a worker stopped after a checkpoint.",
    )
    return key_page("Job file", introduction, Job)


def script_page(text: str, root: Path) -> str:
    """The page on scripts for GPUs, with what the lint says of one."""
    found = findings_of((root / SCRIPT).read_text())
    return between(text, "lint", "\n".join(["", "```console", f"$ trn lint {SCRIPT}", *script_lines(found, SCRIPT), "```", ""]))


NOT_RUN = (
    (
        ("xla-2.28", "xla-2.30"),
        "BERT with two workers by gloo, and by PyTorch/XLA in one process, on a fake core: memory of a core, documented variables, tensors of its own device in exchanges",
        "several processes by XLA, Neuron's compiler, EFA, NEURON_RT_EXEC_TIMEOUT, Ray Train over two nodes",
    ),
    (
        ("jax-2.32",),
        "BERT, llama and the collectives with two processes, as on Neuron",
        "Neuron's PJRT plug-in and compiler, EFA, nccom-test",
    ),
    (
        ("torch-2.33",),
        "llama with eight processes by gloo, Hugging Face Trainer on a device that is not the processor's (PyTorch/XLA)",
        "the device and the process group `neuron`, `torch.compile`, EFA; its image was not built: AWS's indexes were not at hand",
    ),
)
"""Toolchains, what of them the tests run, and what that leaves open."""


def toolchains_page() -> str:
    """What fits together, and what is not established of it."""
    lines = [
        "# Toolchains",
        "",
        "What fits together, under one name: `training.toolchain` in the stack file, `toolchain` in a job file. Made from `facts/toolchains.py` by `make docs`.",
        "",
        "| toolchain | state | framework | SDK | runtime | AMI releases | hardware | image |",
        "| --- | --- | --- | --- | --- | --- | --- | --- |",
        *(_toolchain_row(toolchain) for toolchain in TOOLCHAINS.values()),
        "",
        "A frozen toolchain gets no more fixes from AWS. An AMI release brings the Neuron driver; outside the dates given, the image does not start on it.",
        "",
        "## What was not run on hardware?",
        "",
        "Everything: no Trainium was there to try it on. What the tests run in its place (`make test-frameworks`), and what that leaves open:",
        "",
        "| toolchain | run on processors | not run on hardware |",
        "| --- | --- | --- |",
        *(f"| {' and '.join(f'`{name}`' for name in names)} | {done} | {left} |" for names, done, left in NOT_RUN),
        "",
        "## Processes of a node",
        "",
        "Counts of `workersPerNode` on a whole node with the default logical cores; in bold what is taken without the key.",
        "",
        "| toolchain | " + " | ".join(_types()) + " |",
        "| --- |" + " --- |" * len(_types()),
        *(f"| {name} | " + " | ".join(_workers(toolchain, kind) for kind in _types()) + " |" for name, toolchain in TOOLCHAINS.items()),
        "",
        "## Packages",
        "",
        "| toolchain | Python | packages |",
        "| --- | --- | --- |",
        *(
            f"| {name} | {it.python} | {', '.join(f'{key} {version}' for key, version in it.versions.items())} |"
            for name, it in TOOLCHAINS.items()
        ),
        "",
        "## What is not established, or not supported",
        "",
        "| toolchain | of | |",
        "| --- | --- | --- |",
        *(f"| {name} | {key} | {text} |" for name, toolchain in TOOLCHAINS.items() for key, text in toolchain.marks.items()),
        "",
        "## Sources",
        "",
        "Release notes and documentation of aws-neuron/aws-neuron-sdk, 2.30 to 2.33, read 2026-08 to 2026-11; aws-neuron/deep-learning-containers, 2026-08-17.",
        "",
        "| toolchain | of | source |",
        "| --- | --- | --- |",
        *(f"| {name} | {key} | {text} |" for name, toolchain in TOOLCHAINS.items() for key, text in toolchain.sources.items()),
    ]
    return "\n".join(lines) + "\n"


def _toolchain_row(toolchain: Toolchain) -> str:
    first, last = toolchain.ami_dates
    since = "any" if not int(first) else f"from {first}"
    dates = f"{since}, before {last}" if last else since
    image = f"`{toolchain.image}`" if toolchain.image else f"none is known; build one from {toolchain.build_from}"
    runtime = version_text(toolchain.sdk.runtime)
    hardware = ", ".join(toolchain.workers)
    return f"| `{toolchain.name}` | {toolchain.state} | {toolchain.framework} | {toolchain.sdk.name} | {runtime} | {dates} | {hardware} | {image} |"


def _types() -> list[str]:
    return list(dict.fromkeys(name for toolchain in TOOLCHAINS.values() for name in toolchain.workers))


def _workers(toolchain: Toolchain, instance_type: str) -> str:
    counts = toolchain.workers.get(instance_type, ())
    chosen = toolchain.default_workers(counts) if counts else 0
    return ", ".join(f"**{count}**" if count == chosen else str(count) for count in counts)


def jobs_page(text: str, root: Path) -> str:
    """docs/jobs.md with what the sample becomes on the shipped stack, as it is today."""
    found = _sample(root)
    shown = as_yaml(found.objects[-1:]).splitlines()[:SHOWN_LINES]
    printed = [f"$ trn submit {SAMPLE} --dry-run", found.summary, "...", "---", *shown, "  ..."]
    parts = {
        "sample": f"\n```yaml\n{(root / SAMPLE).read_text().partition(chr(10))[2].strip()}\n```\n",
        "dry-run": "\n```console\n" + "\n".join(printed) + "\n```\n",
        "launchers": "\n" + "\n".join(_launchers()) + "\n",
        "account": "\n" + "\n".join(key_table(Account)) + "\n",
        "variables": "\n" + "\n".join(_variables(found)) + "\n",
    }
    for marker, content in parts.items():
        text = between(text, marker, content)
    return text


def llama_page(text: str) -> str:
    """The page of the recipe with the nodes that each shape needs."""
    types = ("trn1.2xlarge", "trn1.32xlarge", "trn2.3xlarge", "trn2.48xlarge")
    lines = [
        "| shape | parameters | " + " | ".join(types) + " |",
        "| --- | --- |" + " --- |" * len(types),
        *(_nodes_row(name, types) for name in SHAPES if not name.startswith("tiny")),
    ]
    return between(text, "nodes", "\n\n" + "\n".join(lines) + "\n\n")


def _nodes_row(name: str, types: tuple[str, ...]) -> str:
    options = parse(["--size", name])
    cells = []
    for instance in (NEURON_TYPES[kind] for kind in types):
        # Nodes without EFA exchange too slowly to share a model.
        found = memory.smallest(options, instance, 256 if instance.has_efa else 1)
        if found is None:
            cells.append("none fits")
        else:
            nodes, mesh, held = found
            cells.append(
                f"**{nodes}**, tensor {mesh.tensor}, {held.total / memory.GIB:.1f} of {memory.of_core(instance) / memory.GIB:.0f} GiB"
            )
    return f"| `{name}` | {options.shape.parameters / 1e9:.1f} billion | " + " | ".join(cells) + " |"


def _sample(root: Path) -> Rendered:
    settings = settings_of(read_stack_file("dev", root))
    return rendered(read_job(root / SAMPLE), site_of(settings, "dev"), SAMPLE)


def _launchers() -> list[str]:
    rows = (
        f"| [`{it.name}`](launchers/{it.name}.md) | {it.title} | {f'`addons.{it.addon}`' if it.addon else 'nothing'} | {it.take_it} |"
        for it in sorted(launchers(), key=lambda it: it.name != "volcano")
    )
    return ["| launcher | makes | needs | take it when |", "| --- | --- | --- | --- |", *rows]


def _variables(found: Rendered) -> list[str]:
    rows = (f"| `{name}` | {json.dumps(value)[1:-1]} |" for name, value in environment(found.plan).items())
    return ["| variable | value |", "| --- | --- |", *rows]
