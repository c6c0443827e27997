"""Who is asking: the caller, and what IAM would allow it."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from facts.resources.authorization import GRANT_FOR_SERVICE
from trn.aws.api import GET_CALLER, Api, Call
from trn.aws.sighting import described

GET_ROLE = Call("iam", "GetRole")
GET_POLICY = Call("iam", "GetPolicy")
SIMULATE = Call("iam", "SimulatePrincipalPolicy")
_BOOLEAN = {GRANT_FOR_SERVICE[1]}

_ASSUMED = re.compile(r"arn:(?P<partition>[a-z-]+):sts::(?P<account>\d{12}):assumed-role/(?P<role>[^/]+)/.+")


@dataclass(frozen=True)
class Caller:
    """Whose credentials these are."""

    account: str
    arn: str

    @property
    def is_root(self) -> bool:
        """Whether it is the account's root user, whom IAM cannot simulate."""
        return self.arn.endswith(":root")


def caller(api: Api) -> Caller:
    """The caller as STS knows it."""
    answer = api.call(GET_CALLER)
    return Caller(answer["Account"], answer["Arn"])


def principal_arn(api: Api, who: Caller) -> str:
    """ARN that holds the policies: the role behind a session, with its path, or the user."""
    session = _ASSUMED.fullmatch(who.arn)
    return api.call(GET_ROLE, RoleName=session["role"])["Role"]["Arn"] if session else who.arn


def has_role(api: Api, name: str) -> bool:
    """Whether the account has a role of this name."""
    return bool(described(api, GET_ROLE, RoleName=name))


def has_policy(api: Api, arn: str) -> bool:
    """Whether the account has a policy of this ARN."""
    return bool(described(api, GET_POLICY, PolicyArn=arn))


@dataclass(frozen=True)
class Question:
    """Actions on one resource, under the conditions that the real calls will meet."""

    actions: Sequence[str]
    resource: str
    context: Sequence[tuple[str, str]] = ()


def denied_actions(api: Api, principal: str, questions: Iterable[Question]) -> Iterator[str]:
    """Actions that IAM would deny the principal (IAM API, SimulatePrincipalPolicy)."""
    for question in questions:
        context: list[dict[str, Any]] = [
            {"ContextKeyName": key, "ContextKeyValues": [value], "ContextKeyType": "boolean" if key in _BOOLEAN else "string"}
            for key, value in question.context
        ]
        answers = api.pages(
            SIMULATE,
            "EvaluationResults",
            PolicySourceArn=principal,
            ActionNames=list(question.actions),
            ResourceArns=[question.resource],
            ContextEntries=context,
        )
        for answer in answers:
            if answer["EvalDecision"] != "allowed":
                yield answer["EvalActionName"]
