"""TorchX: a command that makes a Volcano Job by TorchX's own scheduler, with the component and the resources of training/torchx."""

import json
import shlex
from collections.abc import Iterator

from facts.problems import Problem
from training.job import Job
from training.launchers.base import Document, Launcher, no_objects
from training.launchers.kubeflow import no_exit_codes
from training.launchers.parts import no_claims
from training.launchers.volcano import PHASES, phase
from training.plan import Plan, plan
from training.site import Site

COMPONENT = "training/torchx/component.py:trn_job"
"""In a checkout, where TorchX is started. `trn_ddp` beside it is for commands that are typed by hand, without a job file."""


def command(plan: Plan) -> list[str]:
    """The words of TorchX's command line."""
    job, site, nodes = plan.job, plan.site, plan.nodes
    options = {
        "job": json.dumps(job.model_dump(mode="json", by_alias=True, exclude_unset=True, exclude={"launcher", "ttl"})),
        "instance": nodes.instance.name,
        "pool" if nodes.is_pool else "node_group": nodes.name,
        "efa": str(nodes.interface_count > 0),
        "logical_core_size": str(nodes.logical_core_size or ""),
        "toolchain": plan.toolchain.name if plan.toolchain is not None else "",
        "image": plan.image,
        "claim": site.claim or "",
        "etcd": site.etcd or "",
    }
    given = [word for name, value in options.items() if value for word in (f"--{name}", value)]
    settings = f"namespace={site.namespace},queue={plan.queue},validate_spec=False"
    # An empty workspace: TorchX otherwise builds an image with Docker.
    return ["torchx", "run", "--workspace", "", "-s", "kubernetes", "-cfg", settings, COMPONENT, *given]


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
    """What TorchX's Volcano Job cannot say."""
    yield from no_exit_codes(job, "job of TorchX's")
    why = "TorchX gives each node's container a name of its own, and an overlay knows none of them (kubernetes_scheduler.py)"
    yield from no_claims(site, why)


LAUNCHER = Launcher(
    name="torchx",
    title="TorchX job",
    takes_source=(),
    take_it="TorchX is your tool: its component makes the same pods; it is how the original blueprint ran BERT, with etcd",
    lacks=(
        "claims of devices: its overlay is one for all nodes, and the container's name is another on each (kubernetes_scheduler.py)",
        "exit codes that end the job",
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
