"""What of a job with one model on many devices cannot be: its options, its mesh, and the memory of a logical core. Pure."""

from collections.abc import Iterator

from facts.problems import Problem
from training import memory
from training.job import Job
from training.plan import default_workers, nodes_of, toolchain_of
from training.recipes.llama.llama_options import Mesh, OptionError, Options, conflicts, parse
from training.site import Nodes, Site

RECIPE = "llama"
"""The recipe that shares a model, and whose shapes are known."""
SUMS = "docs/recipes/llama.md has the nodes that each shape needs"


def shared_model(job: Job, site: Site) -> Iterator[Problem]:
    """The model can be divided over the job's devices, and its part fits into the memory of each."""
    if job.recipe != RECIPE:
        if job.recipe is not None and job.parallel is not None:
            hint = "leave `parallel` out, or take the recipe `llama`"
            yield Problem("parallel", _said(job), f"the recipe {job.recipe} keeps a whole model on each device", "no key", hint)
        return
    try:
        options = parse([*job.args])
    except OptionError as error:
        yield Problem("args", " ".join(job.args), str(error), hint="docs/recipes/llama.md lists the options")
        return
    found = nodes_of(job, site)
    if found is None:
        return
    devices = job.nodes * _devices_per_node(job, site, found)
    tensor, per_node = job.parallel.tensor if job.parallel else 1, devices // job.nodes
    fsdp = (job.parallel.fsdp if job.parallel else None) or max(devices // tensor, 1)
    if devices % (tensor * fsdp) or per_node % tensor:
        wrong = f"tensor x fsdp must divide the {devices} devices of the job, and tensor the {per_node} of a node"
        yield Problem("parallel", _said(job), wrong, _fitting(devices, per_node), "leave `fsdp` out to take what `tensor` leaves")
        return
    mesh = Mesh(tensor, fsdp, devices // (tensor * fsdp))
    wrong = list(conflicts(options, mesh))
    yield from (
        Problem("parallel", _said(job), text, hint="take other numbers in `parallel`, or other options in `args`") for text in wrong
    )
    if not wrong:
        yield from _memory(job, options, mesh, found)


def _devices_per_node(job: Job, site: Site, nodes: Nodes) -> int:
    """Devices of the mesh on one node: with JAX all logical cores, with PyTorch one for each worker."""
    chips, instance, toolchain = job.devices or nodes.instance.chip_count, nodes.instance, toolchain_of(job, site)
    if toolchain is not None and toolchain.framework == "jax":
        return instance.cores_at(nodes.logical_core_size) * chips // instance.chip_count
    return job.workers_per_node or default_workers(toolchain, nodes, chips, job.start or "torchrun")


def _memory(job: Job, options: Options, mesh: Mesh, nodes: Nodes) -> Iterator[Problem]:
    """The sum of what a core holds, against what it has."""
    held = memory.of_llama(options, mesh)
    if memory.fits(held, nodes.instance, nodes.logical_core_size):
        return
    whole = memory.of_core(nodes.instance, nodes.logical_core_size) / memory.GIB
    has = f"at most {(1 - memory.FREE) * whole:.1f} GiB of the {whole:.0f} GiB of a logical core of {nodes.instance.name}"
    enough = memory.smallest(options, nodes.instance)
    if enough is None:
        hint = f"take a smaller --size, --sequence or --micro; {SUMS}"
    else:
        count, least, _ = enough
        hint = f"it fits on {count} {'node' if count == 1 else 'nodes'} with `parallel: {{tensor: {least.tensor}, fsdp: {least.fsdp}}}`; {SUMS}"
        if not options.checkpoint_activations:
            hint = f"leave --keep-activations out; {hint}"
    wrong = f"{options.size} needs more memory than a core has: {held}, with tensor {mesh.tensor} x fsdp {mesh.fsdp} x data {mesh.data}"
    yield Problem("args", " ".join(job.args), wrong, has, hint)


def _said(job: Job) -> str:
    keys = job.parallel.model_dump(exclude_none=True) if job.parallel else {}
    return ", ".join(f"{key}: {value}" for key, value in keys.items()) or "not there"


def _fitting(devices: int, per_node: int) -> str:
    return "; ".join(f"tensor {tensor} with fsdp {devices // tensor}" for tensor in (1, 2, 4, 8) if per_node % tensor == 0)
