"""Checks of the caller: who it is, and what it may do."""

from collections.abc import Iterable, Iterator, Sequence

from facts.iam import Document
from facts.typed import typed
from simulator.outputs import ACCOUNT as RECORDED_ACCOUNT
from trn.aws.dry_runs import denied_dry_runs
from trn.aws.identity import Caller, Question, caller, denied_actions, has_policy, principal_arn
from trn.before.check.subject import Subject
from trn.before.iam.calls import Asked, alike, calls
from trn.before.iam.documents import deployer_permissions, statements
from trn.cli.findings import Finding, failed, passed, warned

ACTIONS_AT_ONCE = 40
"""Actions in one simulation; IAM cuts off longer lists of parameters."""


def credentials(subject: Subject) -> Iterator[Finding]:
    """Who the credentials belong to. Raises what botocore raises where there are none: nothing else can be checked then."""
    who = caller(subject.api)
    if who.is_root:
        yield warned(
            "credentials", f"{who.arn} is the account's root user", f"use a role; `{typed('trn iam --deployer')}` prints what it needs"
        )
    else:
        yield passed("credentials", f"{who.arn} in account {who.account}, region {subject.region}")


def permissions(subject: Subject) -> Iterator[Finding]:
    """Every call that up, changes and destroy of this stack will make, simulated on the resources and with the tags that it will have.

    What the provider only reads, and what services do in the caller's name, is known by the documents alone: these are simulated
    as the documents have them.
    """
    who = caller(subject.api)
    if who.is_root:
        yield passed("permissions", "the root user may do everything")
        return
    made = alike(calls(subject.recording, subject.cluster, subject.region, RECORDED_ACCOUNT))
    known = {one.action for one in made}
    rest = [
        {**statement, "Action": actions}
        for statement in statements(
            deployer_permissions(subject.recording.resources()), subject.cluster, subject.region, subject.settings.iam.path
        )
        if (actions := [action for action in statement["Action"] if action not in known])
    ]
    questions = [*as_made(made, who), *(question for statement in rest for question in as_documented(statement, who))]
    count = len({action for question in questions for action in question.actions})
    denied = sorted(set(denied_actions(subject.api, principal_arn(subject.api, who), questions)))
    if denied:
        what = f"IAM denies {len(denied)} of {count} actions: {', '.join(denied)}"
        yield failed("permissions", what, f"attach the documents of `{typed(f'trn iam {subject.stack_file.stack} --deployer')}`")
    else:
        yield passed("permissions", f"IAM allows all {count} actions, simulated as this stack will call them")


def boundary(subject: Subject) -> Iterator[Finding]:
    """The policy that bounds all roles of the stack is there; nothing where none is named."""
    arn = subject.settings.iam.permissions_boundary
    if arn is None:
        return
    if has_policy(subject.api, arn):
        yield passed("permissions boundary", f"{arn} is there; what it denies, no role of the stack may do")
    else:
        hint = "`iam.permissionsBoundary`: `aws iam list-policies --scope Local --query 'Policies[].Arn'` lists those of the account"
        yield failed("permissions boundary", f"there is no policy {arn}", hint)


def as_made(asked: Iterable[Asked], who: Caller) -> Iterator[Question]:
    """Calls as the simulator is asked: all actions on one resource in one context together, on resources of the caller's account."""
    together: dict[tuple[str, tuple[tuple[str, str], ...]], list[str]] = {}
    for one in asked:
        together.setdefault((one.resource.replace(f":{RECORDED_ACCOUNT}:", f":{who.account}:"), one.context), []).append(one.action)
    for (resource, context), actions in together.items():
        yield from _in_parts(actions, resource, context)


def as_documented(statement: Document, who: Caller) -> Iterator[Question]:
    """A statement as what the simulator is asked: patterns become one concrete name, conditions the values they want."""
    listed = statement["Resource"] if isinstance(statement["Resource"], list) else [statement["Resource"]]
    # The account is the caller's, any other name is as good as another.
    resources = [one if one == "*" else one.replace(":*:", f":{who.account}:").replace("*", "any") for one in listed]
    context = [
        (key, "CreateVolume" if operator == "Null" else value)
        for operator, pairs in statement.get("Condition", {}).items()
        for key, value in pairs.items()
    ]
    for resource in resources:
        yield from _in_parts(statement["Action"], resource, context)


def _in_parts(actions: Sequence[str], resource: str, context: Sequence[tuple[str, str]]) -> Iterator[Question]:
    for start in range(0, len(actions), ACTIONS_AT_ONCE):
        yield Question(actions[start : start + ACTIONS_AT_ONCE], resource, context)


def dry_runs(subject: Subject) -> Iterator[Finding]:
    """Calls that EC2 judges without making them: an organisation's policies show here and not in a simulation.

    They are those of an own network: in one that others keep the stack makes none of them.
    """
    if subject.settings.network.existing is not None:
        return
    denied = list(denied_dry_runs(subject.api, subject.settings.network.cidr))
    if denied:
        yield failed("dry runs", f"EC2 refuses {', '.join(denied)}", "ask who keeps the account's and the organisation's policies")
    else:
        yield passed("dry runs", "EC2 would make a VPC, an internet gateway and an address")
