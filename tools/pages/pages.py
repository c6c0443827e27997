"""Makes the pages under docs/ that come from the code: schemas, configuration keys, hardware tables.

`make docs` writes them; a test compares them with what is written.
"""

import io
import json
import multiprocessing
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

from rich.console import Console

from facts.catalogue import CHIP_SOURCES, NEURON_TYPES, SOURCES
from facts.efa import LAYOUTS, plan_interfaces, pod_capacity
from facts.names import CLUSTER_TAG, STACK_TAG
from stacks.namespace import NAMESPACE
from stacks.settings import Settings
from tools.pages import (
    architecture,
    change_table,
    cluster_picture,
    destroy_time,
    job_pages,
    launcher_pages,
    launcher_table,
    monitoring_page,
    practice_page,
    report_schema,
)
from tools.pages.commands import operations_page
from tools.pages.configuration_tasks import task_lines
from tools.pages.key_table import key_table
from tools.pages.marked import between
from trn.cli.text_files import write_text
from trn.engine.program import rehearse_stack
from trn.engine.stack_file import read_stack_file
from trn.rehearsal.rules import book
from trn.rehearsal.summary import print_summary

ROOT = Path(__file__).parent.parent.parent


def makers() -> dict[str, Callable[[], str]]:
    """File name to what makes its text. In the README only the parts between its markers are made here."""
    return {
        "docs/config.schema.json": lambda: _json(configuration_schema()),
        "docs/report.schema.json": lambda: _json(report_schema.report_schema()),
        "docs/configuration.md": configuration_page,
        "docs/hardware.md": hardware_page,
        "docs/job.schema.json": lambda: _json(job_pages.job_schema()),
        "docs/job-file.md": job_pages.job_file_page,
        "docs/jobs.md": lambda: job_pages.jobs_page((ROOT / "docs/jobs.md").read_text(), ROOT),
        "docs/gpu-to-trainium.md": lambda: job_pages.script_page((ROOT / "docs/gpu-to-trainium.md").read_text(), ROOT),
        "docs/recipes/llama.md": lambda: job_pages.llama_page((ROOT / "docs/recipes/llama.md").read_text()),
        "docs/toolchains.md": job_pages.toolchains_page,
        launcher_table.PAGE: lambda: launcher_table.page(ROOT),
        "docs/rules.md": book.page,
        "docs/operations.md": lambda: operations_page() + report_schema.shape_section(),
        "docs/monitoring.md": monitoring_page.page,
        "docs/rehearsal.md": lambda: destroy_time.page((ROOT / "docs/rehearsal.md").read_text(), ROOT),
        "docs/architecture.svg": architecture.picture,
        "docs/cluster.svg": cluster_picture.picture,
        "README.md": lambda: readme((ROOT / "README.md").read_text()),
    }


def pages() -> dict[str, str]:
    """File name to text, those of the launchers among them."""
    return {**{name: make() for name, make in makers().items()}, **launcher_pages.pages(ROOT)}


def slow_pages() -> dict[str, str]:
    """The same of those that are a rehearsal for each line, made by several processes; tests compare them a part at a time."""
    # Fresh processes: the recorder's threads and loops are not to be inherited.
    with ProcessPoolExecutor(mp_context=multiprocessing.get_context("spawn")) as pool:
        practice = pool.submit(practice_page.page)
        return {"docs/changes.md": change_table.page(pool), "docs/practice.md": practice.result()}


def readme(text: str) -> str:
    """The README with what a rehearsal of the dev stack prints, and what it costs, as they are today."""
    report = rehearse_stack(read_stack_file("dev", ROOT)).report
    written = [Path("build/rehearsal") / name for name in ("report.json", "timeline.svg", "index.html")]
    console = Console(file=io.StringIO(), width=110, no_color=True, highlight=False, force_terminal=True, color_system=None)
    with console.capture() as captured:
        print_summary(console, report, written)
    printed = "\n".join(line.rstrip() for line in captured.get().strip().splitlines())
    text = between(text, "rehearsal", f"\n```text\n{printed}\n```\n")
    text = between(text, "running", f"{report.cost.now.usd_per_hour:.2f}")
    text = between(text, "full", f"{report.cost.full_size.usd_per_hour:.2f}")
    return between(text, "idle", f"{report.cost.idle.usd_per_hour:.2f}")


def configuration_schema() -> dict[str, Any]:
    """JSON Schema of a whole `Pulumi.NAME.yaml`, for editors that complete YAML."""
    schema = Settings.model_json_schema(by_alias=True)
    properties = {f"{NAMESPACE}:{key}": value for key, value in schema["properties"].items()}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$defs": schema["$defs"],
        "title": "Stack configuration of a Trainium cluster",
        "type": "object",
        "properties": {
            "config": {
                "type": "object",
                "properties": properties,
                "required": [f"{NAMESPACE}:{key}" for key in schema["required"]],
                # A misspelt key of ours is marked; keys of providers are not ours to judge.
                "patternProperties": {f"^(?!{NAMESPACE}:)": True},
                "additionalProperties": False,
            }
        },
    }


def configuration_page() -> str:
    """What people want, with the lines that do it, then every key with type, default and effect."""
    introduction = (
        "What to write in `Pulumi.NAME.yaml`, the stack file: first by what you want, then [every key](#every-key). Made from the code by"
        " `make docs`; each example is read by a test, as an addition to `Pulumi.dev.yaml`. `trn init NAME` writes a whole file from a few"
        " answers, or from a ready-made one (`--from`), and `trn rehearse change` says what a change does to a running cluster."
    )
    before = (
        "# Configuration",
        "",
        introduction,
        "",
        *task_lines(),
        "## Every key",
        "",
        "Below `config:`, each with the prefix `trn:`.",
        f"Everything is also tagged `{CLUSTER_TAG}: NAME` and `{STACK_TAG}: ORGANIZATION/PROJECT/STACK`.",
        "",
        *key_table(Settings),
    )
    return "\n".join(before) + "\n"


def hardware_page() -> str:
    """Instance types, EFA layouts, and where each figure is from."""
    lines = [
        "# Hardware",
        "",
        "What the catalogue knows of each instance type. Made from `facts/` by `make docs`.",
        "",
        "| type | chips | NeuronCores (physical / seen) | device memory | vCPU | memory | cards | EFA | network | pods | USD/h | zone ids |",
        "| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |",
    ]
    for name, item in NEURON_TYPES.items():
        price = "none listed" if item.price_usd_per_hour is None else f"{item.price_usd_per_hour:g}"
        zones = ", ".join((*item.offered_zone_ids, *item.offered_regions))
        lines.append(
            f"| {name} | {item.chip_count} {item.chip_name} | {item.physical_core_count} / {item.logical_core_count} | {item.device_memory_gib} GiB"
            f" | {item.vcpu_count} | {item.memory_gib} GiB | {item.network_card_count} | {item.efa_count} | {item.network_gbps:g} Gbps"
            f" | {item.max_pods} | {price} | {zones} |"
        )
    lines += ["", "## EFA layouts", "", "Interfaces of a node as card.device kind, and the pods that card 0 then has addresses for.", ""]
    lines += ["| type | layout | interfaces | pods |", "| --- | --- | --- | --- |"]
    for name, item in NEURON_TYPES.items():
        for layout in LAYOUTS if item.has_efa else ():
            interfaces = plan_interfaces(item, layout)
            shown = ", ".join(f"{part.card}.{part.device} {part.kind}" for part in interfaces[:3])
            more = f", ... {len(interfaces)} in all" if len(interfaces) > 3 else ""
            lines.append(f"| {name} | `{layout}` | {shown}{more} | {pod_capacity(item, interfaces)} |")
    lines += ["", "## Sources", "", "| figure | source |", "| --- | --- |", *(f"| `{key}` | {text} |" for key, text in SOURCES.items())]
    lines += [f"| `{key}` of a chip | {text} |" for key, text in CHIP_SOURCES.items()]
    return "\n".join(lines) + "\n"


def _json(value: dict[str, Any]) -> str:
    return json.dumps(value, indent=2) + "\n"


def write() -> None:
    """Write all pages."""
    for name, text in {**pages(), **slow_pages()}.items():
        write_text(ROOT / name, text, "make room there")


if __name__ == "__main__":
    write()
