"""All checks in order, and what becomes of one that cannot be made: a failure, never a pass."""

from collections.abc import Callable, Iterator, Sequence
from typing import Literal

from botocore.exceptions import BotoCoreError, ClientError

from facts.document import Document
from trn.aws.errors import command_error
from trn.before.check import account, capacity, external, money, roles, software, surroundings
from trn.before.check.subject import Subject
from trn.cli.findings import Finding, failed
from trn.engine import quotas

Check = Callable[[Subject], Iterator[Finding]]

CHECKS: dict[str, Check] = {
    "permissions": account.permissions,
    "dry runs": account.dry_runs,
    "permissions boundary": account.boundary,
    "given roles": roles.roles,
    "zones": capacity.zone_ids,
    "existing network": external.network,
    "existing file system": external.file_system,
    "existing workspace": external.metrics_workspace,
    "existing bucket": external.bucket,
    "offerings": capacity.offerings,
    "reservations": capacity.reserved,
    "vCPU quotas": quotas.vcpus,
    "network quotas": quotas.network,
    "cluster quota": quotas.clusters,
    "node group quota": quotas.node_groups,
    "storage quota": quotas.lustre_storage,
    "AMI releases": software.ami_releases,
    "Kubernetes": software.kubernetes_support,
    "add-ons": software.addons,
    "tools": software.tools,
    "allow-list": surroundings.allow_list,
    "leftovers": surroundings.leftovers,
    "budget": surroundings.budget,
    "budget alarm": money.budget_alarm,
    "idle guard": money.idle_guard,
}
"""Every check but the first: who is asking comes before all others, and without an answer there is nothing to check."""


class CheckReport(Document, frozen=True):
    """What `trn check` found."""

    schema_: Literal["trn-check"] = "trn-check"
    stack: str
    findings: tuple[Finding, ...]


def findings_of(subject: Subject, names: Sequence[str]) -> Iterator[Finding]:
    """Findings of the checks named, in their order."""
    for name in names:
        yield from _made(name, CHECKS[name], subject)


def _made(name: str, check: Check, subject: Subject) -> Iterator[Finding]:
    try:
        yield from check(subject)
    except (BotoCoreError, ClientError) as error:
        said = command_error(error)
        yield failed(name, f"could not check: {said.args[0] if said else error}", said.hint if said and said.hint else "run it again")
    except (OSError, ValueError) as error:
        yield failed(name, f"could not check: {error}", "fix this, then run the check again")
