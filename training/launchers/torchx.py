"""TorchX: a command that makes a Volcano Job by TorchX's own scheduler, with the component and the resources of training/torchx."""

import shlex
from collections.abc import Iterator

from facts.problems import Problem
from training.job import NO_TOOLCHAIN, Job
from training.launchers.base import Document, Launcher, no_objects
from training.launchers.kubeflow import no_exit_codes
from training.launchers.volcano import PHASES, phase
from training.plan import Plan, plan
from training.site import Site

COMPONENT = "training/torchx/component.py:trn_ddp"
"""In a checkout, where TorchX is started."""
CANNOT = ("recipe", "pool", "devices", "environment", "data", "cache", "time_limit", "priority")
"""Keys of a job that the component has no argument for."""


def command(plan: Plan) -> list[str]:
    """The words of TorchX's command line."""
    job, site = plan.job, plan.site
    checkpoints = job.checkpoints.path if job.checkpoints is not None else ""
    options = {
        "name": job.name,
        "image": plan.image,
        "toolchain": plan.toolchain.name if plan.toolchain is not None else NO_TOOLCHAIN,
        "instance": plan.nodes.instance.name,
        "node_group": plan.nodes.name,
        "nodes": str(job.nodes),
        "workers": str(plan.workers_per_node),
        "efa": str(plan.interface_count > 0),
        "claim": plan.mounts[0].claim if plan.mounts else "",
        "mount": plan.mounts[0].path if plan.mounts else "",
        "checkpoints": checkpoints,
        "rendezvous": job.rendezvous,
        "etcd": site.etcd or "",
        "retries": str(job.restarts.max),
    }
    given = [word for name, value in options.items() if value for word in (f"--{name}", value)]
    no_claim = [] if plan.mounts else ["--claim", ""]
    settings = f"namespace={site.namespace},queue={plan.queue},validate_spec=False"
    # An empty workspace: TorchX otherwise builds an image with Docker.
    return ["torchx", "run", "--workspace", "", "-s", "kubernetes", "-cfg", settings, COMPONENT, *given, *no_claim, "--", *plan.command]


def documents(job: Job, site: Site) -> list[Document]:
    """The command, as a script."""
    name = f"{job.name}.torchx.sh"
    return [
        Document(
            name,
            f"#!/bin/sh\nPYTHONPATH=. exec {shlex.join(command(plan(job, site)))}\n",
            f"sh {name}   # in the checkout, with trn[torchx]",
        )
    ]


def problems(job: Job, site: Site) -> Iterator[Problem]:
    """What the component has no argument for."""
    yield from no_exit_codes(job, "job of TorchX's")
    names = {field: info.alias or field for field, info in Job.model_fields.items()}
    for key in CANNOT:
        if key in job.model_fields_set and getattr(job, key):
            yield Problem(names[key], "...", "TorchX's component has no such argument", hint=f"leave `{names[key]}` out, or take volcano")
    if job.start is not None:
        yield Problem(
            "start", job.start, "TorchX's component starts workers as the toolchain does", hint="leave `start` out, or take volcano"
        )
    if len(job.mounts) > 1:
        yield Problem("mounts", len(job.mounts), "TorchX's component mounts one claim", "1", "keep one, or take volcano")


LAUNCHER = Launcher(
    name="torchx",
    title="TorchX job",
    takes_source=(),
    take_it="TorchX is your tool: its component makes the same pods; it is how the original blueprint ran BERT, with etcd",
    lacks=(
        "most keys of a job file: its component has arguments for a part of them",
        "`ttl`: the Volcano Job stays until it is deleted",
        "large jobs: each node is a task of its own in one object",
        "restarts that Volcano counts right, as TorchX warns itself (volcano-sh/volcano#1651)",
        "a stable release: 0.7.0 cannot be installed beside this program's Kubernetes client, so a nightly is pinned",
    ),
    restarts=(
        "TorchX asks for `RetryPolicy.APPLICATION`: Volcano restarts the whole job, `restarts.max` times, as far as Volcano "
        "counts such restarts right."
    ),
    tried=(
        "Run in the tests by TorchX's local scheduler, with c10d and with etcd (`tests/frameworks/test_torchx.py`). Its Volcano "
        "Job is compared with that of the launcher `volcano`, which is run, and was not submitted by TorchX itself."
    ),
    status="As Volcano's: `status.state.phase`.",
    states=PHASES,
    sources=(
        "meta-pytorch/torchx schedulers/kubernetes_scheduler.py, nightly 2026.10.26",
        "training/torchx/component.py",
    ),
    needs=("this checkout, with the extra `trn[torchx]`",),
    render=no_objects,
    phase=phase,
    addon="volcano",
    documents=documents,
    problems=problems,
)
