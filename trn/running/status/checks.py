"""All checks of a cluster that is up, and what becomes of one that cannot be made: a failure, never a pass."""

from collections.abc import Callable, Iterator
from typing import Literal, TypeVar

from botocore.exceptions import BotoCoreError, ClientError

from facts.document import Document
from trn.aws.errors import command_error
from trn.cli.errors import CommandError
from trn.cli.findings import Finding, failed
from trn.running.status import nodes, services
from trn.running.subject import Subject

Check = Callable[[Subject], Iterator[Finding]]
T = TypeVar("T")
CHECKS: dict[str, Check] = {
    "control plane": services.control_plane,
    "node groups": nodes.groups,
    "nodes ready": nodes.ready,
    "devices": nodes.devices,
    "device plug-ins": nodes.plugins,
    "EFA": nodes.interfaces,
    "queues": services.queues,
    "etcd": services.etcd,
    "file system": services.file_system,
}


class StatusReport(Document, frozen=True):
    """What `trn status` found."""

    schema_: Literal["trn-status"] = "trn-status"
    stack: str
    healthy: bool
    findings: tuple[Finding, ...]


def findings_of(subject: Subject, name: str) -> Iterator[Finding]:
    """Findings of one check."""
    yield from guarded(name, CHECKS[name](subject))


def guarded(name: str, findings: Iterator[T]) -> Iterator[T | Finding]:
    """The findings of a check, or what leads to them; one that cannot be made is a failure."""
    try:
        yield from findings
    except (BotoCoreError, ClientError) as error:
        said = command_error(error)
        yield failed(name, f"could not check: {said.args[0] if said else error}", said.hint if said and said.hint else "run it again")
    except CommandError as error:
        yield failed(name, f"could not check: {error.args[0]}", error.hint or "run it again")
    except (ValueError, KeyError) as error:
        yield failed(name, f"could not check: the answer makes no sense: {error!r}", "run it again")
