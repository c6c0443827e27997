"""One browser for the tier, and the pages that it opens: of the dev stack, of failures and their fixes, and of a large stack."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from report.page import page_html
from simulator.engine.change import rehearse_change
from simulator.faults_syntax import parse_fault
from simulator.rehearsal import Circumstances
from tests.browser.chromium import CHROMIUM, Browser
from tests.report.builders import HOSTILE, NODE_GROUP, VPC, recording, report, resource, urn
from tests.support import ROOT
from trn.engine.program import record_stack, rehearse_stack
from trn.engine.stack_file import read_stack_file
from trn.jobs.watch.page import page as watch_page
from trn.jobs.watch.progress import read as read_log
from trn.rehearsal.change.configuration import with_settings
from trn.rehearsal.change.page import write_page


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """All tests beside this file need Chromium."""
    for item in items:
        if item.path.parent == Path(__file__).parent:
            item.add_marker(pytest.mark.browser)
            item.add_marker(pytest.mark.skipif(CHROMIUM is None, reason="no Chromium on PATH"))


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """Headless Chromium."""
    with Browser() as started:
        yield started


@pytest.fixture(scope="session")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page of the dev stack."""
    rehearsal = rehearse_stack(read_stack_file("dev", ROOT))
    return _written(tmp_path_factory, page_html(rehearsal.report, rehearsal.recording))


@pytest.fixture(scope="session")
def troubled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page of the dev stack where a node group is refused, made again, and destroyed after a webhook was retried."""
    faults = [parse_fault(text) for text in ("no-capacity@trn1-32xl", "webhook-not-ready")]
    rehearsal = rehearse_stack(read_stack_file("dev", ROOT), circumstances=Circumstances(faults=faults))
    return _written(tmp_path_factory, page_html(rehearsal.report, rehearsal.recording))


@pytest.fixture(scope="session")
def large(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page of a thousand resources, each waiting for the one before, one in ten of them slow."""
    made = [
        resource(
            VPC, f"r{index}", index, index + (9 if index % 10 == 0 else 0.5), waited_for=urn(VPC, f"r{index - 10}") if index >= 10 else None
        )
        for index in range(1000)
    ]
    return _written(tmp_path_factory, page_html(report(resources=made, critical=()), recording()))


@pytest.fixture(scope="session")
def long_names(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A page whose names are as long as AWS allows, without a place to break them at."""
    name = "n" * 63
    made = [resource(VPC, name, 0, 9), resource(NODE_GROUP, name, 9, 20, waited_for=urn(VPC, name), attempts=2)]
    return _written(tmp_path_factory, page_html(report(stack=name, resources=made), recording(groups=[(name, "use2-az1")])))


@pytest.fixture(scope="session")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A page on which every name is markup and quotes."""
    made = [resource(VPC, HOSTILE, 0, 9, error=f"{HOSTILE}: x", fix=f"`{HOSTILE}`"), resource(NODE_GROUP, HOSTILE, 9, 20, attempts=2)]
    return _written(tmp_path_factory, page_html(report(stack=HOSTILE, resources=made), recording(groups=[(HOSTILE, "use2-az1")])))


@pytest.fixture(scope="session")
def changed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page of a change that replaces a node group."""
    before = read_stack_file("dev", ROOT)
    after = with_settings(before, ["nodeGroups.trn1-32xl.instanceType=trn1n.32xlarge"])
    graphs = [record_stack(stack_file) for stack_file in (before, after)]
    path = tmp_path_factory.mktemp("change") / "index.html"
    write_page(rehearse_change(graphs[0], graphs[1], seed=0), before, after, "nodeGroups.trn1-32xl.instanceType=trn1n.32xlarge", 0, path)
    return path


@pytest.fixture(scope="session")
def watched(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page of `trn watch --html`."""
    steps = [
        {"trn": "step", "time": 1000 + 10 * step, "step": step, "rank": 0, "loss": 9 - step / 9, "samples_per_s": 100 + step % 7}
        for step in range(60)
    ]
    log = [f"[default0]:{json.dumps(line)}" for line in steps]
    return _written(tmp_path_factory, watch_page("bert", read_log(log), None))


def _written(factory: pytest.TempPathFactory, html: str) -> Path:
    path = factory.mktemp("page") / "index.html"
    path.write_text(html)
    return path
