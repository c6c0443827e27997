"""`trn check` simulates the calls that will be made, not the lines of its own documents."""

from collections.abc import Iterable

import pytest

from tests.trn.aws.healthy import HealthyAccount
from tests.trn.before.test_check import check, subject_of
from tests.trn.before.test_iam_walk import allows
from trn.aws.identity import Question
from trn.before.iam.calls import Asked
from trn.before.iam.documents import deployer_permissions, statements


def test_permissions_are_simulated_as_the_calls_will_be_made(monkeypatch: pytest.MonkeyPatch):
    """A document that allows each of its own lines may still refuse a call: a new rule has no tag of its own yet."""
    subject = subject_of(HealthyAccount())
    found = statements(deployer_permissions(subject.recording.resources()), subject.cluster, subject.region)

    def simulated(_api: object, _principal: str, questions: Iterable[Question]) -> list[str]:
        asked = [Asked(action, one.resource, tuple(one.context)) for one in questions for action in one.actions]
        return [one.action for one in asked if not allows(found, one)]

    monkeypatch.setattr("trn.before.check.account.denied_actions", simulated)
    assert [finding.verdict for finding in check("permissions", subject)] == ["pass"]
    for statement in found:
        if "aws:ResourceTag/trn:cluster" not in statement.get("Condition", {}).get("StringEquals", {}):
            statement["Action"] = [action for action in statement["Action"] if not action.startswith("ec2:AuthorizeSecurityGroup")]
    (finding,) = check("permissions", subject)
    assert finding.verdict == "fail"
    assert "denies 2 of" in finding.what
    assert finding.what.endswith(": ec2:AuthorizeSecurityGroupEgress, ec2:AuthorizeSecurityGroupIngress")
