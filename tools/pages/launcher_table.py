"""Makes the one table of launchers: what of a job file each takes, refuses and leaves without effect, found by trying each key on each."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from facts.catalogue import NEURON_TYPES
from facts.problems import Problem
from tools.pages.launcher_pages import made_on, sample, site_for
from training.check import problems
from training.job import Job, JobFileError, parse_job
from training.launchers import launchers
from training.launchers.base import Launcher
from training.site import JobQueue, Nodes, Site

PAGE = "docs/launchers/README.md"
TAKEN, WITHOUT_EFFECT = "yes", "-"
VALUES: Mapping[str, Mapping[str, Any]] = {
    "toolchain": {"toolchain": "jax-2.32"},
    "image": {"image": "123456789012.dkr.ecr.us-west-2.amazonaws.com/own:2.0"},
    "recipe": {"recipe": "bert", "args": ["--data", "generated"], "command": None, "start": None, "toolchain": "xla-2.30", "image": None},
    "args": {"args": ["--steps", "7"]},
    "source": {"source": "."},
    "start": {"start": "none", "toolchain": "none", "image": "123456789012.dkr.ecr.us-west-2.amazonaws.com/own:2.0"},
    "nodes": {"nodes": 3},
    "nodeGroup": {"nodeGroup": "second"},
    "pool": {"pool": "pool"},
    "queue": {"queue": "other"},
    "workersPerNode": {"workersPerNode": 8},
    "parallel": {"parallel": {"tensor": 4, "fsdp": 16}},
    "parameterServers": {"parameterServers": 1, "start": "tensorflow", "nodes": 4},
    "devices": {"devices": 4, "nodes": 1},
    "efa": {"efa": False},
    "mounts": {"mounts": [{"path": "/fsx"}, {"path": "/models", "claim": "models", "readOnly": True}]},
    "environment": {"environment": {"WORDS": "a b"}},
    "data": {"data": {"path": "/fsx/data"}},
    "cache": {"cache": {"path": "/fsx/other-cache"}},
    "checkpoints": {"checkpoints": {"path": "/fsx/other", "keep": 7}},
    "restarts": {"restarts": {"max": 5}},
    "restarts.exitCodes": {"restarts": {"max": 2, "exitCodes": [9]}},
    "restarts.hangAfter": {"restarts": {"max": 2, "hangAfter": "2h"}},
    "rendezvous": {"rendezvous": "etcd"},
    "priority": {"priority": "high"},
    "timeLimit": {"timeLimit": "5h"},
    "ttl": {"ttl": "3d"},
}
"""What a job says for each key, beside what the sample says. A key of one launcher's kind of job is tried with what belongs to it."""
NOT_TRIED = frozenset({"name", "command", "launcher", "logicalCoreSize"})
"""What every job says, and what is of the nodes."""
CLAIMS = "devices by claims"
"""The row of a stack with `addons.neuron.devices: dra`: no key of the file."""


def tried_keys() -> list[str]:
    """Keys of the table, in the order of the job file; one that has no value above is missing from it."""
    names = [info.alias or name for name, info in Job.model_fields.items()]
    return [key for name in names for key in VALUES if key.partition(".")[0] == name]


def page(root: Path) -> str:
    """The table, the reasons below it."""
    found = [Bench.of(launcher, root) for launcher in launchers()]
    reasons: dict[str, int] = {}

    def cell(text: str) -> str:
        return text if text in (TAKEN, WITHOUT_EFFECT) else str(reasons.setdefault(text, len(reasons) + 1))

    rows = [[key, *(cell(bench.outcome(key)) for bench in found)] for key in [*tried_keys(), CLAIMS]]
    lines = [
        "# What of a job file each launcher takes",
        "",
        "Each key was tried on each launcher, on a stack that has all that it needs: made by `make docs`, so that it says what the code does.",
        f"`{TAKEN}`: what is submitted follows the key. `{WITHOUT_EFFECT}`: it changes nothing there. A number: it is refused, for the reason below.",
        "`name`, `command` and `launcher` are every job's; `logicalCoreSize` is of the nodes, or of what is claimed. What a launcher lacks beyond keys is on its own page.",
        "",
        "| key | " + " | ".join(f"[{each.launcher.name}]({each.launcher.name}.md)" for each in found) + " |",
        "| --- |" + " --- |" * len(found),
        *(f"| {'`' + row[0] + '`' if row[0] != CLAIMS else row[0]} | " + " | ".join(row[1:]) + " |" for row in rows),
        "",
        "## Why it is refused",
        "",
        *(f"{number}. {text}" for text, number in reasons.items()),
    ]
    return "\n".join(lines) + "\n"


@dataclass(frozen=True)
class Bench:
    """One launcher with the stack and the job on which keys are tried."""

    launcher: Launcher
    site: Site
    base: Mapping[str, Any]

    @classmethod
    def of(cls, launcher: Launcher, root: Path) -> "Bench":
        """With the sample of the launcher's page."""
        return cls(launcher, _site(launcher, root), sample(launcher, root))

    @cached_property
    def made(self) -> tuple[list[Any], list[Any]]:
        """Of the sample."""
        return made_on(self.launcher, self.base, self.site)

    def outcome(self, key: str) -> str:
        """`yes`, `-`, or why the key is refused."""
        on = replace(self.site, devices="dra", efa_devices="dra") if key == CLAIMS else self.site
        keys = {name: value for name, value in {**self.base, **VALUES.get(key, {})}.items() if value is not None}
        if key == "source" and self.launcher.takes_source:
            return TAKEN  # Its files are read when the job is submitted, and not by the renderers.
        return _refused(keys, on) or (WITHOUT_EFFECT if made_on(self.launcher, keys, on) == self.made else TAKEN)


def _refused(keys: Mapping[str, Any], on: Site) -> str:
    """The first thing that is wrong, with its fix; empty for nothing."""
    try:
        found: list[Problem] = problems(parse_job(dict(keys)), on)
    except JobFileError as error:
        found = list(error.problems)
    return f"{_sentence(found[0].wrong)}: {found[0].hint}" if found else ""


def _sentence(text: str) -> str:
    """With a capital letter, unless it begins with a name."""
    return text[0].upper() + text[1:] if text.split()[0].isalpha() else text


def _site(launcher: Launcher, root: Path) -> Site:
    """The stack of the launcher's page, with a second group, a pool and a queue to name."""
    site = site_for(launcher, root)
    first = next(iter((*site.slurm_groups.values(), *site.node_groups.values())))
    first = replace(first, largest_size=8)
    second = replace(first, name="second")
    pool = Nodes(
        "pool", NEURON_TYPES["trn1.32xlarge"], 0, 8, uses_efa=True, offers_efa=True, release_version=first.release_version, is_pool=True
    )
    groups = {first.name: first, "second": second}
    return replace(
        site, node_groups=groups, slurm_groups=groups if launcher.name == "slurm" else {}, batch_groups=frozenset(groups),
        pools={"pool": pool}, queues={**site.queues, "other": JobQueue("other")}, etcd=site.etcd or "etcd-client:2379",
    )  # fmt: skip
