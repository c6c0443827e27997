"""What Billing counts by: tags for cost allocation, and topics that a budget can publish to."""

import json
from collections.abc import Iterable
from typing import Any

from botocore.exceptions import ClientError

from trn.aws.api import Api, Call
from trn.aws.errors import NOT_FOUND, code_of

LIST_TAGS = Call("ce", "ListCostAllocationTags")
GET_TOPIC = Call("sns", "GetTopicAttributes")
LIST_SUBSCRIPTIONS = Call("sns", "ListSubscriptionsByTopic")
_LINKED = "Linked account"
"""Cost Explorer's words to a member of an organization: "Linked account doesn't have access to cost allocation tags"."""
PUBLISHER = "budgets.amazonaws.com"


class LinkedAccountError(Exception):
    """The account is a member of an organization: only the management account sees and activates cost allocation tags."""


def tag_status(api: Api, key: str) -> str:
    """Status of a user's own tag in Billing: `Active`, `Inactive`, or empty where Billing does not know the tag yet.

    Raises LinkedAccountError, and what botocore raises.
    """
    try:
        found = list(api.pages(LIST_TAGS, "CostAllocationTags", TagKeys=[key], Type="UserDefined"))
    except ClientError as error:
        if _LINKED in error.response.get("Error", {}).get("Message", ""):
            raise LinkedAccountError from error
        raise
    return next((str(tag["Status"]) for tag in found if tag["TagKey"] == key), "")


def topic(api: Api, arn: str) -> dict[str, str] | None:
    """Attributes of an SNS topic of the region; None where there is no such topic."""
    try:
        return dict(api.call(GET_TOPIC, TopicArn=arn)["Attributes"])
    except ClientError as error:
        if code_of(error) in NOT_FOUND:
            return None
        raise


def unconfirmed(api: Api, arn: str) -> list[str]:
    """Addresses of a topic that have not confirmed their subscription (SNS API, ListSubscriptionsByTopic)."""
    found = api.pages(LIST_SUBSCRIPTIONS, "Subscriptions", TopicArn=arn)
    return sorted(str(entry["Endpoint"]) for entry in found if entry["SubscriptionArn"] == "PendingConfirmation")


def lets_publish(policy: str, service: str = PUBLISHER) -> bool:
    """Whether a topic's policy, as JSON, lets a service publish. Conditions are not judged."""
    return any(
        statement.get("Effect") == "Allow"
        and service in _listed((_principal(statement)).get("Service", ()))
        and {one.lower() for one in _listed(statement.get("Action", ()))} & {"sns:publish", "sns:*", "*"}
        for statement in _listed(json.loads(policy or "{}").get("Statement", ()))
    )


def _principal(statement: dict[str, Any]) -> dict[str, Any]:
    principal = statement.get("Principal")
    return principal if isinstance(principal, dict) else {}


def _listed(value: Any) -> Iterable[Any]:
    return value if isinstance(value, list | tuple) else [value]
