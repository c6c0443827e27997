"""Alarms, the idle guard and schedules behind the real engine: they come up in a running stack, and go with it."""

import pytest

from facts.resources import budgets, scheduler, sns
from tests.engine.cli import Engine, needs_cli

pytestmark = [pytest.mark.engine, needs_cli]
NEW = (budgets.BUDGET.token, scheduler.GROUP.token, scheduler.SCHEDULE.token, sns.TOPIC.token, sns.SUBSCRIPTION.token)
SCHEDULED = """
instanceType: trn1.32xlarge
size: 1
releaseVersion: 1.35.4-20260505
schedule: {downAt: 0 20 * * MON-FRI, upAt: 0 7 * * MON-FRI, timeZone: Europe/Berlin}
"""


def test_they_are_added_to_a_running_stack_and_go_with_it(engine: Engine):
    """The provider's own schemas take their inputs, a second up changes nothing, and a destroy leaves none of them."""
    engine.configure("budget.alarm", '{"limitUsdPerMonth": 3000, "emails": ["team@example.com"]}')
    engine.configure("addons.idleGuard", '{"enabled": true, "emails": ["team@example.com"]}')
    engine.configure("nodeGroups.nights", SCHEDULED)
    engine.up()
    made = {item.type for item in engine.world.values()}
    assert set(NEW) <= made
    assert engine.planned() == {}
    engine.destroy_all()
