"""Budgets of AWS: where there are any, how many messages one sends, and which costs it counts.

Sources: AWS Budgets API, CreateBudget, NotificationWithSubscribers and BudgetName; Cost Management user guide, "Managing your costs
with AWS Budgets" and "Activating user-defined cost allocation tags"; endpoints.json of botocore 1.44.5; all read 2026-11.
"""

from facts.names import CLUSTER_TAG
from facts.regions import partition

MOST_NOTIFICATIONS = 5
"""Notifications of one budget. The page of one type says ten; the call that makes a budget takes five."""
MOST_ADDRESSES = 10
"""E-mail addresses of one notification; beside them it takes one SNS topic."""
UPDATE_HOURS = (8, 12)
"""Hours from one update of a budget to the next."""
BILLING_DELAY_HOURS = 24
"""Hours until what was used is in the billing data: these are renewed at least once a day."""
TAG_HOURS = 24
"""Most hours until a tag that was used can be activated, and as many again until it is active."""
_ABSENT = {
    "aws-us-gov": "accounts of GovCloud are billed through a standard account, and Budgets has no endpoint there",
    "aws-cn": "AWS bills in yuan there, and a limit in USD counts nothing",
    "aws-eusc": "the European sovereign cloud has billing of its own, which this program does not know",
}


def no_budgets(region: str) -> str:
    """Why no budget can be made for a cluster of a region; empty where one can."""
    return (
        "the isolated regions have billing of their own, which this program does not know"
        if "iso" in region
        else _ABSENT.get(partition(region), "")
    )


def cost_filters(cluster: str, region: str) -> dict[str, str]:
    """Which costs are a cluster's: what has its tag, in its region. Two clusters of one name are in two regions.

    A tag of the user's own has `user:` before its key, and its value after a `$` (AWS CLI, create-budget, examples).
    """
    return {"TagKeyValue": f"user:{CLUSTER_TAG}${cluster}", "Region": region}
