"""A job on one cluster: everything that its file leaves open, filled in from the site. Renderers and checks start from it."""

from collections.abc import Iterable
from dataclasses import dataclass, replace

from facts.device_claims import Claimed
from facts.node_resources import Share, job_share, processor_share
from facts.toolchains import TOOLCHAINS, Start, Toolchain, allowed_workers
from training import payload
from training.job import NO_TOOLCHAIN, Job
from training.site import Nodes, Site

DEFAULT_LAUNCHER, WITHOUT_GANG = "volcano", "jobset"
"""Launcher of a job that names none: where Volcano is, and where it is not."""
SCRIPTS = "/trn"
"""Where the entry script and the recipe's files are mounted."""


@dataclass(frozen=True)
class Mounted:
    """A claim of the cluster in the container."""

    claim: str
    path: str
    read_only: bool = False


@dataclass(frozen=True)
class Plan:
    """What is submitted, before a launcher gives it a form."""

    job: Job
    site: Site
    nodes: Nodes
    toolchain: Toolchain | None
    """None for an image that brings none of the known ones."""
    image: str
    start: Start
    command: tuple[str, ...]
    """Of each worker."""
    workers_per_node: int
    chip_count: int
    """Neuron chips of each pod."""
    interface_count: int
    """EFA interfaces of each pod; 0 for none."""
    share: Share
    """CPU and memory of each pod."""
    mounts: tuple[Mounted, ...]
    cache: str | None
    """Place of the compile cache; None where the job has no lasting place."""
    queue: str | None

    @property
    def claimed(self) -> Claimed:
        """What each pod claims by dynamic resource allocation; nothing where device plug-ins offer all of it."""
        instance = self.nodes.instance
        chips = self.chip_count if self.site.devices == "dra" else 0
        interfaces = self.interface_count if self.site.efa_devices == "dra" else 0
        size = self.nodes.logical_core_size if instance.chip is not None and instance.chip.has_logical_cores else None
        return Claimed(chips, interfaces, size)

    @property
    def claims(self) -> bool:
        """Whether its pods claim anything."""
        return bool(self.claimed.chip_count or self.claimed.interface_count)

    @property
    def core_count(self) -> int:
        """Logical NeuronCores of each pod."""
        instance = self.nodes.instance
        return instance.cores_at(self.nodes.logical_core_size) * self.chip_count // instance.chip_count if self.chip_count else 0

    @property
    def launcher(self) -> str:
        """Name of the launcher."""
        return launcher_of(self.job, self.site)


def launcher_of(job: Job, site: Site) -> str:
    """The launcher that a job names, or the site's default."""
    return job.launcher or (DEFAULT_LAUNCHER if site.gang else WITHOUT_GANG)


def toolchain_of(job: Job, site: Site) -> Toolchain | None:
    """The job's toolchain, or the stack's; None where there is none."""
    name = job.toolchain or site.toolchain
    return TOOLCHAINS[name] if name is not None and name != NO_TOOLCHAIN else None


def candidates(job: Job, site: Site) -> list[Nodes]:
    """Where a job may run: what it names, or all groups and pools, those with nodes first."""
    if job.node_group is not None or job.pool is not None:
        named = site.nodes(job.node_group, job.pool)
        return [named] if named is not None else []
    everything = [*site.node_groups.values(), *site.pools.values()]
    return sorted(everything, key=lambda nodes: nodes.size < job.nodes)


def nodes_of(job: Job, site: Site) -> Nodes | None:
    """The first of the candidates that the job fits; else the first of all, so that a check can say what is wrong with it."""
    if job.devices == 0:
        return site.core
    toolchain, found = toolchain_of(job, site), candidates(job, site)
    nodes = next((nodes for nodes in found if _fits(job, toolchain, nodes)), found[0] if found else None)
    if nodes is None or job.logical_core_size is None:
        return nodes
    return replace(nodes, logical_core_size=job.logical_core_size)


def _fits(job: Job, toolchain: Toolchain | None, nodes: Nodes) -> bool:
    instance = nodes.instance
    runs = toolchain is None or instance.name in toolchain.workers
    return runs and nodes.largest_size >= job.nodes and (job.devices or 1) <= instance.chip_count


def image_of(job: Job, site: Site, toolchain: Toolchain | None) -> str | None:
    """The image with the job's own files, else as the job names it, or the toolchain's from the site's mirror; None where there is none of them."""
    if site.source is not None and site.source.image is not None:
        return site.source.image
    return base_image_of(job, site, toolchain)


def base_image_of(job: Job, site: Site, toolchain: Toolchain | None) -> str | None:
    """The same without the job's own files."""
    if job.image is not None:
        return job.image
    image = toolchain.image if toolchain is not None else None
    return f"{site.mirror}/{image.partition('/')[2]}" if image is not None and site.mirror else image


def queue_of(job: Job, site: Site) -> str | None:
    """The job's queue, or the stack's first that takes jobs, one without a limit before others."""
    if job.queue is not None:
        return job.queue
    open_to_jobs = [queue for queue in site.queues.values() if queue.takes_jobs]
    return min(open_to_jobs, key=lambda queue: len(queue.capability)).name if open_to_jobs else None


def mounts_of(job: Job, site: Site) -> tuple[Mounted, ...]:
    """Claims of the container. The default mount is left out where the cluster has no file system."""
    claims = ((mount, mount.claim or site.claim) for mount in job.mounts)
    return tuple(Mounted(claim, mount.path, mount.read_only) for mount, claim in claims if claim is not None)


def cache_of(job: Job, toolchain: Toolchain | None, mounts: Iterable[Mounted]) -> str | None:
    """Place of the compile cache: the job's own, or a folder for toolchain and job on the first mount that can be written."""
    if job.cache is not None:
        return job.cache.path
    folder = next((mount.path for mount in mounts if not mount.read_only), None)
    return f"{folder}/neuron-compile-cache/{toolchain.name}/{job.name}" if folder and toolchain is not None else None


def plan(job: Job, site: Site) -> Plan:
    """The job on the cluster.

    Raises ValueError for a job that the cluster cannot run: ask `training.check` first, which says why.
    """
    site = site.seen_by(launcher_of(job, site))
    toolchain, nodes = toolchain_of(job, site), nodes_of(job, site)
    image = image_of(job, site, toolchain)
    if nodes is None or image is None:
        raise ValueError(f"job {job.name} has no {'nodes' if nodes is None else 'image'} on {site.cluster}")
    instance = nodes.instance
    chips = instance.chip_count if job.devices is None else job.devices
    whole = chips == instance.chip_count
    interfaces = nodes.interface_count if (whole if job.efa is None else job.efa) else 0
    if interfaces and not whole and site.devices == site.efa_devices == "dra":
        # Both drivers tell which interfaces are near which chips: a part of the node takes its own.
        interfaces = max(1, interfaces * chips // instance.chip_count)
    mounts = mounts_of(job, site)
    start = job.start or (toolchain.start if toolchain is not None else "none")
    workers = job.workers_per_node or (default_workers(toolchain, nodes, chips, start) if chips else 1)
    return Plan(
        job=job,
        site=site,
        nodes=nodes,
        toolchain=toolchain,
        image=image,
        start=start,
        command=command_of(job),
        workers_per_node=workers,
        chip_count=chips,
        interface_count=interfaces,
        share=job_share(instance, chips, efa=nodes.uses_efa) if chips else processor_share(workers),
        mounts=mounts,
        cache=cache_of(job, toolchain, mounts),
        queue=queue_of(job, site),
    )


def default_workers(toolchain: Toolchain | None, nodes: Nodes, chip_count: int, start: Start) -> int:
    """Processes of a node where the job does not say."""
    if toolchain is None or start == "none":
        return 1
    allowed = allowed_workers(toolchain, nodes.instance, chip_count, nodes.logical_core_size)
    return toolchain.default_workers(allowed) if allowed else 1


def command_of(job: Job) -> tuple[str, ...]:
    """What each worker runs: the job's words, or the script of its recipe from where it is mounted."""
    if job.recipe is None:
        return (*job.command, *job.args)
    return ("python3", f"{SCRIPTS}/{payload.SCRIPT}", *job.args)
