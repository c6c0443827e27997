"""Laws of the page: it stands alone, tells what a reader judges by, and hides nothing bad."""

import re
import tomllib
from html.parser import HTMLParser
from typing import Any

import pytest

from report.change import ChangeRun, NodesTouched, Side, Touched
from report.page import page_html
from simulator.cost_figures import Figure, Figures
from simulator.report.schema import Incident, Problem
from tests.report.builders import (
    CLUSTER,
    HOSTILE,
    NODE_GROUP,
    VPC,
    change_run,
    cost_line,
    deletion,
    destroy_again,
    recording,
    report,
    resource,
    up_again,
    urn,
)
from tests.support import ROOT


class _Links(HTMLParser):
    """Collects every address that a browser would load or follow, and the text of each red element."""

    def __init__(self) -> None:
        super().__init__()
        self.addresses: list[str] = []
        self.red: list[str] = []
        self.tags: list[str] = []
        self._in_red = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note the tag and its addresses."""
        self.tags.append(tag)
        self.addresses += [value or "" for name, value in attrs if name in ("src", "href", "action", "data", "srcset", "xlink:href")]
        self._in_red = "bad" in (dict(attrs).get("class") or "").split()

    def handle_endtag(self, tag: str) -> None:
        """Red ends with its element."""
        self._in_red = False

    def handle_data(self, data: str) -> None:
        """Note red text."""
        if self._in_red:
            self.red.append(data)


def read(page: str) -> _Links:
    """The page as a browser sees it."""
    links = _Links()
    links.feed(page)
    return links


def cost(now: float) -> Figures:
    """Three figures, of which only the first differs."""
    return Figures(now=Figure(usd_per_hour=now), full_size=Figure(usd_per_hour=99.0), idle=Figure(usd_per_hour=0.8))


CHANGE = ChangeRun(
    "nodeGroups.train.instanceType=trn1n.32xlarge",
    [change_run()],
    losses=["node group train is replaced: all 2 nodes go at once, jobs on them stop"],
    cautions=["namespace monitoring is replaced with its add-on"],
    touched=[Touched("update", VPC, "network", ["tags"]), Touched("replace", NODE_GROUP, "train", ["instanceTypes"], delete_first=True)],
    nodes=[
        NodesTouched("train", "2 nodes replaced in 14 min 53 s", stops_jobs=True),
        NodesTouched("core", "2 nodes added in 2 min", False),
    ],
    sides=(Side({"trn1.32xlarge": 2}, cost(43.82), 1066.0, 1322.0), Side({"trn1n.32xlarge": 2}, cost(50.38), 1070.0, 1322.0)),
)


def test_the_page_loads_nothing():
    """It is opened from a file or attached to a review, often without a network; and opening it must send no request."""
    waiting = resource(NODE_GROUP, "train", 15, 20, waited_for=urn(VPC, "network"))
    page = page_html(report(resources=[resource(VPC, "network", 0, 15), waiting]), recording())
    assert read(page).addresses == ["#up-0"]
    assert not re.search(r"https?:", page.replace("http://www.w3.org/2000/svg", ""))
    assert "@import" not in page
    assert "url(" not in page


def test_the_four_figures_are_there():
    """Time, money, time again, and what stays: the questions that a rehearsal answers."""
    page = page_html(report(), recording())
    figures = ("17 min 45 s", "5.3 % above the lower bound", "USD 43.82", "1,052 a day", "581 a month", "14 min 10 s", "nothing")
    assert [figure for figure in figures if figure not in page] == []


def test_a_leftover_shows_in_red_words():
    """What stays behind costs money every hour; it must catch the eye without a search."""
    red = read(page_html(report(leftovers=["final backup of fs-1"]), recording())).red
    assert "1 object" in red
    assert "final backup of fs-1" in red


def test_nothing_is_red_when_nothing_is_wrong():
    """Red that is always there is not read."""
    assert read(page_html(report(), recording())).red == []


def test_a_refusal_is_reported_in_the_services_words():
    """The code is what a reader searches for."""
    answer = "DependencyViolation: The subnet 'subnet-1' has dependencies and cannot be deleted."
    assert answer in read(page_html(report(deletions=[deletion(VPC, "network", 0, 1, error=answer)]), recording())).red


def test_doubtful_and_missing_prices_are_marked():
    """A sum with a guess in it must not look like a sum of quotes."""
    page = page_html(
        report(costs=[cost_line("KMS key", 0.0014, verified=False), cost_line("trn2u.48xlarge", None, verified=False)]), recording()
    )
    assert page.count("price not verified") == 1
    assert "no known price" in page


def test_hostile_names_are_escaped_everywhere():
    """Stack, notices, resources, costs, commands and what went wrong all carry text from a configuration file."""
    page = page_html(
        report(
            stack=HOSTILE,
            notices=[HOSTILE],
            leftovers=[HOSTILE],
            costs=[cost_line(HOSTILE, 1.0)],
            resources=[resource(HOSTILE, HOSTILE, 0, 10, error=HOSTILE, cause=HOSTILE, fix=HOSTILE, inputs={HOSTILE: HOSTILE})],
            deletions=[deletion(HOSTILE, HOSTILE, 0, 10), deletion(VPC, "v", 10, 12, waited_for=urn(HOSTILE, HOSTILE))],
            reruns=[up_again(before=[HOSTILE])],
            problems=[Problem(urn=HOSTILE, name=HOSTILE, rule=HOSTILE, error=HOSTILE, cause=HOSTILE, fix=HOSTILE)],
            incidents=[Incident(fault=HOSTILE, name=HOSTILE, what=HOSTILE, seconds=None, job=HOSTILE)],
            faults=[HOSTILE],
        ),
        recording(groups=[(HOSTILE, "use2-az1")]),
        ChangeRun(
            HOSTILE,
            [change_run(HOSTILE)],
            losses=[HOSTILE],
            cautions=[HOSTILE],
            touched=[Touched("replace", HOSTILE, HOSTILE, [HOSTILE])],
            nodes=[NodesTouched(HOSTILE, HOSTILE, stops_jobs=True)],
            sides=(Side({HOSTILE: 1}, cost(1), 1, 1), Side({HOSTILE: 2}, cost(2), 2, 2)),
        ),
    )
    assert read(page).tags.count("script") == 1
    assert "alert('x')" not in page


def test_every_resource_and_every_level_has_its_row():
    """What is quick is folded away, and there."""
    page = page_html(report(deletions=[deletion(CLUSTER, "control-plane", 0, 9, level=7)]), recording())
    assert "<b>quick</b>" in page
    assert '<td class="number">7</td><td class="number">1</td>' in page


def test_the_page_says_that_it_is_a_simulation():
    """Someone who is sent the page alone must not take its times for measurements."""
    assert "This is a simulation" in page_html(report(), recording())


def test_equal_reports_give_equal_bytes():
    """The page can be kept and compared: it holds no time of day and no chance."""
    assert page_html(report(), recording()) == page_html(report(), recording())


def test_an_empty_rehearsal_has_a_page():
    """Nothing to divide by, nothing to draw: still a page."""
    assert "nothing" in page_html(report(resources=[], deletions=[]), recording(groups=()))


REFUSED = resource(NODE_GROUP, "train", 5, 20, error="InsufficientInstanceCapacity: none")


def test_every_run_has_its_tab_and_its_chart():
    """The runs after a failure are half of the story: what it took to fix it."""
    page = page_html(
        report(
            resources=[REFUSED],
            reruns=[up_again(resource(NODE_GROUP, "train", 0, 9))],
            deletions=[deletion(VPC, "network", 0, 3, error="DependencyViolation: x")],
            destroy_reruns=[destroy_again(deletion(VPC, "network", 0, 3)), destroy_again()],
        ),
        recording(),
    )
    wanted = ["up", "up-again", "destroy", "destroy-again", "destroy-again-run-3"]
    assert re.findall(r'aria-controls="([^"]+)"', page) == wanted
    assert re.findall(r'<section class="run" id="([^"]+)"', page) == wanted


def test_the_page_of_a_change_leads_with_the_change():
    """What is replaced and which jobs stop is what its reader came for; the cluster that it is tried on comes after it."""
    page = page_html(report(), recording(), CHANGE)
    places = [
        page.index(words) for words in (CHANGE.words, "14 min 53 s", "jobs on them stop", "Before and after", "Kubernetes", 'id="timeline"')
    ]
    assert places[0] < min(places[1:4])
    assert max(places[:4]) < places[4] < places[5]
    assert re.findall(r'<section class="run" id="([^"]+)"', page) == ["change", "up", "destroy"]


def test_a_change_says_what_it_replaces_and_which_jobs_stop():
    """The two questions before anybody presses yes; in red, since both lose work."""
    found = read(page_html(report(), recording(), CHANGE))
    assert {"stop", "replaced", CHANGE.losses[0]} <= set(found.red)
    page = page_html(report(), recording(), CHANGE)
    wanted = ("<b>1 replaced</b>", "1 updated", "on train<", "<code>instanceTypes</code>, the old one first", "monitoring is replaced")
    assert [words for words in wanted if words not in page] == []
    # The worst first.
    assert page.index("<code>instanceTypes</code>") < page.index("<code>tags</code>")


def test_a_change_shows_time_and_cost_before_and_after():
    """A change is judged by what it makes of the bill; what differs is marked, since most does not."""
    page = page_html(report(), recording(), CHANGE)
    rows = {
        re.sub("<.*?>", "", row[0]): row[1:] for row in re.findall(r"<tr><td>(.*?)</td><td[^>]*>(.*?)</td><td[^>]*>(.*?)</td></tr>", page)
    }
    assert rows["Nodes trn1.32xlarge"] == ("2", "<b>0</b>")
    assert rows["Now, USD an hour"] == ("43.82", "<b>50.38</b>")
    assert rows["Idle, USD an hour"] == ("0.80", "0.80")
    assert rows["Time to ready"] == ("17 min 46 s", "<b>17 min 50 s</b>")
    assert "<b>USD 0.55</b>" in page


def test_a_change_that_stops_no_job_says_so_without_red():
    """Most changes are harmless, and a reader must see that at once."""
    calm = ChangeRun("addons.grafana.enabled=false", [change_run()], touched=[Touched("create", VPC, "network", [])])
    page = page_html(report(), recording(), calm)
    assert "<b>go on</b>" in page
    assert "<b>1 created</b>" in page
    assert read(page).red == []


def test_a_change_of_nothing_says_so():
    """A key that is set to what it is."""
    assert "<b>none touched</b>" in page_html(report(), recording(), ChangeRun("name=dev", [change_run()]))


def test_the_header_says_what_was_rehearsed():
    """The page is sent to others, who have not typed the command."""
    page = page_html(report(costs=[cost_line("EKS control plane", 0.1)]), recording())
    facts = dict(re.findall(r"<dt>(\w+)</dt><dd>(.*?)</dd>", page.split("</dl>")[0]))
    assert facts["Kubernetes"] == "1.35"
    assert facts["Nodes"].replace("\u00a0", " ") == "2 x trn2.48xlarge"
    assert facts["Resources"] == "5"
    assert facts["Prices"] == "read 2026-11"
    assert "use2-az1, use2-az2" in facts["Region"]
    assert "Lustre, 1200 GiB" in facts["Storage"]


def test_all_three_costs_are_in_the_figures():
    """One alone would be taken for what the month costs."""
    page = page_html(report(), recording())
    head = page[: page.index('id="cluster"')]
    assert [words for words in ("USD 43.82", "at full size: 45.04 an hour", "idle: 0.80 an hour") if words not in head] == []


def test_the_cluster_is_pictured_before_its_timeline():
    """What it is comes before how it is made."""
    page = page_html(report(), recording())
    assert page.index('id="cluster"') < page.index('id="timeline"') < page.index('id="cost"')


def test_a_thousand_lines_of_the_bill_are_folded():
    """The first are most of it, and the sum is below them."""
    lines = [cost_line(f"item-{index}", 1.0) for index in range(1000)]
    page = page_html(report(costs=lines), recording())
    assert "<summary>985 more</summary>" in page
    assert page.index("item-14<") < page.index("Total") < page.index("item-15<")


def test_the_time_to_ready_counts_every_run():
    """The time until the cluster is ready includes the failed run."""
    page = page_html(report(resources=[REFUSED], reruns=[up_again(resource(NODE_GROUP, "train", 0, 9))]), recording())
    assert "<b>29 s</b>" in page
    assert "in 2 runs: 20 s, 9 s" in page


def test_a_cluster_that_never_is_ready_has_no_time():
    """A time in large digits would be taken for the time to ready."""
    page = page_html(report(resources=[REFUSED]), recording())
    assert '<b class="bad">not ready</b><span class="muted">stopped by a refusal after 20 s' in page


def test_what_went_wrong_stands_first():
    """It is what the reader came for."""
    page = page_html(report(resources=[REFUSED]), recording())
    assert page.index("What went wrong") < page.index("Time to ready") < page.index('id="timeline"')


@pytest.mark.parametrize(("kind", "more"), [("refused", {"error": "x"}), ("retried", {"attempts": 2}), ("cut", {"cut": True})])
def test_the_legend_explains_what_occurs_and_nothing_else(kind: str, more: dict[str, Any]):
    """A red sample above a rehearsal without a failure makes the reader look for one."""
    sample = f'<svg class="row {kind}"'
    assert sample in page_html(report(resources=[resource(VPC, "network", 0, 9, **more)]), recording())
    assert sample not in page_html(report(), recording())


def test_the_legend_explains_the_lower_bound_where_it_is_drawn():
    """A run that stopped has no such line."""
    assert "lower bound: the shortest time" in page_html(report(), recording())
    assert "lower bound: the shortest time" not in page_html(report(resources=[REFUSED]), recording())


def test_what_the_page_is_made_from_is_packaged():
    """From a checkout it works without; installed as a package, `trn rehearse` would find neither style nor script."""
    packaged = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["setuptools"]["package-data"]["report"]
    beside = [path.relative_to(ROOT / "report") for path in (ROOT / "report").rglob("*.*") if path.suffix not in (".py", ".pyc")]
    assert beside
    assert [path for path in beside if not any(path.match(pattern) for pattern in packaged)] == []
