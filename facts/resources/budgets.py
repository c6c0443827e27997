"""AWS Budgets: a limit of the costs of a month, and who gets a message. One service for all regions of a partition."""

from typing import Any

from facts.resources.api_calls import ApiCall, creation
from facts.resources.identity import by
from facts.resources.latency import Latencies, both
from facts.resources.outputs import Answer, Draw, Inputs
from facts.resources.queries import Deletion, Detail, Leftover, Lookup, Query, Stage, Tagging
from facts.resources.resource_type import Changes, Conflict, NameLimit, ResourceType, Without
from facts.resources.rights import Grant, Rights, Scope

_ABSENT, _ACCOUNT = "NotFoundException", "AccountId"
_BUDGET = (Scope("arn:{partition}:budgets::*:budget/{name}"),)
_OF_CLUSTER = (Scope("arn:{partition}:budgets::*:budget/{cluster}-{region}-budget"),)
_NAMED = {_ACCOUNT: _ACCOUNT, "BudgetName": "BudgetName"}


def _make_budget(draw: Draw, inputs: Inputs) -> Answer:
    name = inputs["name"]
    arn = draw.arn("budgets", f"budget/{name}", regional=False)
    return f"{draw.account}:{name}", {"accountId": draw.account, "arn": arn}


def _filters(given: Any) -> Any:
    """Filters as the API has them: values by name."""
    return {one["name"]: one["values"] for one in given} if isinstance(given, list) else given


def _cost_types(given: Any) -> Any:
    """Kinds of costs as the API spells them."""
    return {key[0].upper() + key[1:]: value for key, value in given.items()} if isinstance(given, dict) else given


def _subscribers(kind: str) -> Any:
    return lambda given: [{"SubscriptionType": kind, "Address": one} for one in given] if isinstance(given, list) else given


BUDGET = ResourceType(
    "aws:budgets/budget:Budget",
    make=_make_budget,
    latencies=Latencies(both(0.5, 1, 3, "inferred: one call, and one for each notification")),
    changes=Changes(replacing=("name",), calls=("UpdateBudget", "CreateNotification", "DeleteNotification"), name="name"),
    identity=by("name"),
    creation=creation(
        ApiCall(
            "budgets",
            "CreateBudget",
            {
                "name": "Budget.BudgetName",
                "budgetType": "Budget.BudgetType",
                "timeUnit": "Budget.TimeUnit",
                "limitAmount": "Budget.BudgetLimit.Amount",
                "limitUnit": "Budget.BudgetLimit.Unit",
                "costFilters": ("Budget.CostFilters", _filters),
                "costTypes": ("Budget.CostTypes", _cost_types),
            },
            computed={_ACCOUNT: "accountId"},
        ),
        # The provider makes each notification by a call of its own (terraform-provider-aws, internal/service/budgets/budget.go).
        ApiCall(
            "budgets",
            "CreateNotification",
            {"name": "BudgetName"},
            computed={_ACCOUNT: "accountId"},
            each="notifications",
            each_members={
                "comparisonOperator": "Notification.ComparisonOperator",
                "notificationType": "Notification.NotificationType",
                "threshold": "Notification.Threshold",
                "thresholdType": "Notification.ThresholdType",
                "subscriberEmailAddresses": ("Subscribers", _subscribers("EMAIL")),
                "subscriberSnsTopicArns": ("Subscribers", _subscribers("SNS")),
            },
        ),
    ),
    lookup=Lookup(
        Query("budgets", "DescribeBudget", "Budget", "BudgetName", one=True, tags="", absent=_ABSENT, scopes=_OF_CLUSTER, account=_ACCOUNT),
        "part",
        parameters={"BudgetName": "name"},
        import_id="{AccountId}:{BudgetName}",
    ),
    tagging=Tagging("budgets", "TagResource", "UntagResource", "ResourceARN", "ResourceTags", read="ListTagsForResource"),
    deletion=Deletion("budgets", "DeleteBudget", _NAMED),
    rights=Rights((Grant("budgets", "ViewBudget ModifyBudget TagResource UntagResource ListTagsForResource", _BUDGET),)),
    costs=Without("a budget without actions has no price (AWS Budgets pricing page, 2026-11)"),
    leftover=Leftover(
        "budget",
        Stage.OUTSIDE,
        Query(
            "budgets",
            "DescribeBudgets",
            "Budgets",
            "BudgetName",
            tags="",
            absent=_ABSENT,
            scopes=(Scope("arn:{partition}:budgets::*:budget/*"),),
            account=_ACCOUNT,
            arn="arn:{partition}:budgets::{AccountId}:budget/{BudgetName}",
        ),
        # Its name is the account's, and has the region as the name of a role has.
        "role name",
        detail=Detail(
            Query("budgets", "ListTagsForResource", "", one=True, tags="ResourceTags", absent=_ABSENT, scopes=_OF_CLUSTER),
            {"ResourceARN": "Arn"},
        ),
        id="{AccountId}:{BudgetName}",
        scopes=_OF_CLUSTER,
    ),
    # AWS Budgets API, CreateBudget
    conflict=Conflict(("name",), "DuplicateRecordException"),
    name_limit=NameLimit("name", 100, "AWS Budgets API, BudgetName"),
)
TYPES = (BUDGET,)
