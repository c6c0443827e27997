"""A job file read, and rendered for a cluster, or all that is wrong with it; its objects as YAML that kubectl takes."""

import shlex
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from facts.kubernetes_kinds import Resource
from facts.typed import typed
from facts.yaml_text import write_yaml
from stacks.stack_yaml import MAX_BYTES, YamlError, read_yaml
from training.account import Account, parse_account
from training.check import problems
from training.job import Job, JobFileError, parse_job
from training.launchers import launcher
from training.launchers.base import Document, Launcher
from training.plan import Plan, plan
from training.pod import Object
from training.site import Site
from trn.cli.errors import MISUSE, CommandError, CompleteError
from trn.cli.text_files import read_text

SCRIPTS = (".py", ".sh")
"""Endings of what `trn run` runs."""


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


def as_yaml(objects: Sequence[Object]) -> str:
    """All of them, one document each."""
    return write_yaml(*objects, width=160)


def as_text(objects: Sequence[Object], documents: Sequence[Document]) -> str:
    """Objects and documents as they are submitted: one document alone as it is, several each below a line with what submits it."""
    if not objects and len(documents) == 1:
        return documents[0].text
    parts = [as_yaml(objects)] if objects else []
    return "".join([*parts, *(f"# {document.name}: {document.command}\n{document.text}" for document in documents)])


def resource_of(body: Object) -> Resource:
    """Its kind. All kinds that launchers render have a regular plural."""
    version = body["apiVersion"]
    return Resource(body["kind"], f"/apis/{version}" if "/" in version else f"/api/{version}", f"{body['kind'].lower()}s")


def path_of(body: Object) -> str:
    """Where one object is served."""
    resource, metadata = resource_of(body), body["metadata"]
    return f"{resource.path}/namespaces/{metadata['namespace']}/{resource.plural}/{metadata['name']}"


def reference(body: Object) -> str:
    """As a person and kubectl call it: `jobs.batch.volcano.sh/bert`."""
    return f"{resource_of(body).qualified}/{body['metadata']['name']}"


Parsed = TypeVar("Parsed")


def read_job(path: Path) -> Job:
    """The job of a file.

    Raises CommandError for a file that cannot be read, and for a script; CompleteError with every mistake in it.
    """
    if path.suffix in SCRIPTS:
        raise CommandError(f"`{path}` is a script, not a job file", f"`{typed(f'trn run {shlex.quote(str(path))}')}` runs it", code=MISUSE)
    return _read(path, parse_job, "name a job file; docs/jobs.md has one")


def read_account(path: Path) -> Account:
    """The ids of a file, for launchers outside of the cluster; raises as `read_job`."""
    return _read(path, parse_account, "name a file of ids; docs/jobs.md has its keys")


def _read(path: Path, parse: Callable[[Any, str], Parsed], hint: str) -> Parsed:
    try:
        return parse(read_yaml(read_text(path, MAX_BYTES, hint)), str(path))
    except YamlError as error:
        raise CommandError(f"{path}: {error}", error.hint, code=MISUSE) from error
    except JobFileError as error:
        raise CompleteError(str(error), code=MISUSE) from error
