"""Slurm of the add-on: a job script for the partition of a node group, whole nodes, in the image of the partition's workers."""

from collections.abc import Iterator

from facts.problems import Problem, missing
from training.job import SHARED_PATH, Job
from training.launchers import sbatch
from training.launchers.base import Document, Launcher, no_objects
from training.launchers.parts import no_claims
from training.plan import Plan, nodes_of, plan
from training.site import Site

GRES = "neuron"
"""What the add-on calls Neuron chips, with the chip's name in lower case as the type."""


def about(plan: Plan) -> str:
    """The job in a line."""
    toolchain = plan.toolchain.name if plan.toolchain is not None else "no toolchain"
    return (
        f"{plan.job.name}: {plan.job.nodes * plan.workers_per_node} workers on {plan.job.nodes} x {plan.nodes.instance.name}, {toolchain}"
    )


def gres(plan: Plan) -> str:
    """All chips of a node."""
    instance = plan.nodes.instance
    return f"{GRES}:{instance.chip_name.lower()}:{instance.chip_count}"


def documents(job: Job, site: Site) -> list[Document]:
    """The script. The add-on's partitions are called as their node groups."""
    found = plan(job, site)
    name = f"{job.name}.sbatch"
    return [Document(name, sbatch.script(found, about(found), {"partition": found.nodes.name, "gres": gres(found)}), f"sbatch {name}")]


def problems(job: Job, site: Site) -> Iterator[Problem]:
    """What is the partition's and no job's."""
    if nodes_of(job, site) is None:
        yield missing("launcher", "Slurm has no node group", hint="name one in `addons.slurm.nodeGroups` of the stack file")
    yield from no_claims(site, "the pods of Slurm's workers ask the plug-in for the devices of their nodes (addons/slurm)")
    yield from whole_nodes(job, "Slurm gives a job its nodes as a whole")
    if job.image is not None:
        hint = "leave `image` out, and give the partition's workers that image"
        yield Problem("image", job.image, "a job of Slurm's runs in the image of its workers", hint=hint)
    for index, mount in enumerate(job.mounts if "mounts" in job.model_fields_set else ()):
        if mount.claim is not None or mount.path != SHARED_PATH:
            hint = f"leave `mounts` out: Slurm's nodes have the stack's file system at {SHARED_PATH}"
            yield Problem(f"mounts[{index}]", mount.path, "a job of Slurm's mounts nothing of its own", hint=hint)


def whole_nodes(job: Job, why: str) -> Iterator[Problem]:
    """Refuses parts of a node."""
    if job.devices is not None:
        yield Problem("devices", job.devices, why, hint="leave `devices` out")


LAUNCHER = Launcher(
    name="slurm",
    title="Slurm job",
    takes_source=("packed",),
    take_it="people and scripts of yours speak Slurm; nodes are taken whole, by partition",
    lacks=(
        "the image: a job runs in that of the Slurm workers, which must bring the toolchain",
        "queues and PriorityClasses of Kubernetes: Slurm has partitions and priorities of its own",
        "a time limit of all starts together: `timeLimit` holds for each start, and ends the job",
        "`ttl`: Slurm forgets ended jobs by its own settings",
        "all of the grace when it is cancelled: Slurm waits `KillWait`, 30 seconds unless slurm.conf says otherwise",
    ),
    restarts=(
        "The script puts the job back into its queue (`scontrol requeue`) while it has started fewer than `restarts.max` times "
        "again (`SLURM_RESTART_COUNT`), unless its time limit has passed or its exit code ends it. After a lost node Slurm "
        "requeues it by itself (`--requeue`)."
    ),
    tried=(
        "Not run: Slurm's controller is no Go module and is in no registry that the tests use. Its script is checked as text, "
        "and the entry script reads Slurm's own variables (`tests/training/test_launcher_variables.py`)."
    ),
    status="`job_state` of `squeue --json` or `scontrol show job --json`.",
    states=sbatch.PHASES,
    sources=("SchedMD's manual pages of sbatch, srun, sbcast, scontrol and squeue, Slurm 26.05",),
    needs=(
        "`addons.slurm.nodeGroups` names a group: its nodes are Slurm's alone",
        "`sbatch` on the login pod, with the printed script",
    ),
    render=no_objects,
    phase=sbatch.phase,
    addon="slurm",
    documents=documents,
    problems=problems,
)
