"""A job rendered for a cluster, or all that is wrong with it."""

from dataclasses import dataclass

from training.check import problems
from training.job import Job, JobFileError
from training.launchers import launcher
from training.launchers.base import Document, Launcher
from training.plan import Plan, plan
from training.pod import Object
from training.site import Site
from trn.cli.errors import MISUSE, CompleteError


@dataclass(frozen=True)
class Rendered:
    """What is submitted."""

    plan: Plan
    launcher: Launcher
    objects: list[Object]
    documents: list[Document]
    """What is submitted by other means, in this order."""

    @property
    def summary(self) -> str:
        """One line for a person."""
        made, nodes = self.plan, self.plan.nodes
        of_type = f"{made.job.nodes} x {nodes.instance.name}"
        toolchain = made.toolchain.name if made.toolchain is not None else "no toolchain"
        workers = f"{made.job.nodes * made.workers_per_node} workers"
        return f"{made.job.name}: {workers} on {of_type} ({nodes.name}) of {made.site.cluster}, {toolchain}, by {self.launcher.title}"


def rendered(job: Job, site: Site, where: str) -> Rendered:
    """The objects of a job on a site.

    `where`: the name of its file. Raises CompleteError with everything that is wrong with it.
    """
    if found := problems(job, site):
        raise CompleteError(str(JobFileError(found, where)), code=MISUSE)
    made = plan(job, site)
    chosen = launcher(made.launcher)
    return Rendered(made, chosen, chosen.render(job, site), chosen.documents(job, site))
