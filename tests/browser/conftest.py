"""One browser for the tier, and the pages that it opens: of the dev stack, of failures and their fixes, and of a large stack."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from operations.program import rehearse_stack
from operations.stack_file import read_stack_file
from simulator.faults_syntax import parse_fault
from simulator.rehearsal import Circumstances
from simulator.report.drawing.page import page_html
from tests.browser.chromium import CHROMIUM, Browser
from tests.simulator.report.builders import VPC, recording, report, resource, urn
from tests.support import ROOT


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


def _written(factory: pytest.TempPathFactory, html: str) -> Path:
    path = factory.mktemp("page") / "index.html"
    path.write_text(html)
    return path
