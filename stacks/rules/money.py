"""Rules on what watches the costs: a budget that AWS would refuse, and messages that would reach no person."""

from collections.abc import Iterator

from addons.idle_guard import IdleGuardSettings
from addons.slurm import SlurmSettings
from facts.budgets import MOST_NOTIFICATIONS, no_budgets
from facts.problems import Problem
from facts.regions import partition
from stacks.settings import Settings


def idle_guard(settings: Settings) -> Iterator[Problem]:
    """The guard's messages reach a person, by one topic."""
    section, path = settings.addons.of(IdleGuardSettings), "addons.idleGuard"
    if not section.enabled:
        return
    if not section.emails and section.sns_topic_arn is None:
        wrong = "no message of the guard would reach a person"
        yield Problem(f"{path}.emails", [], wrong, "addresses, or `snsTopicArn`", "name one")
    if section.emails and section.sns_topic_arn is not None:
        wrong = "a topic that others keep gets no addresses from this stack"
        yield Problem(f"{path}.emails", list(section.emails), wrong, "addresses or `snsTopicArn`", "remove one of the two")
    if len(set(section.emails)) < len(section.emails):
        yield Problem(f"{path}.emails", list(section.emails), "an address named twice", "each address once", "remove the second one")
    if section.sns_topic_arn is not None and section.sns_topic_arn.split(":")[1] != partition(settings.region):
        wrong = f"a topic of another partition; the one of {settings.region} is {partition(settings.region)}"
        allowed = f"arn:{partition(settings.region)}:sns:..."
        yield Problem(f"{path}.snsTopicArn", section.sns_topic_arn, wrong, allowed, "take a topic of this partition")


def money_notices(settings: Settings) -> Iterator[str]:
    """What the guard does not see."""
    section, slurm = settings.addons.of(IdleGuardSettings), settings.addons.of(SlurmSettings)
    if not section.enabled:
        return
    if slurm.enabled:
        groups = ", ".join(slurm.node_groups)
        yield f"`addons.idleGuard` never finds {groups} idle: the pods of Slurm's nodes hold their devices for as long as they run"
    if not settings.node_groups:
        yield "`addons.idleGuard` is on and there is no node group: it has nothing to look at, and Karpenter ends its nodes itself"


def budget_alarm(settings: Settings) -> Iterator[Problem]:
    """AWS Budgets is there, its messages reach a person, and it takes as many notifications."""
    alarm, path = settings.budget.alarm, "budget.alarm"
    if alarm is None:
        return
    if reason := no_budgets(settings.region):
        wrong, hint = (
            f"there is no AWS Budgets for it: {reason}",
            "remove the section `budget.alarm`, or take a region of the partition `aws`",
        )
        yield Problem("region", settings.region, wrong, "regions of the partition `aws`", hint)
    if not alarm.emails and alarm.sns_topic_arn is None:
        yield Problem(
            f"{path}.emails", [], "no message of the budget would reach a person", "1 to 10 addresses, or `snsTopicArn`", "name one"
        )
    if len(set(alarm.emails)) < len(alarm.emails):
        wrong = "AWS Budgets refuses an address that is named twice"
        yield Problem(f"{path}.emails", list(alarm.emails), wrong, "each address once", "remove the second one")
    for key, percents in (("actualPercent", alarm.actual_percent), ("forecastPercent", alarm.forecast_percent)):
        if len(set(percents)) < len(percents):
            wrong = "AWS Budgets refuses a second notification for the same part of the limit"
            yield Problem(f"{path}.{key}", list(percents), wrong, "each once", "remove the second one")
    count = len(alarm.actual_percent) + len(alarm.forecast_percent)
    if not 1 <= count <= MOST_NOTIFICATIONS:
        wrong = f"one budget sends 1 to {MOST_NOTIFICATIONS} notifications, actual and forecast together; these are {count}"
        yield Problem(f"{path}.actualPercent", list(alarm.actual_percent), wrong, "fewer, or one", "change this list or `forecastPercent`")
    if alarm.sns_topic_arn is not None and alarm.sns_topic_arn.split(":")[1] != partition(settings.region):
        wrong = f"a topic of another partition; the one of {settings.region} is {partition(settings.region)}"
        allowed = f"arn:{partition(settings.region)}:sns:..."
        yield Problem(f"{path}.snsTopicArn", alarm.sns_topic_arn, wrong, allowed, "take a topic of this partition")
