"""A workspace of Amazon Managed Prometheus as its owner has it, what a stack asks of it, and what is wrong with it. Pure.

Sources: AMP API, DescribeWorkspace and WorkspaceStatus; AMP user guide, "Remote write URL", read 2026-11.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from facts.problems import Problem
from facts.regions import dns_suffix
from facts.section import Section

PATH = "addons.managedPrometheus.workspaceArn"
_USABLE = ("ACTIVE", "UPDATING")


class Workspace(Section):
    """A workspace that is there."""

    arn: str
    state: str = "ACTIVE"


@dataclass(frozen=True)
class AskedOfWorkspace:
    """What a stack asks whose Prometheus writes to it."""

    arn: str

    @property
    def id(self) -> str:
        """Its id."""
        return workspace_id(self.arn)


def workspace_id(arn: str) -> str:
    """Id of a workspace in its ARN."""
    return arn.rpartition("/")[2]


def endpoint(arn: str) -> str:
    """URL below which a workspace is written to and read; with a slash at its end."""
    region = arn.split(":")[3]
    return f"https://aps-workspaces.{region}.{dns_suffix(region)}/workspaces/{workspace_id(arn)}/"


def problems(found: Workspace, asked: AskedOfWorkspace) -> Iterator[Problem]:
    """What keeps Prometheus from writing to it."""
    if found.arn != asked.arn:
        hint = "set it to this one, or describe the other with `trn network describe`"
        yield Problem(PATH, asked.arn, "not the workspace described", found.arn, hint)
    elif found.state not in _USABLE:
        hint = f"`aws amp describe-workspace --workspace-id {asked.id}` says why; wait until it is ACTIVE, or take another"
        yield Problem(PATH, asked.arn, f"a workspace that is {found.state}", ", ".join(_USABLE), hint)
