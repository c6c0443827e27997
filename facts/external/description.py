"""What others keep and a stack uses: the description that `trn network describe` writes, and that a rehearsal reads."""

from dataclasses import dataclass

from facts.external import assumed as assume
from facts.external import judge, judge_file_system, workspace
from facts.external.asked import AskedOfNetwork
from facts.external.file_system import AskedOfFileSystem, FileSystem, assumed_file_system
from facts.external.network import AGAIN, NetworkDescription
from facts.external.role import Role
from facts.external.workspace import AskedOfWorkspace, Workspace
from facts.problems import Problem
from facts.section import Section


class Description(Section):
    """Everything that others keep and one stack uses."""

    network: NetworkDescription | None = None
    file_system: FileSystem | None = None
    workspace: Workspace | None = None
    roles: tuple[Role, ...] = ()


@dataclass(frozen=True)
class Asked:
    """What a stack asks of all that it uses and does not make; None of what it makes itself."""

    network: AskedOfNetwork | None = None
    file_system: AskedOfFileSystem | None = None
    workspace: AskedOfWorkspace | None = None

    @property
    def names(self) -> list[str]:
        """What is used, by id, name or ARN: the network first."""
        found = [*([self.network.vpc_id] if self.network else []), *([self.file_system.id] if self.file_system else [])]
        return [*found, *([self.workspace.id] if self.workspace else [])]

    @property
    def is_nothing(self) -> bool:
        """Whether the stack makes everything itself."""
        return self == Asked()


def problems(found: Description, asked: Asked) -> list[Problem]:
    """Everything that keeps the stack from coming up with what exists, or from working with it."""
    said: list[Problem] = []
    if asked.network is not None:
        if found.network is None:
            said.append(Problem("network.existing.vpcId", asked.network.vpc_id, "the description has no network", hint=AGAIN))
        else:
            said += judge.problems(found.network, asked.network)
    if asked.file_system is not None:
        if found.file_system is None:
            path = f"{judge_file_system.PATH}.fileSystemId"
            said.append(Problem(path, asked.file_system.id, "the description has no file system", hint=AGAIN))
        else:
            said += judge_file_system.problems(found.file_system, found.network, asked.file_system)
    if asked.workspace is not None:
        if found.workspace is None:
            said.append(Problem(workspace.PATH, asked.workspace.arn, "the description has no workspace", hint=AGAIN))
        else:
            said += workspace.problems(found.workspace, asked.workspace)
    return said


def notes(found: Description, asked: Asked) -> list[str]:
    """What works and should be known all the same, a sentence each."""
    said: list[str] = []
    if found.network is not None and asked.network is not None:
        said += judge.notes(found.network, asked.network)
    if found.file_system is not None and asked.file_system is not None:
        said += judge_file_system.notes(found.file_system, asked.file_system)
    return said


def with_unseen(found: Description, asked: Asked) -> Description:
    """With what the owner of a shared network does not show, as the stack needs it; for a rehearsal in it."""
    if found.network is None or asked.network is None:
        return found
    return found.model_copy(update={"network": assume.with_unseen(found.network, asked.network)})


def assumed(asked: Asked) -> Description:
    """All that is asked, as the stack needs it: for a rehearsal that was given no description."""
    network = assume.assumed_network(asked.network) if asked.network is not None else None
    file_system = None
    if asked.file_system is not None and network is not None:
        file_system = assumed_file_system(asked.file_system, network)
    there = Workspace(arn=asked.workspace.arn) if asked.workspace is not None else None
    return Description(network=network, file_system=file_system, workspace=there)
