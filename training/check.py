"""What of a job a site cannot run: every mistake at once, each with its fix, before anything is submitted. Pure."""

from collections.abc import Callable, Iterator
from difflib import get_close_matches
from posixpath import normpath

from facts import neuron_releases
from facts.neuron_releases import version_text
from facts.node_resources import WORKER_CPU_MILLIS, WORKER_MEMORY_MIB, allocatable, chip_counts
from facts.problems import Problem, missing
from facts.toolchains import (
    Toolchain,
    allowed_workers,
    driver_conflict,
    hardware_conflict,
    image_conflict,
    running_on,
    workers_conflict,
)
from facts.typed import typed
from training import launchers, payload
from training.duration import seconds
from training.entry.own_source import script_of
from training.job import Job
from training.large_model import shared_model
from training.plan import base_image_of, launcher_of, mounts_of, nodes_of, toolchain_of
from training.site import Nodes, Site

Rule = Callable[[Job, Site], Iterator[Problem]]
STACK = "the stack file"
NO_IMAGE = ("slurm", "parallelcluster")
"""Launchers whose processes begin in a folder of the node's, where anything may be."""
ULTRA_SERVERS = frozenset({"trn2u.48xlarge"})
"""Types whose nodes the DRA driver hands out as devices of an UltraServer (`neuron_node`), in sets of 1, 2 or 4 that have to be placed
together (aws-neuron/aws-neuron-sdk deploy/eks/dra.rst, example 3; deploy/eks/ultraserver-operator.rst)."""


def problems(job: Job, site: Site) -> list[Problem]:
    """Everything that is wrong with a job on a site; empty for one that can be submitted."""
    site = site.seen_by(launcher_of(job, site))
    return [problem for rule in RULES for problem in rule(job, site)]


def launcher(job: Job, site: Site) -> Iterator[Problem]:
    """The launcher is one, and the cluster has what it needs."""
    name = launcher_of(job, site)
    if name not in launchers.names():
        close = get_close_matches(name, launchers.names(), n=1)
        hint = f"did you mean `{close[0]}`?" if close else "docs/jobs.md says when to take which"
        yield Problem("launcher", name, "unknown launcher", ", ".join(launchers.names()), hint)
        return
    found = launchers.launcher(name)
    if found.addon is not None and found.addon not in site.addons:
        hint = f"set `addons.{found.addon}.enabled: true` in {STACK} and run `{typed('pulumi up')}`, or take another launcher"
        yield Problem("launcher", name, f"the cluster {site.cluster} has no {found.title}", hint=hint)
        return
    yield from found.problems(job, site)


def nodes(job: Job, site: Site) -> Iterator[Problem]:
    """The group or pool is there, and may have as many nodes."""
    wanted = launchers.launcher(name).addon if (name := launcher_of(job, site)) in launchers.names() else None
    if wanted is not None and wanted not in site.addons:
        return  # Without its add-on a launcher has no nodes of its own: that is one mistake, and reported.
    if job.node_group is not None and job.node_group not in site.node_groups:
        yield _unknown("nodeGroup", job.node_group, "node group", site, list(site.node_groups))
    if job.pool is not None and job.pool not in site.pools:
        yield _unknown("pool", job.pool, "Karpenter pool", site, list(site.pools))
    if job.devices == 0:
        yield from _processors(job, site)
        return
    found = nodes_of(job, site)
    if found is None:
        if job.node_group is None and job.pool is None:
            yield missing("nodeGroup", f"the cluster {site.cluster} has no Neuron nodes", hint=f"add a group to `nodeGroups` in {STACK}")
        return
    if job.nodes > found.largest_size:
        key = f"{found.path}.{'maxNodes' if found.is_pool else 'maxSize'}"
        hint = f"set `nodes` to {found.largest_size} or less, or raise `{key}` in {STACK}"
        yield Problem("nodes", job.nodes, f"more nodes than {found.name} may have", f"1 to {found.largest_size}", hint)


def _processors(job: Job, site: Site) -> Iterator[Problem]:
    """A job without devices runs on the ordinary nodes, where its launcher has them and its workers have room."""
    for path, name in (("nodeGroup", job.node_group), ("pool", job.pool)):
        if name is not None:
            yield Problem(path, name, "a job without devices runs on the ordinary nodes", hint=f"leave `{path}` out, or `devices: 0`")
    found, by = nodes_of(job, site), launcher_of(job, site)
    if found is None or by == "torchx":
        hint = "take `launcher: volcano`, or jobset, trainjob, indexed-job or a Kubeflow operator; or leave `devices` out"
        yield Problem("devices", 0, f"{by} runs jobs on Neuron nodes alone", hint=hint)
        return
    room = allocatable(found.instance, efa=False)
    most = min(room.cpu_millis // WORKER_CPU_MILLIS, room.memory_mib // WORKER_MEMORY_MIB)
    if (job.workers_per_node or 1) > most:
        wrong = f"{found.instance.name}, the type of the ordinary nodes, has no room for so many workers, of a core and 4 GiB each"
        hint = f"take more `nodes`, or a larger `coreNodes.instanceType` in {STACK}"
        yield Problem("workersPerNode", job.workers_per_node, wrong, f"1 to {most}", hint)


def _unknown(path: str, name: str, what: str, site: Site, known: list[str]) -> Problem:
    close = get_close_matches(name, known, n=1)
    hint = f"did you mean `{close[0]}`?" if close else f"leave `{path}` out to take the first that can run the job"
    return Problem(path, name, f"the cluster {site.cluster} has no such {what}", ", ".join(known) or "none", hint)


def devices(job: Job, site: Site) -> Iterator[Problem]:
    """As many chips as the nodes have, connected among each other; EFA where there is EFA."""
    found = nodes_of(job, site)
    if found is None:
        return
    instance = found.instance
    if job.devices == 0:
        if job.efa:
            yield Problem("efa", True, "a job without devices takes no EFA interfaces", hint="leave `efa` out")
        return
    if site.devices is None:
        hint = f"set `addons.neuron.enabled: true` in {STACK}"
        yield missing("devices", f"pods of the cluster {site.cluster} cannot ask for Neuron devices", hint=hint)
    elif site.devices == "dra" and instance.name in ULTRA_SERVERS:
        wrong = (
            f"the DRA driver hands out {instance.name} as nodes of an UltraServer, and which of them belong together no launcher here says"
        )
        hint = f"set `addons.neuron.devices: device-plugin` in {STACK}, or take another node group"
        yield missing("devices", wrong, hint=hint)
    yield from _logical_cores(job, site, found)
    if job.devices is not None and job.devices not in chip_counts(instance):
        allowed = ", ".join(map(str, chip_counts(instance)))
        hint = "leave `devices` out to take whole nodes"
        yield Problem("devices", job.devices, f"not a number of chips that {instance.name} gives together", allowed, hint)
    if job.efa and not found.interface_count:
        wrong = f"nodes of {found.name} offer no EFA interfaces to pods"
        if not instance.has_efa:
            wrong = f"{instance.name} has no EFA"
        hint = f"leave `efa` out, or give {found.path} EFA in {STACK}"
        yield Problem("efa", True, wrong, hint=hint)


def _logical_cores(job: Job, site: Site, found: Nodes) -> Iterator[Problem]:
    """A size of logical cores that the chips have, and that the node or the driver sets."""
    size, instance = job.logical_core_size, found.instance
    if size is None or instance.chip is None:
        return
    sizes = instance.chip.logical_sizes
    own = site.nodes(None, found.name) if found.is_pool else site.nodes(found.name, None)
    set_there = instance.logical_size(own.logical_core_size if own is not None else None)
    if size not in sizes:
        allowed = ", ".join(map(str, sizes))
        yield Problem("logicalCoreSize", size, f"no size of a logical core of {instance.name}", allowed, "leave it out")
    elif site.devices != "dra" and size != set_there:
        wrong = f"nodes of {found.name} have logical cores of {set_there}, and only claims set another size for one job"
        hint = f"leave it out, or set `addons.neuron.devices: dra` in {STACK}, or another `logicalCoreSize` for {found.path}"
        yield Problem("logicalCoreSize", size, wrong, str(set_there), hint)


def toolchain(job: Job, site: Site) -> Iterator[Problem]:
    """The toolchain runs on the hardware, its image on the driver, and as many processes as are asked for."""
    found, group = toolchain_of(job, site), nodes_of(job, site)
    if found is None or group is None or job.devices == 0:
        return
    path = "toolchain" if job.toolchain is not None else "toolchain (of the stack)"
    conflict = hardware_conflict(found, group.instance)
    if conflict is not None:
        fitting = running_on(group.instance)
        hint = f"take another toolchain, or a node group with one of {', '.join(found.workers)}"
        yield Problem(path, found.name, conflict, ", ".join(fitting) or f"none runs on {group.instance.name}", hint)
        return
    yield from _driver(found, group, path)
    yield from _workers(job, found, group)


def _driver(found: Toolchain, group: Nodes, path: str) -> Iterator[Problem]:
    try:
        driver = neuron_releases.ami_driver(group.release_version)
    except ValueError:
        return  # the stack's own check reports it
    conflict = driver_conflict(found, driver)
    if conflict is None:
        return
    first, last = found.ami_dates
    dates = f"AMI releases of {first} or later" + (f", before {last}" if last else "")
    brings = group.release_version or "the newest AMI release"
    wrong = f"{found.name} does not start on {group.name}: {brings} brings driver {version_text(driver)}, its image has runtime"
    key = "addons.karpenter.amiVersion" if group.is_pool else f"{group.path}.releaseVersion"
    hint = f"pin `{key}` in {STACK} to {dates}, or take another toolchain"
    yield Problem(path, found.name, f"{wrong} {version_text(found.sdk.runtime)}, and {conflict}", dates, hint)


def _workers(job: Job, found: Toolchain, group: Nodes) -> Iterator[Problem]:
    chips = job.devices or group.instance.chip_count
    if job.workers_per_node is None or chips not in chip_counts(group.instance) or job.start == "none":
        return
    conflict = workers_conflict(found, group.instance, job.workers_per_node, chips, group.logical_core_size)
    if conflict is not None:
        allowed = ", ".join(map(str, allowed_workers(found, group.instance, chips, group.logical_core_size)))
        hint = "take one of these numbers, or leave `workersPerNode` out"
        yield Problem("workersPerNode", job.workers_per_node, conflict, allowed, hint)


def image(job: Job, site: Site) -> Iterator[Problem]:
    """There is an image, pinned, and of the toolchain as far as its name says."""
    found = toolchain_of(job, site)
    name = base_image_of(job, site, found)
    if name is None:
        if found is None:
            wrong = "neither `image` nor `toolchain` is there, and the stack names no toolchain"
            yield missing("image", wrong, hint=f"set `toolchain`, or `training.toolchain` in {STACK}")
        else:
            wrong = f"`image` is missing, and no image of {found.name} is known"
            yield missing("image", wrong, hint=f"build one from {found.build_from}: `trn image build`")
        return
    tag = name.rpartition("/")[2].partition("@")[0].partition(":")[2]
    if "@" not in name and tag in ("", "latest"):
        hint = "name a tag or a digest: another image under the same name would end the run that resumes"
        yield Problem("image", name, "an image that is not pinned", "NAME:TAG with a tag other than latest, or NAME@DIGEST", hint)
    conflict = image_conflict(found, name) if found is not None else None
    if conflict is not None:
        hint = (
            f"leave `image` out to take {found.image}" if found is not None and found.image else "take another toolchain, or another image"
        )
        yield Problem("image", name, conflict, hint=hint)


def queue(job: Job, site: Site) -> Iterator[Problem]:
    """The queue is one of the stack's, and takes jobs."""
    if job.queue is None:
        return
    if job.queue not in site.queues:
        known = [found.name for found in site.queues.values() if found.takes_jobs]
        hint = f"leave `queue` out, or add it to `addons.volcano.queues` in {STACK}"
        yield Problem("queue", job.queue, f"the cluster {site.cluster} has no such queue", ", ".join(known) or "none", hint)
    elif not site.queues[job.queue].takes_jobs:
        known = [found.name for found in site.queues.values() if found.takes_jobs]
        yield Problem("queue", job.queue, "a queue with queues below it takes no jobs", ", ".join(known), "name one below it")


def mounts(job: Job, site: Site) -> Iterator[Problem]:
    """Claims are there as far as the stack knows, and data, cache and checkpoints are on one of them."""
    if site.claim is None:
        for index, mount in enumerate(job.mounts if "mounts" in job.model_fields_set else ()):
            if mount.claim is None:
                hint = f"name a claim of the namespace {site.namespace} under `claim`, or set `storage.lustre.enabled: true` in {STACK}"
                yield missing(f"mounts[{index}].claim", f"the cluster {site.cluster} has no file system of its own to mount", hint=hint)
    mounted = mounts_of(job, site)
    writable = [mount.path for mount in mounted if not mount.read_only]
    anywhere = [mount.path for mount in mounted]
    if job.data is not None and not _below(job.data.path, anywhere):
        yield _nowhere("data.path", job.data.path, anywhere)
    if job.checkpoints is not None and not _below(job.checkpoints.path, writable):
        yield _nowhere("checkpoints.path", job.checkpoints.path, writable)
    if job.cache is not None and job.cache.path.startswith("/") and not _below(job.cache.path, writable):
        yield _nowhere("cache.path", job.cache.path, writable)


def _below(path: str, folders: list[str]) -> bool:
    return any(path == folder or path.startswith(f"{folder.rstrip('/')}/") for folder in folders)


def _nowhere(path: str, value: str, folders: list[str]) -> Problem:
    hint = "put it below one of the mounts, or add a mount: what is elsewhere is gone with the pod"
    return Problem(path, value, "not on a mount that lasts", ", ".join(folders) or "there is none", hint)


def recipe(job: Job, site: Site) -> Iterator[Problem]:
    """The recipe is one of the program's."""
    if job.recipe is not None and job.recipe not in payload.recipes():
        close = get_close_matches(job.recipe, payload.recipes(), n=1)
        hint = f"did you mean `{close[0]}`?" if close else "docs/jobs.md lists them; a script of yours is run by `command`"
        yield Problem("recipe", job.recipe, "unknown recipe", ", ".join(payload.recipes()) or "none", hint)


def data(job: Job, site: Site) -> Iterator[Problem]:
    """A recipe that trains on text is told which: it would end at once in the pod."""
    is_told = job.data is not None or any(word.partition("=")[0] == "--data" for word in job.args)
    if job.recipe in payload.recipes() and payload.reads_data(job.recipe) and not is_told:
        hint = f"`data: {{path: /fsx/data/SET}}` of a set that `{typed('trn data prepare')}` made (docs/data.md), or `args: [--data, generated]` for made-up text"
        yield missing("data", f"the recipe {job.recipe} is told no data", hint=hint)


def source(job: Job, site: Site) -> Iterator[Problem]:
    """The launcher brings the job's own files to every process."""
    name = launcher_of(job, site)
    if job.source is None or name not in launchers.names():
        return
    found = launchers.launcher(name)
    if not found.takes_source:
        hint = "leave `source` out and put the files on the file system, or take another launcher"
        yield Problem("source", job.source, f"a {found.title} brings no files of yours to its pods", hint=hint)
    elif site.source is not None and site.source.image is not None and "image" not in found.takes_source:
        hint = "put what is large on the file system, or let git ignore it"
        yield Problem("source", job.source, f"too large for a {found.title}, which runs no image", hint=hint)


def command_file(job: Job, site: Site) -> Iterator[Problem]:
    """The file that the command runs is somewhere: among the job's own, or in an image of yours; a toolchain's image has none of yours."""
    script = script_of(job.command) if job.command else None
    if script is None or script.startswith("/"):
        return
    key, words = f"command[{job.command.index(script)}]", normpath(script)
    if job.source is None and job.image is None and launcher_of(job, site) not in NO_IMAGE:
        hint = f"`source: .` brings the job file's folder into the pods, `{typed('trn run')}` a script without a job file; or name the file on the file system, such as /fsx/train.py"
        yield Problem(key, script, "the toolchain's image has no such file, and the job brings none", hint=hint)
    elif job.source is not None and site.source is not None and words not in site.source.paths:
        close = get_close_matches(words, site.source.paths, n=1)
        hint = (
            f"did you mean `{close[0]}`?"
            if close
            else "name a file by its path within `source`, where the command begins; what git ignores stays out"
        )
        shown = ", ".join(site.source.paths[:8]) + (", ..." if len(site.source.paths) > 8 else "")
        yield Problem(key, script, f"`source: {job.source}` has no such file", shown, hint)


def rendezvous(job: Job, site: Site) -> Iterator[Problem]:
    """etcd is there where the workers are to meet by it."""
    if job.rendezvous == "etcd" and site.etcd is None:
        hint = f"set `addons.etcd.enabled: true` in {STACK}, or take c10d"
        yield Problem("rendezvous", "etcd", f"the cluster {site.cluster} has no etcd", "c10d", hint)


def block(job: Job, site: Site) -> Iterator[Problem]:
    """A job on a capacity block has the time to save before its nodes are terminated, or ends before they are drained."""
    found = nodes_of(job, site)
    if found is None or found.block is None:
        return
    use = found.block
    if job.checkpoints is not None and seconds(job.checkpoints.grace) > use.to_save.total_seconds():
        minutes = int(use.to_save.total_seconds() // 60)
        wrong = f"nodes of {found.name} are terminated {minutes} minutes after they begin to be drained, before the checkpoint is written"
        key = f"; raise `{found.path}.capacityBlock.checkpointMinutes` in {STACK}" if not found.is_pool else ""
        yield Problem("checkpoints.grace", job.checkpoints.grace, wrong, f"at most {minutes}m", f"write smaller checkpoints{key}")
    if job.checkpoints is None and job.time_limit is not None and seconds(job.time_limit) > use.usable.total_seconds():
        hours = int(use.usable.total_seconds() // 3600)
        wrong = f"the capacity block of {found.name} has nodes for {hours} hours, and a job without `checkpoints` starts anew after them"
        hint = "set `checkpoints`, with which it goes on in the next block, or lower the limit"
        yield Problem("timeLimit", job.time_limit, wrong, f"at most {hours}h", hint)


RULES: tuple[Rule, ...] = (
    launcher, nodes, devices, toolchain, image, queue, mounts, recipe, data, source, command_file, shared_model, rendezvous, block,
)  # fmt: skip
"""In the order in which their findings are shown."""
