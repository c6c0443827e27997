"""`trn cost`: sums that hold, prices with their origin, live prices where there are any, and two stacks side by side."""

import json
import re
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from facts.prices import PRICES, hourly
from simulator.aws_endpoint.surroundings import Surroundings
from simulator.aws_endpoint.wire import Wire
from simulator.cost_figures import Amount
from tests.support import ROOT, copy_project
from tests.trn.aws.cloud import Cloud
from tests.trn.given import Given
from trn.app import app
from trn.aws.api import BotoApi
from trn.aws.pricing import LivePrice, live_prices
from trn.before.cost.bill import Bill, Line, bill_of, differences, repriced
from trn.engine.stack_file import read_stack_file


@cache
def dev() -> Bill:
    """The shipped stack's bill."""
    return bill_of(read_stack_file("dev", ROOT))


def product(usage_type: str, usd: str, unit: str = "Hrs", begin: str = "0", **more: str) -> str:
    """One entry of the price list, cut to what is read."""
    dimension = {"pricePerUnit": {"USD": usd}, "unit": unit, "beginRange": begin}
    terms = {"OnDemand": {"A": {"effectiveDate": "2026-11-01T00:00:00Z", "priceDimensions": {"A.1": dimension}}}}
    return json.dumps({"product": {"attributes": {"usagetype": usage_type}}, "terms": terms, **more})


def prices(*products: str) -> Wire:
    """An account that is shown this price list."""
    return Cloud(surroundings=Surroundings(price_list=list(products))).wire


def asked(wire: Wire, name: str) -> LivePrice | None:
    """The live price of one name."""
    return dict(live_prices(BotoApi("us-west-2", wire.session()), [name]))[name]


def test_the_sums_are_those_of_the_rehearsal():
    """Two figures for one stack would make both worthless."""
    assert dev().figures.now.usd_per_hour == pytest.approx(43.8176, abs=1e-4)
    assert dev().figures.full_size.usd_per_hour == pytest.approx(45.0354, abs=1e-3)
    assert dev().figures.idle.usd_per_hour == pytest.approx(0.7956, abs=1e-3)
    assert dev().lines[0].price == "trn1.32xlarge"


def test_a_run_counts_the_up_and_destroy_around_it():
    """Nodes bill from their first minute to their last."""
    training, around = dev().run(10)
    assert training.usd_per_hour == pytest.approx(438.18, abs=0.01)
    assert around.usd_per_hour == pytest.approx(43.8176 * dev().around_a_run_h, abs=0.01)
    assert 0.5 < dev().around_a_run_h < 1


def always(name: str, price: str, amount: Amount, source: str, *, verified: bool) -> Line:
    """A line with the same amount in each situation."""
    return Line(name, price, amount, amount, amount, source, verified)


def test_every_line_says_where_its_price_is_from():
    """A price without a date is a rumour; the root volumes' is the volumes', not the instances'."""
    by_what = {line.what: line for line in dev().lines}
    assert by_what["2 x trn1.32xlarge"].source.startswith("aws/karpenter-provider-aws")
    assert by_what["2 root volumes of 100 GiB"].source == PRICES["gp3 volume"].source
    assert all(line.source for line in dev().lines)


def test_doubtful_and_missing_prices_are_said():
    """A sum must say what it lacks, beside the number."""
    spot = always("spot", "trn2.48xlarge", Amount("2 x trn2.48xlarge (spot)", None), "x", verified=False)
    doubtful = always("fs", "Lustre 500", Amount("Lustre", 1.0), "not verified", verified=False)
    bill = replace(dev(), region="sa-east-1", lines=(*dev().lines, spot, doubtful))
    assert bill.figures.now.words(" USD an hour") == "44.82 USD an hour + 2 x trn2.48xlarge (spot) of unknown price"
    assert any("in sa-east-1 others hold" in note for note in bill.notes)
    assert "price not verified, do not rely on: Lustre 500" in bill.notes
    assert dev().notes == ()


def test_every_price_has_a_dated_source_or_is_said_to_be_not_verified():
    """A price that is remembered is no price."""
    for name, price in PRICES.items():
        dated = re.search(r"\b20\d\d-\d\d", price.source) is not None
        assert (price.source == "not verified", price.verified) in ((True, False), (False, True)), name
        assert dated or not price.verified, name


@pytest.mark.parametrize("usage_type", ["USW2-BoxUsage:trn1.32xlarge", "BoxUsage:trn1.32xlarge"])
def test_a_live_price_is_taken_with_its_date(usage_type: str):
    """The usage type has a prefix in every region but us-east-1."""
    wire = prices(product(usage_type, "21.7000000000"), product("USW2-BoxUsage:trn1.2xlarge", "1.3"))
    assert asked(wire, "trn1.32xlarge") == LivePrice(21.7, "Pricing API, effective 2026-11-01")
    (_, parameters), *_ = wire.calls
    assert {"Type": "TERM_MATCH", "Field": "regionCode", "Value": "us-west-2"} in parameters["Filters"]
    assert {"Type": "TERM_MATCH", "Field": "instanceType", "Value": "trn1.32xlarge"} in parameters["Filters"]


def test_a_monthly_price_is_spread_over_its_hours():
    """The list prices volumes by the month."""
    found = asked(prices(product("USW2-EBS:VolumeUsage.gp3", "0.0730", unit="GB-Mo")), "gp3 volume")
    assert found is not None
    assert found.usd_per_hour == pytest.approx(0.0001)


@pytest.mark.parametrize(
    "products",
    [
        (),
        (product("USW2-BoxUsage:trn1.32xlarge", "21.5"), product("BoxUsage:trn1.32xlarge", "22.5")),
        (product("USW2-BoxUsage:trn1.32xlarge", "0.0"),),
        (product("USW2-BoxUsage:trn1.32xlarge", "21.5", begin="100"),),
        (product("USW2-ReservedBoxUsage:trn1.32xlarge", "21.5"),),
    ],
)
def test_no_price_is_better_than_a_doubtful_one(products: tuple[str, ...]):
    """None, two, free, a later tier, or another usage type: the table's price stays."""
    assert asked(prices(*products), "trn1.32xlarge") is None


def test_a_name_without_a_query_is_not_asked_for():
    """What only a sweep meets keeps the table's price."""
    wire = prices()
    assert asked(wire, "log storage") is None
    assert wire.calls == []


def test_everything_that_the_program_can_make_has_a_live_price():
    """A bill half live and half from a table is neither."""
    swept = {"load balancer", "log storage", "Lustre backup"}
    for name in PRICES.keys() - swept:
        wire = prices()
        assert asked(wire, name) is None
        assert wire.calls, name


def test_a_file_system_is_found_by_what_it_is():
    """By type, storage and throughput: the usage type of Lustre's storage is in no document."""
    wire = prices(product("USW2-whatever", "0.145", unit="GB-Mo"))
    found = asked(wire, "Lustre 125")
    assert found is not None
    assert found.usd_per_hour == pytest.approx(hourly("Lustre 125"))
    ((_, parameters),) = wire.calls
    fields = {entry["Field"]: entry["Value"] for entry in parameters["Filters"]}
    assert fields == {
        "regionCode": "us-west-2", "productFamily": "Storage", "fileSystemType": "Lustre", "storageType": "SSD", "throughputCapacity": "125",
    }  # fmt: skip
    assert asked(prices(product("a", "0.145"), product("b", "0.2")), "Lustre 125") is None


def test_extended_support_is_the_standard_price_and_its_surcharge():
    """The list has the surcharge alone; with one of the two unknown the sum is unknown."""
    standard, more = product("USW2-AmazonEKS-Hours:perCluster", "0.1"), product("USW2-AmazonEKS-Hours:extendedSupport", "0.5")
    found = asked(prices(standard, more), "control plane, extended support")
    assert found is not None
    assert found.usd_per_hour == pytest.approx(0.6)
    assert asked(prices(more), "control plane, extended support") is None
    plain = asked(prices(standard, more), "control plane, standard support")
    assert plain is not None
    assert plain.usd_per_hour == 0.1


def test_a_key_is_sold_by_the_month_whatever_its_unit_is_called():
    """The list counts keys; a month's price taken for an hour's would be 730 USD."""
    found = asked(prices(product("us-west-2-KMS-Keys", "1.00", unit="Keys"), product("us-west-2-KMS-Requests", "0.03")), "KMS key")
    assert found is not None
    assert found.usd_per_hour == pytest.approx(1 / 730)


def test_live_prices_replace_what_they_name_and_nothing_else():
    """By proportion, so that sizes and counts stay; a capacity block was paid in advance."""
    paid = Amount("1 x trn1.32xlarge (capacity block, paid in advance)", 21.5)
    block = replace(always("block", "trn1.32xlarge", paid, "x", verified=True), paid_in_advance=True)
    bill = replace(dev(), lines=(*dev().lines, block))
    live = repriced(bill, {"trn1.32xlarge": LivePrice(20.0, "now"), "NAT gateway": None})
    by_what = {line.what: line for line in live.lines}
    assert by_what["2 x trn1.32xlarge"].now.usd_per_hour == pytest.approx(40.0)
    assert by_what["2 x trn1.32xlarge"].full_size.usd_per_hour == pytest.approx(40.0)
    assert by_what["2 x trn1.32xlarge"].source == "now"
    assert by_what["NAT gateway"].now.usd_per_hour == hourly("NAT gateway")
    assert by_what[block.what].now.usd_per_hour == 21.5
    dearer = repriced(bill, {"m5.xlarge": LivePrice(0.384, "now")})
    assert dearer.figures.idle.usd_per_hour == pytest.approx(bill.figures.idle.usd_per_hour + 0.384)


def test_two_bills_differ_only_where_they_do():
    """Largest change first; what both cost alike is left out."""
    two, block = Amount("4 x trn1.32xlarge", 86.0), Amount("2 x trn2.48xlarge", None)
    lines = tuple(replace(line, now=two, full_size=two) if "trn1" in line.price else line for line in dev().lines)
    (found,) = differences(dev(), replace(dev(), lines=lines))
    assert (found.name, found.before_usd_per_hour, found.after_usd_per_hour) == ("trn1-32xl", 43.0, 86.0)
    assert differences(dev(), dev()) == []
    grows = Line("pool", "trn2.48xlarge", Amount("", 0.0), block, Amount("", 0.0), "x", False)
    first, second = differences(dev(), replace(dev(), lines=(*lines, grows)))
    assert (first.name, first.after_usd_per_hour, first.after_full_size_usd_per_hour) == ("pool", 0.0, None)
    assert second == found


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The project with a second stack that is empty for the night."""
    copy_project(tmp_path)
    night = (ROOT / "Pulumi.dev.yaml").read_text().replace("      size: 2", "      size: 0")
    (tmp_path / "Pulumi.night.yaml").write_text(night)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def trn(*arguments: str) -> tuple[int, str, str]:
    """Exit code, standard output, standard error."""
    result = CliRunner().invoke(app, ["cost", *arguments], catch_exceptions=False)
    return result.exit_code, result.stdout, result.stderr


def test_the_command_prints_items_with_bars_sums_and_sources(project: Path):
    """In a pipe every item stays on one line."""
    code, out, _ = trn("dev", "--hours", "10")
    assert code == 0
    (line,) = [line for line in out.splitlines() if "2 x trn1.32xlarge" in line]
    assert line.endswith("█" * 20)
    for words in (
        "43.82 USD an hour now, 45.04 at full size, 0.80 idle",
        "43.82 an hour, 1,051.62 a day",
        "438.18 for 10 h",
        "EKS pricing page, 2026-11",
    ):
        assert words in out


def test_json_on_standard_output_is_nothing_but_json(project: Path):
    """`trn cost --json - | jq` must work."""
    _, out, err = trn("--json", "-")
    data: dict[str, Any] = json.loads(out)
    assert data["now"]["usdPerHour"] == pytest.approx(43.8176)
    assert data["items"][0]["verified"] is True
    assert "43.82 an hour" in err


def test_two_stacks_are_compared(project: Path):
    """What the night saves."""
    code, out, _ = trn("dev", "--compare", "night", "--json", "both.json")
    assert code == 0
    assert "now      -43.02 USD an hour" in out
    both = json.loads((project / "both.json").read_text())
    assert {item["name"] for item in both["differences"]} == {"trn1-32xl"}
    assert both["after"]["now"]["usdPerHour"] < 1


def test_slips_exit_with_2_and_a_place_that_cannot_be_written_with_1(project: Path):
    """And none of them with a traceback."""
    code, _, err = trn("nope")
    assert (code, "stacks with a file here: dev, night" in err) == (2, True)
    (project / "Pulumi.bad.yaml").write_text("config:\n  trn:name: x\n")
    code, _, err = trn("bad")
    assert (code, "mistakes in the configuration" in err, err.startswith("error: error")) == (2, True, False)
    code, _, err = trn("--json", "Pulumi.yaml/x.json")
    assert (code, "cannot write" in err) == (1, True)


def test_live_asks_with_the_stacks_region_and_tells_bad_credentials(project: Path, given: Given):
    """The table is the default so that nothing here needs an account."""
    wire = prices(product("USW2-BoxUsage:trn1.32xlarge", "20.0", serviceCode="AmazonEC2"))
    given.api = lambda region: BotoApi(region, wire.session())
    code, out, _ = trn("--live")
    assert (code, "Pricing API, effective 2026-11-01: trn1.32xlarge" in out, "40.82 an hour" in out) == (0, True, True)
    wire.denied.add("pricing.GetProducts")
    code, _, err = trn("--live")
    assert (code, "trn iam --operator" in err) == (1, True)
