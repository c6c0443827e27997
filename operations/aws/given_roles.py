"""A role that others keep, as IAM describes it: reads only."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import unquote

from operations.aws.api import Api, Call
from operations.aws.identity import GET_ROLE
from operations.aws.sighting import described

LIST_ATTACHED = Call("iam", "ListAttachedRolePolicies")


@dataclass(frozen=True)
class GivenRole:
    """What IAM says of a role."""

    arn: str
    trust: Mapping[str, Any]
    attached: frozenset[str]
    """ARNs of its managed policies."""


def given_role(api: Api, name: str) -> GivenRole | None:
    """A role by its name; None where the account has none."""
    found = described(api, GET_ROLE, RoleName=name).get("Role")
    if found is None:
        return None
    trust = found.get("AssumeRolePolicyDocument") or "{}"
    attached = api.pages(LIST_ATTACHED, "AttachedPolicies", RoleName=name)
    return GivenRole(
        found["Arn"], json.loads(unquote(trust)) if isinstance(trust, str) else trust, frozenset(each["PolicyArn"] for each in attached)
    )
