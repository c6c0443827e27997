"""The budget that a stack makes, as AWS Budgets gets it."""

from typing import Any

from tests.support import dev_configuration, merged, record_stack

ALARM = {"limitUsdPerMonth": 20_000, "emails": ["team@example.com"], "actualPercent": [80], "forecastPercent": [100]}


def made() -> dict[str, Any]:
    """Inputs of the budget of the shipped stack with an alarm."""
    (budget,) = record_stack(merged(dev_configuration(), budget={"alarm": ALARM})).of_type("aws:budgets/budget:Budget")
    return dict(budget.inputs)


def test_it_counts_the_clusters_own_costs_without_credits():
    """While credits pay, a month sums to nothing, and no message would come."""
    budget = made()
    assert budget["costTypes"] == {"includeCredit": False, "includeRefund": False}
    assert {item["name"]: item["values"] for item in budget["costFilters"]} == {
        "TagKeyValue": ["user:trn:cluster$trainium-dev"],
        "Region": ["us-west-2"],
    }
    assert (budget["budgetType"], budget["timeUnit"], budget["limitAmount"], budget["limitUnit"]) == ("COST", "MONTHLY", "20000", "USD")


def test_each_part_of_the_limit_has_its_message():
    """Of costs that were made, and of the month that AWS expects."""
    found = [(item["notificationType"], item["threshold"], item["subscriberEmailAddresses"]) for item in made()["notifications"]]
    assert found == [("ACTUAL", 80, ["team@example.com"]), ("FORECASTED", 100, ["team@example.com"])]
