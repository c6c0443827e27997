"""`trn plan`: classes of what the engine plans, the jobs that stop, and the policy."""

import json
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from simulator import costs
from simulator.account import kinds
from simulator.account.world import World
from simulator.engine.run import Engine
from simulator.engine.state import State
from tests.support import dev_configuration, merged, record_stack
from trn.change.plan.report import Report, checked, classes_in, cost_difference, document_of, lines, markdown, read_text
from trn.change.plan.stopped import StoppedJob
from trn.cli.errors import CommandError
from trn.engine.effects import Effect, effects, lower_bound_s, refused
from trn.engine.planned import Planned, planned
from trn.practice.state import exported, previewed

KEY_ARN = "arn:aws:kms:us-west-2:123456789012:key/00000000-0000-0000-0000-000000000000"


@cache
def up() -> tuple[State, World]:
    """The shipped stack, up. Not to be changed."""
    engine = Engine(World(), State(), 0)
    engine.up(record_stack(dev_configuration()))
    return engine.state, engine.world


def plan_of(**changes: Any) -> Planned:
    """What the engine says when the shipped stack's configuration is changed."""
    state, world = up()
    program = record_stack(merged(dev_configuration(), **changes))
    return planned(json.dumps(exported(state)), json.dumps(previewed(state, world, program)), program)


def classes(found: Planned) -> dict[str, set[str]]:
    """Classes by name of the resource; what is safe is left out."""
    return {item.name: set(item.classes) for item in effects(found) if item.classes != {"safe"}}


def test_a_plan_that_changes_nothing_takes_no_time_and_costs_the_same():
    found = plan_of()
    assert effects(found) == []
    assert lower_bound_s(found) == 0
    before, after = (costs.figures(costs.items(recording)) for recording in (found.before, found.after))
    assert before == after
    assert before.now.usd_per_hour > 40


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"nodeGroups": {"trn1-32xl": {"size": 1}}}, {"trn1-32xl": {"restarts"}}),
        ({"nodeGroups": {"trn1-32xl": {"size": 3, "maxSize": 3}}}, {}),
        ({"nodeGroups": {"trn1-32xl": {"rootVolumeGib": 200}}}, {"trn1-32xl": {"restarts"}}),
        ({"storage": {"lustre": {"capacityGib": 2400}}}, {}),
        ({"storage": {"lustre": {"zoneId": "usw2-az1"}}}, {"lustre": {"data"}, "fsx-claim": {"data"}}),
        (
            {
                "controlPlane": {"kubernetesVersion": "1.36"},
                "nodeGroups": {name: {"releaseVersion": "1.36.1-20260610"} for name in ("trn1-32xl", "trn1n-32xl")},
            },
            {"control-plane-eksCluster": {"final"}, "trn1-32xl": {"restarts"}},
        ),
        ({"addons": {"metricsServer": {"enabled": True}}}, {}),
    ],
)
def test_what_a_change_does_is_in_its_class(changes: dict[str, Any], expected: dict[str, set[str]]):
    found = classes(plan_of(**changes))
    assert {name: found.get(name) for name in expected} == expected
    if not expected:
        assert found == {}


@pytest.mark.parametrize(
    ("changes", "resource", "red", "said"),
    [
        ({"storage": {"lustre": {"enabled": False}}}, "lustre", "data", "its data is lost"),
        ({"storage": {"lustre": {"claimName": "other"}}}, "fsx-claim", "data", "pods that mount it must end first"),
        (
            {"controlPlane": {"encryptionKeyArn": KEY_ARN}},
            "control-plane-eksCluster",
            "final",
            "EKS takes a key for Kubernetes secrets once",
        ),
        ({"controlPlane": {"encryptionKeyArn": KEY_ARN}}, "control-plane-secrets", "data", "can never be read again"),
        (
            {"network": {"cidr": "10.2.0.0/21"}},
            "control-plane-eksCluster",
            "final",
            "EKS keeps a control plane in the VPC that it was made in",
        ),
        (
            {"controlPlane": {"zones": ["usw2-az4", "usw2-az2"]}, "network": {"zones": ["usw2-az4", "usw2-az1", "usw2-az2"]}},
            "control-plane-eksCluster",
            "final",
            "EKS keeps the interfaces of a control plane in the set of zones",
        ),
        ({"iam": {"path": "/teams/"}}, "control-plane-eksCluster", "final", "EKS keeps the role that a control plane was made with"),
        (
            {"controlPlane": {"roleName": "other"}},
            "control-plane-eksCluster",
            "final",
            "Set `controlPlane.roleName: trainium-dev-us-west-2-control-plane`",
        ),
        ({"name": "other"}, "control-plane-eksCluster", "final", "all that runs in the cluster is lost"),
    ],
)
def test_red_lines_hold_unless_they_are_allowed_by_name(changes: dict[str, Any], resource: str, red: str, said: str):
    """File system, claims, key and control plane: nothing of it goes by a policy that names something else."""
    found = [item for item in effects(plan_of(**changes)) if item.name.startswith(resource) and red in item.classes]
    assert said in "; ".join(text for effect in found for text in effect.texts)
    others = [name for name in ("restarts", "jobs", "data", "final") if name != red]
    for effect in found:
        assert red in refused(effect.classes, others)
        assert red not in refused(effect.classes, [red])


@pytest.mark.parametrize("kind", [kinds.CLAIM, kinds.VOLUME, kinds.FILE_SYSTEM])
def test_each_of_what_holds_the_data_is_a_red_line(kind: str):
    """A claim alone may go, with what it holds, where its volume has another policy."""
    (effect,) = [item for item in effects(plan_of(storage={"lustre": {"zoneId": "usw2-az1"}})) if item.type == kind]
    assert "data" in effect.classes


@pytest.mark.parametrize(("size", "said"), [(4, "costs 43.02 USD an hour more"), (1, "costs 21.51 USD an hour less"), (2, "")])
def test_a_plan_that_costs_more_says_so(size: int, said: str):
    """Two sums of three figures each are hard to compare."""
    found = plan_of(nodeGroups={"trn1-32xl": {"size": size}})
    bill = (costs.figures(costs.items(found.before)), costs.figures(costs.items(found.after)))
    report = Report("dev", effects(found), {}, 0.0, bill, [])
    assert cost_difference(report) == said
    assert [text.plain for label, text in lines(report) if text.plain.startswith("costs")] == ([said] if said else [])
    assert (f"**It {said}.**" in markdown(report)) is bool(said)


def test_time_is_the_longest_chain():
    """A new group of nodes takes as long as its nodes do; a file system that is replaced, its making and its deletion."""
    more = plan_of(nodeGroups={"trn1-32xl": {"size": 3, "maxSize": 3}})
    moved = plan_of(storage={"lustre": {"zoneId": "usw2-az1"}})
    assert 0 < lower_bound_s(more) < lower_bound_s(moved)


def test_metrics_and_logs_that_go_are_data():
    """A workspace of Managed Prometheus and a log group are deleted with all that is in them."""
    addons = dev_configuration()["addons"]
    found = plan_of(
        addons={
            key: {"enabled": False} for key in ("grafana", "managedPrometheus", "cloudWatch", "fluentBit", "prometheus") if key in addons
        }
    )
    texts = [text for item in effects(found) if "data" in item.classes for text in item.texts]
    assert [text for text in texts if "its metrics go with it" in text] != []
    assert [text for text in texts if "its logs go with it" in text] != []


@pytest.mark.parametrize("text", ["", "[]", "no JSON at all"])
def test_an_answer_that_is_no_plan_is_refused(text: str):
    with pytest.raises(CommandError, match="gave no JSON"):
        planned(text, "{}", record_stack(dev_configuration()))


def test_a_step_that_is_not_known_is_refused_and_not_passed_over():
    preview = json.dumps({"steps": [{"op": "transmute", "urn": "urn:pulumi:test::trn::a:b:C::d"}]})
    with pytest.raises(CommandError, match="transmute"):
        planned('{"deployment": {}}', preview, record_stack(dev_configuration()))


def test_a_policy_names_what_may_happen():
    assert checked(["restarts,jobs", "data"]) == ("restarts", "jobs", "data")
    assert refused({"safe", "restarts", "data"}, ("restarts",)) == ["data"]
    for wrong in ("safe", "everything", ""):
        with pytest.raises(CommandError, match="--allow takes no"):
            checked([wrong])


def report_of(name: str) -> Report:
    """A plan whose one step has a name that means something elsewhere, and stops a job."""
    effect = Effect(f"urn:{name}", "aws:eks/nodeGroup:NodeGroup", name, name, "update", frozenset({"restarts"}), (f"{name} rolls",), ())
    stopped = {effect.urn: [StoppedJob("jobs/bert", "namespace a, queue b", ("node-1",), certain=False)]}
    figures = costs.figures([])
    classes = refused(classes_in([effect], stopped), ())
    return Report("dev", [effect], stopped, 60, (figures, figures), classes)


def test_a_job_that_stops_is_named_and_is_a_class_of_its_own():
    report = report_of("group")
    text = "\n".join(f"{label} {line.plain}" for label, line in lines(report))
    assert "may stop job jobs/bert of namespace a, queue b on node-1" in text
    assert report.refused == ["restarts", "jobs"]
    assert document_of(report).steps[0].classes == ("restarts", "jobs")


@pytest.mark.parametrize("name", ["<script>alert(1)</script>", "a | b", "`$(id)`", "[x](javascript:1)", "line\nbreak"])
def test_a_name_is_text_in_a_comment(name: str):
    """It is put into a pull request by a pipeline with rights."""
    text = markdown(report_of(name))
    rows = [line for line in text.splitlines() if line.startswith("| restarts")]
    assert len(rows) == 1
    assert rows[0].count("|") == 5
    assert not {"<", "`", "["} & set(rows[0])


@pytest.mark.parametrize(
    ("exported_text", "previewed_text", "wrong"),
    [
        (None, "{}", "the preview failed"),
        (None, '{"steps": [], "diagnostics": [{"severity": "error", "message": "no such key"}]}', "the preview failed"),
        ('{"deployment": {}}', None, "which the state does not hold"),
        ('{"deployment": [1]}', None, "not of the form"),
        ('{"deployment": {"resources": [{}]}}', None, "not of the form"),
        ('{"deployment": {"resources": [{"urn": "urn:pulumi:prod::trn::a::b", "type": "a"}]}}', None, "is not of stack"),
        (None, '{"steps": [{"urn": "urn:pulumi:prod::trn::a::b", "op": "same"}]}', "is not of stack"),
        (None, '{"steps": {"a": 1}}', "not of the form"),
        ("[" * 100_000, None, "gave no JSON"),
    ],
)
def test_files_that_leave_something_out_do_not_pass_for_safe(exported_text: str | None, previewed_text: str | None, wrong: str):
    """A pipeline that goes on after a preview that failed, or that takes the state of another stack, would merge."""
    state, world = up()
    program = record_stack(merged(dev_configuration(), nodeGroups={"trn1-32xl": {"size": 1}}))
    given = exported_text or json.dumps(exported(state)), previewed_text or json.dumps(previewed(state, world, program))
    with pytest.raises(CommandError, match=wrong):
        planned(*given, program)


def test_a_device_is_not_read_as_a_plan():
    """/dev/zero has no end."""
    with pytest.raises(CommandError, match="neither a file nor a pipe"):
        read_text(Path("/dev/zero"))
