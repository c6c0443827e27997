"""Checks of the budget alarm and the idle guard: whether Billing counts by the cluster's tag, and whether messages arrive."""

from collections.abc import Iterator

from addons.idle_guard import IdleGuardSettings
from addons.idle_guard.values import topic_name
from facts.budgets import TAG_HOURS
from facts.names import CLUSTER_TAG
from facts.prices import HOURS_PER_MONTH
from facts.regions import partition
from facts.typed import typed
from simulator.costs import figures, items
from stacks.settings import BudgetAlarm
from trn.aws.billing import PUBLISHER, LinkedAccountError, lets_publish, tag_status, topic, unconfirmed
from trn.aws.identity import caller
from trn.before.check.subject import Subject
from trn.cli.findings import Finding, failed, passed, warned

NAME = "budget alarm"
_ACTIVATE = f"aws ce update-cost-allocation-tags-status --cost-allocation-tags-status TagKey={CLUSTER_TAG},Status=Active"
_POLICY_HELP = f"add a statement to the topic's policy that lets the service {PUBLISHER} do sns:Publish"


def budget_alarm(subject: Subject) -> Iterator[Finding]:
    """The tag is active in Billing, the topic takes messages, and the limit is one that costs can reach; nothing without an alarm."""
    alarm = subject.settings.budget.alarm
    if alarm is None:
        return
    yield _limit(subject, alarm)
    yield _tag(subject)
    if alarm.sns_topic_arn is not None:
        yield _topic(subject, alarm.sns_topic_arn)


def idle_guard(subject: Subject) -> Iterator[Finding]:
    """The guard's messages arrive: the topic is there, and its addresses are confirmed; nothing without a guard."""
    section, name = subject.settings.addons.of(IdleGuardSettings), "idle guard"
    if not section.enabled:
        return
    account = caller(subject.api).account
    own = f"arn:{partition(subject.region)}:sns:{subject.region}:{account}:{topic_name(subject.cluster)}"
    arn = section.sns_topic_arn or own
    if arn.split(":")[3] != subject.region:
        yield warned(name, f"{arn} is in another region than the stack: it was not looked up", "see that it is there")
        return
    if topic(subject.api, arn) is None:
        if section.sns_topic_arn:
            do = "`addons.idleGuard.snsTopicArn`: `aws sns list-topics` lists those of the region"
            yield failed(name, f"there is no topic {arn}", do)
        else:
            yield passed(
                name,
                f"`{typed('pulumi up')}` makes its topic; each of {', '.join(section.emails)} must then confirm a link in a mail of AWS",
            )
        return
    waiting = unconfirmed(subject.api, arn)
    if waiting:
        do = "open the link in the mail of AWS; after two days without it: `aws sns subscribe` sends another"
        yield warned(name, f"{', '.join(waiting)} gets no message yet: the subscription is not confirmed", do)
    else:
        yield passed(name, f"messages go to {arn}")


def _limit(subject: Subject, alarm: BudgetAlarm) -> Finding:
    found, limit = figures(items(subject.recording)), alarm.limit_usd_per_month
    now, idle = found.now.usd_per_hour, found.idle.usd_per_hour * HOURS_PER_MONTH
    what = f"`budget.alarm.limitUsdPerMonth` is {limit:,.0f} USD"
    if idle >= limit:
        do = f"raise the limit, or make the stack smaller: `{typed('trn cost')}` has its items"
        return warned(NAME, f"{what}, and the stack costs {idle:,.0f} in a month without any Neuron node", do)
    days = limit / now / 24
    return passed(NAME, f"{what}, which the nodes of now cost in {days:,.1f} days; idle the stack costs {idle:,.0f} in a month")


def _tag(subject: Subject) -> Finding:
    try:
        status = tag_status(subject.api, CLUSTER_TAG)
    except LinkedAccountError:
        do = f"in the management account, once the stack is up for {TAG_HOURS} hours: `{_ACTIVATE}`"
        return warned(NAME, f"a member of an organization cannot see whether the tag {CLUSTER_TAG} is active in Billing", do)
    if status == "Active":
        return passed(NAME, f"Billing counts by the tag {CLUSTER_TAG}; its data is up to a day old, so the alarm comes late")
    if status:
        return warned(NAME, f"the tag {CLUSTER_TAG} is not active in Billing: the budget counts nothing until it is", f"`{_ACTIVATE}`")
    do = f"up to {TAG_HOURS} hours after the first `{typed('pulumi up')}`: `{_ACTIVATE}`"
    return warned(NAME, f"Billing does not know the tag {CLUSTER_TAG} yet: the budget counts nothing until it is active", do)


def _topic(subject: Subject, arn: str) -> Finding:
    region, account, key = arn.split(":")[3], arn.split(":")[4], "`budget.alarm.snsTopicArn`"
    if account != caller(subject.api).account:
        return failed(NAME, f"{arn} is a topic of another account", f"{key}: AWS Budgets publishes to topics of its own account only")
    if region != subject.region:
        return warned(NAME, f"{arn} is in another region than the stack: it was not looked up", f"see that it is there; {_POLICY_HELP}")
    found = topic(subject.api, arn)
    if found is None:
        return failed(NAME, f"there is no topic {arn}", f"{key}: `aws sns list-topics` lists those of the region")
    if not lets_publish(found.get("Policy", "")):
        return failed(NAME, f"the policy of {arn} does not let AWS Budgets publish", _POLICY_HELP)
    if found.get("KmsMasterKeyId", "").endswith("alias/aws/sns"):
        do = "encrypt it with a key of your own, whose policy lets AWS Budgets use it, or do not encrypt it"
        return failed(NAME, f"{arn} is encrypted with AWS's own key, which AWS Budgets may not use", do)
    return passed(NAME, f"AWS Budgets may publish to {arn}")
