"""The budget of one cluster: AWS Budgets sends messages when the costs of a month reach parts of a limit. It stops nothing."""

from collections.abc import Sequence
from dataclasses import dataclass

import pulumi
import pulumi_aws as aws

from components.component import Component
from facts import names
from facts.budgets import cost_filters


@dataclass(frozen=True)
class BudgetAlarmArgs:
    """What a budget is made from."""

    cluster_name: str
    region: str
    limit_usd_per_month: float
    actual_percent: Sequence[int]
    """Of the limit, of costs that were made."""
    forecast_percent: Sequence[int]
    """Of the limit, of what AWS expects of the whole month."""
    emails: Sequence[str]
    sns_topic_arn: str | None


class BudgetAlarm(Component):
    """A monthly budget and its notifications."""

    def __init__(self, name: str, args: BudgetAlarmArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("trn:components:BudgetAlarm", name, opts)
        filters = cost_filters(args.cluster_name, args.region)
        budget = aws.budgets.Budget(
            self.named(name),
            name=names.budget_name(args.cluster_name, args.region),
            budget_type="COST",
            time_unit="MONTHLY",
            limit_amount=f"{args.limit_usd_per_month:g}",
            limit_unit="USD",
            cost_filters=[aws.budgets.BudgetCostFilterArgs(name=key, values=[value]) for key, value in filters.items()],
            # With credits the sum of a month may be nothing while nodes run.
            cost_types=aws.budgets.BudgetCostTypesArgs(include_credit=False, include_refund=False),
            notifications=[
                _notification(kind, percent, args)
                for kind, percents in (("ACTUAL", args.actual_percent), ("FORECASTED", args.forecast_percent))
                for percent in percents
            ],
            opts=pulumi.ResourceOptions(parent=self),
        )
        self.register_outputs({"budget_name": budget.name})


def _notification(kind: str, percent: int, args: BudgetAlarmArgs) -> aws.budgets.BudgetNotificationArgs:
    return aws.budgets.BudgetNotificationArgs(
        comparison_operator="GREATER_THAN",
        notification_type=kind,
        threshold=percent,
        threshold_type="PERCENTAGE",
        subscriber_email_addresses=list(args.emails) or None,
        subscriber_sns_topic_arns=[args.sns_topic_arn] if args.sns_topic_arn else None,
    )
