"""`trn lint` against manifests of others: nothing is said that is not so, and what is planted into them is found."""

from functools import cache

import pytest

from tests.outside.jobs import FAULTS, JobCase, Planted, cases, planted
from tests.support import ROOT
from training.lint import lint
from training.lint.finding import Document
from training.site import Site
from trn.engine.job_site import site_of
from trn.engine.program import settings_of
from trn.engine.stack_file import read_stack_file

CASES = cases()
PAIRS = [(case, fault) for fault in FAULTS for case in CASES if fault.fits(case)]


@cache
def dev() -> Site:
    """The shipped stack."""
    return site_of(settings_of(read_stack_file("dev", ROOT)), "dev")


def rules(manifest: dict[str, object], site: Site | None = None) -> set[str]:
    """What finds something."""
    return {finding.rule for finding in lint([Document(0, manifest)], site)}


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.case)
def test_nothing_is_said_of_what_others_publish_but_what_is_so(case: JobCase):
    """Each finding was held against the source and the sources of its rule by hand."""
    assert rules(case.manifest()) == case.alone
    assert rules(case.manifest(), dev()) == case.on_dev


@pytest.mark.parametrize(("case", "fault"), PAIRS, ids=lambda value: getattr(value, "case", None) or getattr(value, "what", ""))
def test_a_planted_fault_is_found(case: JobCase, fault: Planted):
    """Whatever kind its author chose."""
    assert fault.rule in rules(planted(case, fault))


def test_every_rule_of_a_pod_is_planted():
    """A rule without a planted fault has no recall."""
    elsewhere = {"half-a-gang", "restarts-alone", "no-pods", "shared-cache", "grace-beyond-block", "no-completion-index"}
    by_stack = {name for case in CASES for name in case.on_dev}
    assert by_stack | {fault.rule for fault in FAULTS} | elsewhere >= {
        "selector-without-nodes", "kind-without-operator", "missing-toleration", "dead-resource", "fewer-interfaces", "idle-cores",
    }  # fmt: skip
