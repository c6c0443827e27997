"""What a launcher is: how it renders a job, how it reads its status, and what it needs."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from facts.kubernetes_kinds import Resource
from facts.problems import Problem
from training.job import Job
from training.phase import Phase
from training.pod import Object
from training.site import Site

SourceWay = Literal["packed", "image"]
"""Packed beside the entry script, or as a layer of the image."""


@dataclass(frozen=True)
class Document:
    """What is submitted by other means than the API of Kubernetes, in the form in which its own tool reads it."""

    name: str
    """Name of its file; the suffix says the form."""
    text: str
    command: str
    """What submits it, as it is typed in the folder of the file."""


def _no_problem(job: Job, site: Site) -> Iterator[Problem]:
    yield from ()


def no_documents(job: Job, site: Site) -> list[Document]:
    """For what Kubernetes alone runs."""
    return []


def no_objects(job: Job, site: Site) -> list[Object]:
    """For what runs outside of Kubernetes."""
    return []


@dataclass(frozen=True)
class Launcher:
    """One way to run a job. Everything in it is pure."""

    name: str
    """As a job file spells it; its module's name with hyphens."""
    title: str
    take_it: str
    """When to take it, in a sentence."""
    lacks: tuple[str, ...]
    """What it cannot do of what a job file says."""
    restarts: str
    """What makes a job start again, and how often, in sentences."""
    tried: str
    """How far it was run without AWS, and why no further, in sentences."""
    status: str
    """Where `phase` finds the state, in a sentence."""
    states: Mapping[str, Phase]
    """State by its word there. `phase` may look at more than the word."""
    sources: tuple[str, ...]
    """Where the fields and the behaviour are from, with versions."""
    render: Callable[[Job, Site], list[Object]]
    """The objects of a job, in the order in which they are made; the last one is the job, unless a document is. For a job without problems only."""
    phase: Callable[[Any], Phase]
    """State of a job by `status` of its object."""
    resource: Resource | None = None
    """Kind of the object whose status `phase` reads; None where it is no object of Kubernetes."""
    addon: str | None = None
    """Key of the add-on that brings it; None for what every cluster has."""
    needs: tuple[str, ...] = ()
    """What must be there beside the add-on, which nothing here sets up."""
    takes_source: tuple[SourceWay, ...] = ("packed", "image")
    """How it brings the files of a job's `source` to all its processes; none for a launcher that brings none."""
    documents: Callable[[Job, Site], list[Document]] = no_documents
    """What is submitted beside the objects, or in their place, in the order in which that is done. For a job without problems only."""
    problems: Callable[[Job, Site], Iterator[Problem]] = _no_problem
    """What of a job, sound for others, this launcher cannot do on a site."""
