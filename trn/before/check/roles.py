"""Check of roles that others keep: each beside the role that the stack would have made in its place."""

from collections.abc import Iterator

from facts.external.role import WantedRole, lacking
from facts.iam import Document
from facts.resources.rights import role_of
from simulator.outputs import ACCOUNT as RECORDED_ACCOUNT
from trn.aws.external_services import given_role
from trn.aws.identity import Caller, caller, denied_actions
from trn.before.check.account import as_documented
from trn.before.check.subject import Subject
from trn.cli.findings import Finding, failed, passed
from trn.engine.external_reading import wanted_roles

NAME = "given roles"


def roles(subject: Subject) -> Iterator[Finding]:
    """Each role is there, trusts who uses it, and allows what the stack's own role would; nothing where none is given."""
    given = subject.settings.iam.roles
    if not given:
        return
    who, wanted = caller(subject.api), wanted_roles(subject.stack_file, subject.settings)
    for purpose, arn in given.items():
        if purpose not in wanted:
            yield passed(NAME, f"{purpose}: nothing of this stack uses {arn}")
            continue
        wrong = list(_lacking(subject, who, arn, wanted[purpose]))
        if wrong:
            yield failed(NAME, f"{arn} {'; '.join(wrong)}", f"`iam.roles.{purpose}`: its owner adds it, or remove the key")
        else:
            yield passed(NAME, f"{purpose}: {arn} trusts and allows what the stack needs")


def _lacking(subject: Subject, who: Caller, arn: str, wanted: WantedRole) -> Iterator[str]:
    """What is wrong with a role, each as the rest of a sentence that begins with its ARN."""
    account = arn.split(":")[4]
    if account != who.account:
        yield f"is a role of account {account}, and this is {who.account}"
        return
    found = given_role(subject.api, role_of(arn))
    if found is None or found.arn != arn:
        yield f"is not there{f': the role of this name is {found.arn}' if found else ''}"
        return
    yield from lacking(found, wanted)
    questions = [
        question
        for document in wanted.inline
        for statement in document["Statement"]
        if statement["Effect"] == "Allow"
        for question in as_documented(_of_account(statement, who), who)
    ]
    denied = sorted(set(denied_actions(subject.api, arn, questions)))
    if denied:
        yield f"does not allow {', '.join(denied)}"


def _of_account(statement: Document, who: Caller) -> Document:
    """A recorded statement with the account that is asked."""
    resources = [one.replace(f":{RECORDED_ACCOUNT}:", f":{who.account}:") for one in _listed(statement["Resource"])]
    return {**statement, "Action": _listed(statement["Action"]), "Resource": resources}


def _listed(value: str | list[str]) -> list[str]:
    return [value] if isinstance(value, str) else list(value)
