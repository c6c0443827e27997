"""A role that others keep, as IAM describes it: reads only."""

import json
from urllib.parse import unquote

from facts.external.role import Role
from trn.aws.api import Api, Call
from trn.aws.identity import GET_ROLE
from trn.aws.sighting import described

LIST_ATTACHED = Call("iam", "ListAttachedRolePolicies")


def given_role(api: Api, name: str) -> Role | None:
    """A role by its name; None where the account has none."""
    found = described(api, GET_ROLE, RoleName=name).get("Role")
    if found is None:
        return None
    trust = found.get("AssumeRolePolicyDocument") or "{}"
    attached = api.pages(LIST_ATTACHED, "AttachedPolicies", RoleName=name)
    return Role(
        arn=found["Arn"],
        trust=json.loads(unquote(trust)) if isinstance(trust, str) else dict(trust),
        attached=tuple(sorted(each["PolicyArn"] for each in attached)),
    )
