"""`trn capacity buy`: twice asked, once bought, and the id is in the stack file whatever ends the run in between."""

import json
import os
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml
from botocore.exceptions import ReadTimeoutError
from botocore.parsers import ResponseParserError
from typer.testing import CliRunner

from facts.names import lock_name
from simulator.aws_endpoint.capacity import BOUGHT
from simulator.aws_endpoint.wire import Refused
from tests.support import copy_project
from tests.trn.aws.cloud import ACCOUNT, STACK
from tests.trn.aws.regions import Regions
from tests.trn.before.test_capacity_find import NOW, block
from tests.trn.change.owned import FakePulumi, state
from tests.trn.given import Given
from trn.app import app
from trn.aws import locks
from trn.aws.api import BotoApi
from trn.aws.block_purchase import PURCHASE
from trn.aws.capacity_blocks import block_offerings
from trn.aws.zones import DESCRIBE_RESERVATIONS
from trn.before.capacity import purchase
from trn.before.capacity.change import is_sum
from trn.before.capacity.purchase import PurchaseRecord
from trn.cli.errors import CommandError

OFFER, GROUP, SUM = "cb-0123456789abcdef0", "trn1-32xl", 3094.61
SAID = "y\n3,094.61\n"
GIVEN = ("--instances", "2", "--hours", "72")


@pytest.fixture
def regions(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, given: Given) -> Regions:
    """The shipped stack, never up, and one offer."""
    copy_project(tmp_path)
    monkeypatch.chdir(tmp_path)
    made = Regions(NOW)
    made.around("us-west-2").blocks = [block(OFFER, "us-west-24", 3, SUM)]
    given.api = made.api
    given.on_pause = lambda _: None
    monkeypatch.setattr("trn.aws.lock.PAUSE_S", 0)
    given.engine = FakePulumi(None)
    return made


def buy(*arguments: str, said: str = SAID, offer: str = OFFER) -> tuple[int, str, str]:
    """Exit code, output, errors."""
    result = CliRunner().invoke(app, ["capacity", "buy", "dev", offer, *GIVEN, *arguments], input=said)
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result.exit_code, result.stdout, result.stderr


def bought(regions: Regions) -> dict[str, Any]:
    """Blocks of the account."""
    return regions.world.state.others.get(BOUGHT, {})


def group() -> dict[str, Any]:
    """The group as the stack file has it."""
    return yaml.safe_load(Path("Pulumi.dev.yaml").read_text())["config"]["trn:nodeGroups"][GROUP]


def records() -> list[str]:
    """Purchases whose end is not known."""
    return [path.name for path in Path("build/capacity").glob("*")]


def purchases(regions: Regions) -> int:
    """How often EC2 was asked to sell."""
    return sum(name == "ec2.PurchaseCapacityBlock" for name in regions.calls())


def test_it_is_bought_tagged_and_written_and_comments_stay(regions: Regions):
    """The sum is shown with account and time before the first question."""
    before = Path("Pulumi.dev.yaml").read_text()
    code, out, err = buy()
    assert code == 0, err
    ((which, entry),) = bought(regions).items()
    tags = {tag["Key"]: tag["Value"] for tag in entry["Tags"]}
    assert len(tags.pop("trn:purchase")) == 32
    assert tags == {"Name": f"trainium-dev-{GROUP}", "trn:cluster": "trainium-dev", "trn:block-for": GROUP, "trn:capacity-offer": OFFER}
    assert (group()["capacityType"], group()["capacityReservationId"], group()["size"]) == ("CAPACITY_BLOCK", which, 2)
    starts, ends = group()["capacityBlock"]["startsAt"], group()["capacityBlock"]["endsAt"]
    assert (starts, ends) == (entry["StartDate"], entry["EndDate"])
    assert [line for line in before.splitlines() if line not in Path("Pulumi.dev.yaml").read_text().splitlines()] == []
    shown, _, rest = err.partition("Buy this block for 3,094.61 USD?")
    assert (f"account  {ACCOUNT}" in shown, "capacityReservationId: cr-..." in shown, "Type the sum, 3094.61" in rest) == (True, True, True)
    assert (which in out, records()) == (True, [])
    assert not regions.world.state.others.get("template")


@pytest.mark.parametrize("said", ["n\n", "y\n\n", "y\n3094.60\n", "y\ny\n", "y\n30946.1\n", "y\n3094.61.0\n"])
def test_anything_but_a_yes_and_the_sum_buys_nothing(regions: Regions, said: str):
    """A second yes is no sum."""
    before = Path("Pulumi.dev.yaml").read_text()
    assert buy(said=said)[0] != 0
    assert (purchases(regions), Path("Pulumi.dev.yaml").read_text(), records()) == (0, before, [])


def test_a_sum_is_read_to_the_cent():
    """However people write dollars."""
    assert all(is_sum(text, 3094.6) for text in ("3094.60", "3094.6", "$3,094.60", " 3094.60 USD"))
    assert not any(is_sum(text, 3094.6) for text in ("3094", "3094.61", "", "yes", "-3094.60", "1e3"))


@pytest.mark.parametrize(
    ("arguments", "code", "wrong"),
    [
        ([], 2, "--yes alone buys nothing"),
        (["--limit-usd", "3094.61"], 2, f"add --account {ACCOUNT}"),
        (["--limit-usd", "3094.60", "--account", ACCOUNT], 1, "more than --limit-usd 3094.60; nothing was bought"),
        (["--limit-usd", "3095", "--account", "999999999999"], 2, f"credentials of account {ACCOUNT}, not of 999999999999"),
        (["--limit-usd", "3094.61", "--account", ACCOUNT], 0, ""),
    ],
)
def test_automation_names_the_sum_and_the_account(regions: Regions, arguments: list[str], code: int, wrong: str):
    """No switch alone spends money."""
    result, _, err = buy("--yes", *arguments, said="")
    assert (result, wrong in err, purchases(regions)) == (code, True, 1 if code == 0 else 0)


def test_a_stack_that_is_up_proves_its_account(regions: Regions, given: Given):
    """Then no account has to be named, and another one is refused by what the state holds."""
    export = state("trainium-dev", with_cluster=False)
    given.engine = FakePulumi(export)
    assert buy("--yes", "--limit-usd", "4000", said="")[0] == 0
    (entry,) = bought(regions).values()
    assert {"Key": "trn:stack", "Value": STACK} in entry["Tags"]
    given.engine = FakePulumi(json.loads(json.dumps(export).replace(ACCOUNT, "999999999999")))
    code, _, err = buy()
    assert (code, "account: Pulumi's state has 999999999999" in err, purchases(regions)) == (1, True, 1)


def test_a_dry_run_asks_ec2_and_buys_nothing(regions: Regions):
    """EC2's own DryRun: what it would refuse is said."""
    before = Path("Pulumi.dev.yaml").read_text()
    code, out, err = buy("--dry-run", said="")
    assert (code, "EC2 would sell" in out, "3,094.61 USD" in err) == (0, True, True)
    assert [given["DryRun"] for name, given in regions.wire("us-west-2").calls if name == "ec2.PurchaseCapacityBlock"] == [True]
    assert (bought(regions), Path("Pulumi.dev.yaml").read_text(), records()) == ({}, before, [])
    regions.wire("us-west-2").denied.add("ec2.PurchaseCapacityBlock")
    assert buy("--dry-run", said="")[0] == 1


def test_an_offer_that_is_gone_is_not_bought(regions: Regions):
    """Between find and buy others buy too; the numbers must be the same as well."""
    code, _, err = buy(offer="cb-0000000000000000f")
    assert (code, "nothing was bought" in err, "trn capacity find dev --instances 2 --hours 72" in err) == (1, True, True)
    code, _, err = buy("--hours", "24")
    assert (code, "for 24 h on offer" in err) == (1, True)
    regions.around("us-west-2").unsold[OFFER] = ("InvalidCapacityBlockOfferingId.Expired", "The offering has expired")
    before = Path("Pulumi.dev.yaml").read_text()
    code, _, err = buy()
    assert (code, "InvalidCapacityBlockOfferingId.Expired: The offering has expired; nothing was bought" in err) == (1, True)
    assert (records(), Path("Pulumi.dev.yaml").read_text()) == ([], before)


def test_a_refusal_names_the_right_that_is_missing(regions: Regions):
    """It is in a document of its own."""
    regions.wire("us-west-2").denied.add("ec2.PurchaseCapacityBlock")
    code, _, err = buy()
    assert (code, "`trn iam dev --buyer`" in err, records()) == (1, True, [])
    made = json.loads(CliRunner().invoke(app, ["iam", "dev", "--buyer", "--json", "-"]).stdout)
    (document,) = made["policies"].values()
    assert {action for statement in document["Statement"] for action in statement["Action"]} == {
        "ec2:PurchaseCapacityBlock",
        "ec2:CreateTags",
    }
    operator = CliRunner().invoke(app, ["iam", "dev", "--operator", "--deployer", "--json", "-"]).stdout
    assert ("ec2:PurchaseCapacityBlock" in operator, "ec2:GetSpotPlacementScores" in operator) == (False, True)


def test_a_kill_before_the_file_is_written_loses_nothing(regions: Regions, monkeypatch: pytest.MonkeyPatch):
    """The second run finds the block by its tag, asks nothing, pays nothing, and writes it."""

    def killed(*_: Any) -> None:
        raise SystemError("killed")

    with monkeypatch.context() as patch:
        patch.setattr(purchase, "edit_stack", killed)
        with pytest.raises(SystemError):
            buy()
    ((which, _),) = bought(regions).items()
    assert ("capacityReservationId" in group(), records()) == (False, [f"dev.{OFFER}.json"])
    code, out, _ = buy(said="")
    assert (code, "was bought before: nothing was paid now" in out, group()["capacityReservationId"]) == (0, True, which)
    assert (purchases(regions), records()) == (1, [])
    code, out, _ = buy(said="")
    assert (code, "was not changed" in out, purchases(regions)) == (0, True, 1)


def test_the_request_is_sent_once(regions: Regions):
    """EC2 knows no token that would make a second one harmless; reads are repeated. boto3 itself says how often it sends."""
    attempts = dict[str, int]()
    api = regions.api("us-west-2")
    assert isinstance(api, BotoApi)
    for call in (PURCHASE, DESCRIBE_RESERVATIONS):
        attempts[call.operation] = api.client("ec2", repeats=call.repeats).meta.config.retries["total_max_attempts"]
    assert (attempts["PurchaseCapacityBlock"], attempts["DescribeCapacityReservations"] > 1) == (1, True)


def test_no_answer_is_not_taken_for_a_no(regions: Regions):
    """It may have been bought: the next run looks for it, and never asks EC2 to sell again while that is in doubt."""
    wire = regions.wire("us-west-2")
    wire.faults["ec2.PurchaseCapacityBlock"] = [ReadTimeoutError(endpoint_url="https://ec2")] * 9
    code, _, err = buy()
    assert (code, "EC2 gave no answer" in err, "its end is not known" in err) == (1, True, True)
    assert (purchases(regions), records()) == (1, [f"dev.{OFFER}.json"])
    # It was bought, and EC2 shows it late.
    wire.faults.clear()
    code, _, err = buy()
    assert (code, "its end is not known; EC2 shows no such block yet" in err, "delete build/capacity" in err) == (1, True, True)
    assert purchases(regions) == 1
    api = regions.api("us-west-2")
    assert block_offerings(api, "trn1.32xlarge", 2, 72, NOW.date())
    token = PurchaseRecord.of(Path.cwd(), "dev", OFFER).token
    which = purchase.purchase(api, OFFER, {"trn:cluster": "trainium-dev", "trn:capacity-offer": OFFER, "trn:purchase": token})
    code, _, _ = buy(said="")
    assert (code, group()["capacityReservationId"], records()) == (0, which, [])


def test_two_operators_buy_one_block(regions: Regions):
    """The other one was faster, while this one read the sum: what is there is written, and not bought again."""

    def sold_meanwhile(name: str) -> None:
        if name == "ec2.CreateLaunchTemplate" and not bought(regions):
            purchase.purchase(regions.api("us-west-2"), OFFER, {"trn:cluster": "trainium-dev", "trn:capacity-offer": OFFER})

    regions.wire("us-west-2").after_call = sold_meanwhile
    code, out, _ = buy()
    assert code == 0
    assert (purchases(regions), len(bought(regions)), group()["capacityReservationId"]) == (1, 1, next(iter(bought(regions))))
    assert "was bought before: nothing was paid now" in out


def test_a_locked_cluster_and_a_block_of_another_cluster(regions: Regions):
    """Neither is passed over."""
    regions.wire("us-west-2").faults["ec2.CreateLaunchTemplate"] = [Refused("InvalidLaunchTemplateName.AlreadyExistsException", "there")]
    code, _, err = buy()
    assert (code, "the cluster is locked" in err, purchases(regions)) == (1, True, 0)
    assert buy()[0] == 0
    next(iter(bought(regions).values()))["Tags"] = [{"Key": "trn:cluster", "Value": "other"}, {"Key": "trn:capacity-offer", "Value": OFFER}]
    code, _, err = buy()
    assert (code, "for cluster `other`" in err) == (1, True)


def test_a_group_on_a_block_keeps_it(regions: Regions):
    """A second block goes to a group of its own: the id of the first would be lost from the stack file."""
    assert buy()[0] == 0
    second = "cb-0123456789abcdef1"
    regions.around("us-west-2").blocks.append(block(second, "us-west-24", 6, 100))
    code, _, err = buy(offer=second, said="y\n100\n")
    assert (code, f"`nodeGroups.{GROUP}` is on cr-" in err, purchases(regions)) == (2, True, 1)
    code, _, err = buy("--group", "second", "--type", "trn1.32xlarge", offer=second, said="y\n100\n")
    assert code == 0, err
    made = yaml.safe_load(Path("Pulumi.dev.yaml").read_text())["config"]["trn:nodeGroups"]["second"]
    assert (made["instanceType"], made["capacityType"]) == ("trn1.32xlarge", "CAPACITY_BLOCK")


def test_a_block_in_another_zone_of_the_region_takes_the_zone_along(regions: Regions):
    """Appended, as zones only ever are."""
    regions.around("us-west-2").blocks = [block(OFFER, "us-west-22", 3, SUM)]
    assert buy()[0] == 0
    assert group()["zoneIds"] == ["usw2-az2"]
    assert "zones: [usw2-az4, usw2-az1, usw2-az2]" in Path("Pulumi.dev.yaml").read_text()


def test_what_the_stack_file_would_refuse_is_not_bought(regions: Regions):
    """Judged with the block in it, before the first question: here in a zone in which EKS places no control plane."""
    path = Path("Pulumi.dev.yaml")
    path.write_text(path.read_text().replace("us-west-2", "us-east-1").replace("[usw2-az4, usw2-az1]", "[use1-az6, use1-az4]"))
    regions.around("us-east-1").blocks = [block(OFFER, "us-east-13", 3, SUM)]
    code, _, err = buy()
    assert (code, "use1-az3" in err, "Buy this block" in err, purchases(regions)) == (2, True, False, 0)


@pytest.mark.parametrize("limit", ["inf", "1e999", "nan"])
def test_a_limit_without_end_is_no_sum(regions: Regions, limit: str):
    """Automation would buy at any price."""
    assert buy("--yes", "--limit-usd", limit, "--account", ACCOUNT, said="")[0] == 2
    assert purchases(regions) == 0


@pytest.mark.parametrize("offer", ["*", "cb-*", "cb-?123456789abcdef0", "", "../x"])
def test_a_pattern_is_no_offer(regions: Regions, offer: str):
    """EC2's filters take `*` and `?`, which would find every block that was bought."""
    code, _, err = buy(offer=offer)
    assert (code, "is not the id of an offer" in err, list(regions.calls())) == (2, True, [])


def test_a_second_run_for_another_group_overwrites_no_block(regions: Regions, monkeypatch: pytest.MonkeyPatch):
    """Killed before the file was written, and run again without --group: the block of the first group stays in the file."""
    assert buy()[0] == 0
    first, second = group()["capacityReservationId"], "cb-0123456789abcdef1"
    regions.around("us-west-2").blocks.append(block(second, "us-west-24", 6, 100))

    def killed(*_: Any) -> None:
        raise SystemError("killed")

    named = ("--group", "second", "--type", "trn1.32xlarge")
    with monkeypatch.context() as patch:
        patch.setattr(purchase, "edit_stack", killed)
        with pytest.raises(SystemError):
            buy(*named, offer=second, said="y\n100\n")
    code, _, err = buy(offer=second)
    assert (code, f"`nodeGroups.{GROUP}` is on {first}" in err, "is bought, and not in the stack file yet" in err) == (2, True, True)
    assert group()["capacityReservationId"] == first
    assert buy(*named, offer=second)[0] == 0
    code, _, err = buy("--group", "third", "--type", "trn1.32xlarge", offer=second)
    assert (code, "`nodeGroups.second` has it; nothing was changed" in err, purchases(regions)) == (2, True, 2)


@pytest.mark.parametrize(
    ("changed", "wrong"),
    [({"ReservationType": "default"}, "is no capacity block"), ({"InstanceType": "trn2.48xlarge"}, "of trn2.48xlarge; `nodeGroups.")],
)
def test_a_reservation_with_look_alike_tags_is_not_written(regions: Regions, changed: dict[str, str], wrong: str):
    """Tags are copied by hand; the group could launch nothing into such a reservation."""
    purchase.purchase(seen(regions), OFFER, {"trn:cluster": "trainium-dev", "trn:capacity-offer": OFFER})
    next(iter(bought(regions).values())).update(changed)
    before = Path("Pulumi.dev.yaml").read_text()
    code, _, err = buy()
    assert (code != 0, wrong in err, Path("Pulumi.dev.yaml").read_text()) == (True, True, before)


def seen(regions: Regions) -> Any:
    """The region after a look at its offers: only what was shown is sold."""
    api = regions.api("us-west-2")
    assert block_offerings(api, "trn1.32xlarge", 2, 72, NOW.date())
    return api


def test_what_changes_while_the_question_waits_is_not_bought(regions: Regions):
    """Another price than the one that was typed; and another run here whose purchase got no answer."""
    wire = regions.wire("us-west-2")

    def dearer(name: str) -> None:
        if name == "ec2.CreateLaunchTemplate":
            regions.around("us-west-2").blocks = [block(OFFER, "us-west-24", 3, SUM + 1)]

    wire.after_call = dearer
    code, _, err = buy()
    assert (code, "has changed since it was confirmed" in err, purchases(regions), records()) == (1, True, 0, [])

    def begun(name: str) -> None:
        if name == "ec2.CreateLaunchTemplate":
            PurchaseRecord.of(Path.cwd(), "dev", OFFER).write({"offer": OFFER})

    wire.after_call = begun
    code, _, err = buy(said=f"y\n{SUM + 1}\n")
    assert (code, "its end is not known" in err, purchases(regions), len(records())) == (1, True, 0, 1)


def test_a_stack_file_that_cannot_be_written_is_said_before_money_is_spent(regions: Regions, monkeypatch: pytest.MonkeyPatch):
    """One whose group is an alias cannot be changed alone, and one may be read-only."""
    path = Path("Pulumi.dev.yaml")
    whole = path.read_text()
    with monkeypatch.context() as patch:
        patch.setattr("trn.engine.stack_edit.os.access", lambda *_: False)
        code, _, err = buy()
        assert (code, "is read-only for this user" in err, "Buy this block" in err, purchases(regions)) == (1, True, False, 0)
    held = yaml.safe_load(whole)
    groups = held["config"].pop("trn:nodeGroups")
    group_line = f"{{instanceType: trn1.32xlarge, size: 2, releaseVersion: {groups[GROUP]['releaseVersion']}}}"
    path.write_text(f"{yaml.safe_dump(held)}  trn:nodeGroups:\n    other: &one {group_line}\n    {GROUP}: *one\n")
    code, _, err = buy()
    assert (code, "cannot be changed alone" in err, "Buy this block" in err, purchases(regions)) == (1, True, False, 0)


@pytest.mark.parametrize("name", ["1", "true", "null", "1e3", "2026-01-01"])
def test_a_new_group_whose_name_is_a_number_to_yaml_is_written_in_quotes(regions: Regions, name: str):
    """Paid, and then refused by the file, it would have to be typed by hand."""
    assert buy("--group", name, "--type", "trn1.32xlarge")[0] == 0
    assert name in yaml.safe_load(Path("Pulumi.dev.yaml").read_text())["config"]["trn:nodeGroups"]


def answered_late(regions: Regions, error: Exception) -> None:
    """EC2 takes the money, and then something else comes back than its answer."""
    handlers = regions.wire("us-west-2").handlers
    sell = handlers["ec2.PurchaseCapacityBlock"]

    def sold(given: dict[str, Any]) -> dict[str, Any]:
        sell(given)
        raise error

    handlers["ec2.PurchaseCapacityBlock"] = sold


@pytest.mark.parametrize(
    "error",
    [
        ReadTimeoutError(endpoint_url="https://ec2"),
        Refused("InternalError", "An internal error has occurred", 500),
        Refused("Unavailable", "The service is unavailable", 503),
        ResponseParserError("Unable to parse response, invalid XML received"),
        KeyError("CapacityReservation"),
    ],
)
def test_an_answer_that_is_lost_is_looked_up_at_once(regions: Regions, error: Exception):
    """An error of the server's own does not say that nothing was bought. The block has the run's tag: nothing is said but its id."""
    answered_late(regions, error)
    code, out, err = buy()
    assert (code, "not known" in err, "no answer" in err, purchases(regions), records()) == (0, False, False, 1, []), err
    assert group()["capacityReservationId"] == next(iter(bought(regions)))
    assert next(iter(bought(regions))) in out


@pytest.mark.parametrize("code", ["RequestLimitExceeded", "InsufficientInstanceCapacity"])
def test_a_server_error_that_is_a_no_leaves_no_record(regions: Regions, code: str):
    """EC2 answers both with 503 and 500."""
    regions.wire("us-west-2").faults["ec2.PurchaseCapacityBlock"] = [Refused(code, "no", 503)]
    result, _, err = buy()
    assert (result, f"{code}: no; nothing was bought" in err, records()) == (1, True, [])


def test_a_lock_that_is_taken_from_a_run_that_was_killed_leaves_its_purchase_in_doubt(regions: Regions):
    """On another computer there is no record of it: the block is looked for as long as with one."""
    wire, looks = regions.wire("us-west-2"), list[str]()
    sell = wire.handlers["ec2.DescribeCapacityReservations"]

    def seen_late(given: dict[str, Any]) -> dict[str, Any]:
        looks.extend(each["Name"] for each in given.get("Filters", ()) if "offer" in each["Name"])
        return sell(given) if len(looks) > 4 else {"CapacityReservations": []}

    purchase.purchase(seen(regions), OFFER, {"trn:cluster": "trainium-dev", "trn:capacity-offer": OFFER})
    around = regions.around("us-west-2")
    wire.handlers["ec2.DescribeCapacityReservations"] = seen_late
    wire.handlers["ec2.DescribeCapacityBlockOfferings"] = lambda _: {"CapacityBlockOfferings": around.blocks}
    assert locks.create(regions.api("us-west-2"), lock_name("trainium-dev"), "trainium-dev", {})
    assert buy()[0] == 1
    looks.clear()
    code, _, err = buy("--break-lock")
    assert (code, purchases(regions), group()["capacityReservationId"]) == (0, 1, next(iter(bought(regions)))), err


def test_a_stack_file_that_changes_while_the_question_waits_is_not_written_over(regions: Regions):
    """Two runs in one folder, each with an offer of its own: the second would overwrite the id that the first has written and paid."""
    path, wire = Path("Pulumi.dev.yaml"), regions.wire("us-west-2")

    def written_meanwhile(name: str) -> None:
        if name == "ec2.CreateLaunchTemplate":
            path.write_text(path.read_text().replace("size: 2", "size: 2\n      capacityReservationId: cr-0fedcba9876543210"))

    wire.after_call = written_meanwhile
    code, _, err = buy()
    assert (code, "Pulumi.dev.yaml has been edited since" in err, purchases(regions)) == (1, True, 0)
    assert group()["capacityReservationId"] == "cr-0fedcba9876543210"


def test_a_block_of_another_computer_is_not_bought_a_second_time_for_the_group(regions: Regions):
    """Another offer, and a stack file without the id: of both blocks the group could have one. One that begins later is no second one."""
    whole = Path("Pulumi.dev.yaml").read_text()
    assert buy()[0] == 0
    first = group()["capacityReservationId"]
    Path("Pulumi.dev.yaml").write_text(whole)
    second, later = "cb-0123456789abcdef1", "cb-0123456789abcdef2"
    regions.around("us-west-2").blocks += [block(second, "us-west-24", 4, SUM), block(later, "us-west-24", 6, SUM)]
    code, _, err = buy(offer=second)
    assert (code, f"{first} was bought for `nodeGroups.{GROUP}`, and is not in" in err, purchases(regions)) == (2, True, 1)
    assert (f"`trn capacity buy dev {OFFER} --group {GROUP}` writes it" in " ".join(err.split()), "Buy this block" in err) == (True, False)
    assert buy("--group", "second", "--type", "trn1.32xlarge", offer=second)[0] == 0
    assert (buy(offer=later)[0], purchases(regions)) == (0, 3)


def test_a_block_that_another_computer_buys_while_the_question_waits(regions: Regions):
    """Of another offer, for the same group."""
    second = "cb-0123456789abcdef1"
    regions.around("us-west-2").blocks.append(block(second, "us-west-24", 4, SUM))

    def sold_meanwhile(name: str) -> None:
        if name == "ec2.CreateLaunchTemplate" and not bought(regions):
            tags = {"trn:cluster": "trainium-dev", "trn:block-for": GROUP, "trn:capacity-offer": second}
            purchase.purchase(seen(regions), second, tags)

    regions.wire("us-west-2").after_call = sold_meanwhile
    code, _, err = buy()
    assert (code, "nothing was bought" in err, purchases(regions), records()) == (2, True, 1, [])


def test_a_block_that_is_there_is_not_written_where_the_stack_file_would_be_refused(regions: Regions):
    """Bought by hand in a zone in which EKS places no control plane: its id is said, and the file stays one that can be read."""
    path = Path("Pulumi.dev.yaml")
    path.write_text(path.read_text().replace("us-west-2", "us-east-1").replace("[usw2-az4, usw2-az1]", "[use1-az6, use1-az4]"))
    regions.around("us-east-1").blocks = [block(OFFER, "us-east-13", 3, SUM)]
    api, before = regions.api("us-east-1"), path.read_text()
    assert block_offerings(api, "trn1.32xlarge", 2, 72, NOW.date())
    which = purchase.purchase(api, OFFER, {"trn:cluster": "trainium-dev", "trn:capacity-offer": OFFER})
    code, _, err = buy()
    assert (code, f"was bought as {which}" in err, "use1-az3" in err, path.read_text() == before) == (2, True, True, True)


def test_a_second_run_with_another_count_takes_that_of_the_block(regions: Regions):
    """Killed, and run again without `--instances`: a group larger than its block would launch nothing."""
    purchase.purchase(seen(regions), OFFER, {"trn:cluster": "trainium-dev", "trn:capacity-offer": OFFER})
    code, _, err = buy("--instances", "8", said="")
    assert (code, group()["size"], purchases(regions)) == (0, 2, 1), err
    assert f"{OFFER} was bought as cr-" in err


# Right before the purchase, and after it


def under_the_lock(regions: Regions, act: Callable[[], None], at: str = "ec2.DescribeCapacityBlockOfferings") -> None:
    """Something happens while the run looks at the offer for the last time."""
    wire, seen = regions.wire("us-west-2"), list[str]()

    def after(name: str) -> None:
        seen.append(name)
        if name == at and "ec2.CreateLaunchTemplate" in seen:
            wire.after_call = lambda _name: None
            act()

    wire.after_call = after


def test_with_the_lock_lost_nothing_is_bought(regions: Regions):
    """A colleague took it for dead, and is at the stack file."""
    api = regions.api("us-west-2")

    def broken() -> None:
        kept = locks.read(api, lock_name("trainium-dev"))
        assert kept is not None
        locks.delete(api, kept.id)
        assert locks.create(api, lock_name("trainium-dev"), "trainium-dev", {"trn:lock-command": "capacity buy dev"})

    under_the_lock(regions, broken)
    code, _, err = buy("--json", "report.json")
    assert (code, "has lost its lock" in err, purchases(regions), records()) == (1, True, 0, [])
    assert (report()["isBought"], "has lost its lock" in report()["error"]) == (False, True)
    assert locks.read(api, lock_name("trainium-dev")) is not None


def test_with_credentials_of_another_account_nothing_is_bought(regions: Regions):
    """A session that ended was signed in again, to another account than the one that was confirmed."""
    handlers = regions.wire("us-west-2").handlers

    def signed_in() -> None:
        handlers["sts.GetCallerIdentity"] = lambda _: {"Account": "999999999999", "Arn": "arn:aws:iam::999999999999:user/a", "UserId": "a"}

    under_the_lock(regions, signed_in)
    code, _, err = buy()
    assert (code, "another one since it was confirmed" in err, "999999999999" in err) == (1, True, True)
    assert (purchases(regions), records()) == (0, [])


def test_a_colleagues_purchase_of_the_same_offer_is_not_taken_for_ours(regions: Regions):
    """Ours got no answer: it may have been sold too, or not. The colleague's block lacks the run's token, so that neither is said."""
    handlers = regions.wire("us-west-2").handlers
    sell = handlers["ec2.PurchaseCapacityBlock"]

    def sold_to_another(given: dict[str, Any]) -> dict[str, Any]:
        tags = [tag for tag in given["TagSpecifications"][0]["Tags"] if tag["Key"] != "trn:purchase"]
        sell({**given, "TagSpecifications": [{"ResourceType": "capacity-reservation", "Tags": tags}]})
        raise ReadTimeoutError(endpoint_url="https://ec2")

    handlers["ec2.PurchaseCapacityBlock"] = sold_to_another
    code, _, err = buy("--json", "report.json")
    ((which, _),) = bought(regions).items()
    assert (code, "its end is not known" in err, f"{which}, of the same offer, is another run's" in err) == (1, True, True)
    assert ("capacityReservationId" in group(), records()) == (False, [f"dev.{OFFER}.json"])
    assert (report()["isBought"], report()["capacityReservationId"]) == (None, None)
    assert buy(said="")[0] == 1
    # A person has seen that there is one block only.
    PurchaseRecord.of(Path.cwd(), "dev", OFFER).delete()
    code, out, _ = buy(said="")
    assert (code, "was bought before: nothing was paid now" in out, group()["capacityReservationId"]) == (0, True, which)


def test_the_token_is_in_the_record_before_ec2_is_asked(regions: Regions):
    """Whatever ends the run then, the next one knows the block of this one."""
    handlers, kept = regions.wire("us-west-2").handlers, list[str]()
    sell = handlers["ec2.PurchaseCapacityBlock"]

    def noted(given: dict[str, Any]) -> dict[str, Any]:
        kept.append(PurchaseRecord.of(Path.cwd(), "dev", OFFER).token)
        return sell(given)

    handlers["ec2.PurchaseCapacityBlock"] = noted
    assert buy()[0] == 0
    (entry,) = bought(regions).values()
    assert {"Key": "trn:purchase", "Value": kept[0]} in entry["Tags"]


def test_a_record_of_0_1_0_has_no_token(regions: Regions):
    """Its block is known by the offer."""
    which = purchase.purchase(seen(regions), OFFER, {"trn:cluster": "trainium-dev", "trn:capacity-offer": OFFER})
    PurchaseRecord.of(Path.cwd(), "dev", OFFER).write({"offer": OFFER, "region": "us-west-2"})
    assert (buy(said="")[0], group()["capacityReservationId"], records()) == (0, which, [])


# The report


def report() -> dict[str, Any]:
    """What `--json` got."""
    return json.loads(Path("report.json").read_text())


def no_right(regions: Regions) -> None:
    """EC2 refuses."""
    regions.wire("us-west-2").denied.add("ec2.PurchaseCapacityBlock")


def lock_held(regions: Regions) -> None:
    """Another run has it."""
    assert locks.create(regions.api("us-west-2"), lock_name("trainium-dev"), "trainium-dev", {})


def ended_by(number: signal.Signals) -> Callable[[Regions], None]:
    """A signal that arrives while offers are asked for, before the first question."""

    def act(regions: Regions) -> None:
        regions.wire("us-west-2").after_call = lambda name: os.kill(os.getpid(), number) if "Offerings" in name else None

    return act


@pytest.mark.parametrize(
    ("prepare", "said", "code", "end", "error"),
    [
        (lambda _: None, SAID, 0, "done", ""),
        (lambda _: None, "n\n", 1, "declined", "Abort"),
        (lambda _: None, "y\n1\n", 2, "declined", "is not the sum"),
        (no_right, SAID, 1, "refused", "nothing was bought"),
        (lock_held, SAID, 1, "refused", "the cluster is locked"),
        (ended_by(signal.SIGTERM), SAID, 130, "interrupted", "KeyboardInterrupt"),
        (ended_by(signal.SIGINT), SAID, 130, "interrupted", "KeyboardInterrupt"),
    ],
    ids=["bought", "no", "another sum", "no right", "locked", "SIGTERM", "Ctrl-C"],
)
def test_the_report_is_written_whatever_ends_it(
    regions: Regions, prepare: Callable[[Regions], None], said: str, code: int, end: str, error: str
):
    """Who spends money by a pipeline reads from it whether it is spent."""
    prepare(regions)
    assert buy("--json", "report.json", said=said)[0] == code
    made = report()
    assert (made["schema"], made["end"], error in (made["error"] or ""), bool(made["error"])) == (
        "trn-capacity-buy", end, True, end != "done",
    )  # fmt: skip
    assert (made["isBought"], made["capacityReservationId"]) == (code == 0, next(iter(bought(regions)), None))


def test_a_block_whose_id_could_not_be_written_is_in_the_report(regions: Regions, monkeypatch: pytest.MonkeyPatch):
    """It is paid: the id is what the user needs most."""

    def full(*_: Any) -> None:
        raise CommandError("cannot write `Pulumi.dev.yaml`: no space left on device")

    monkeypatch.setattr(purchase, "edit_stack", full)
    assert buy("--json", "report.json")[0] == 1
    assert (report()["isBought"], report()["capacityReservationId"], report()["end"]) == (True, next(iter(bought(regions))), "failed")


def test_a_lock_that_cannot_be_given_up_loses_no_purchase(regions: Regions):
    """The block, the file and the report are as of any other purchase; the exit code is 1."""
    regions.wire("us-west-2").denied.add("ec2.DeleteLaunchTemplate")
    code, out, err = buy("--json", "report.json")
    which = next(iter(bought(regions)))
    assert (code, f"has {which} for" in out, "stays: " in err) == (1, True, True)
    assert (report()["end"], report()["capacityReservationId"], group()["capacityReservationId"]) == ("done", which, which)


def test_a_report_that_cannot_be_written_is_said_before_money_is_spent(regions: Regions):
    """Whoever reads from it whether it is spent would not know."""
    Path("taken").mkdir()
    code, _, err = buy("--json", "taken")
    assert (code, "cannot write `taken`" in err, purchases(regions), records()) == (1, True, 0, [])


def test_another_price_is_asked_about_again_with_its_sum(regions: Regions):
    """A yes to the first price is none to the second; `--yes` is not either, though the limit would allow it."""
    wire = regions.wire("us-west-2")

    def dearer(name: str) -> None:
        if name == "ec2.CreateLaunchTemplate":
            regions.around("us-west-2").blocks = [block(OFFER, "us-west-24", 3, SUM + 1)]

    wire.after_call = dearer
    code, _, err = buy("--yes", "--limit-usd", "4000", "--account", ACCOUNT, said="")
    assert (code, "this is not what was confirmed" in err, purchases(regions)) == (1, True, 0)
    for said, code, count in ((f"{SAID}y\n{SUM}\n", 2, 0), (f"{SAID}y\n{SUM + 1}\n", 0, 1)):
        regions.around("us-west-2").blocks = [block(OFFER, "us-west-24", 3, SUM)]
        assert (buy(said=said)[0], purchases(regions)) == (code, count)


def test_a_stack_file_that_is_edited_right_before_the_purchase_is_not_written_over(regions: Regions):
    """After the last look, while lock and account are looked at."""
    path, wire = Path("Pulumi.dev.yaml"), regions.wire("us-west-2")

    def edited() -> None:
        def after(name: str) -> None:
            if name == "sts.GetCallerIdentity":
                path.write_text(path.read_text().replace("size: 2", "size: 1"))

        wire.after_call = after

    under_the_lock(regions, edited)
    code, out, _ = buy("--json", "report.json")
    assert (code, "Pulumi.dev.yaml was edited a moment ago" in out, purchases(regions), records()) == (1, True, 0, [])
    assert (report()["isBought"], [each["outcome"] for each in report()["left"]]) == (False, ["moved"])
    # The same of a block that is bought.
    purchase.purchase(seen(regions), OFFER, {"trn:cluster": "trainium-dev", "trn:capacity-offer": OFFER})
    path.write_text(path.read_text().replace("size: 1", "size: 2"))
    under_the_lock(regions, edited, "ec2.DescribeCapacityReservations")
    code, out, _ = buy(said="")
    assert (code, "Pulumi.dev.yaml was edited a moment ago" in out, "capacityReservationId" in group()) == (1, True, False)


def test_a_run_that_was_killed_after_the_file_was_written_leaves_only_its_record(regions: Regions):
    """The next one takes it away: with it, each later run would look for the block for a minute."""
    assert buy()[0] == 0
    tags = {tag["Key"]: tag["Value"] for tag in next(iter(bought(regions).values()))["Tags"]}
    PurchaseRecord.of(Path.cwd(), "dev", OFFER).write({"offer": OFFER, "token": tags["trn:purchase"]})
    code, out, _ = buy(said="")
    assert (code, "was not changed" in out, records(), purchases(regions)) == (0, True, [], 1)


def test_a_refusal_of_ec2_is_no_doubt(regions: Regions):
    """The report has it as refused; a request without an answer as one whose end is not known."""
    no_right(regions)
    assert buy("--json", "report.json")[0] == 1
    assert [each["outcome"] for each in report()["left"]] == ["refused"]
    regions.wire("us-west-2").denied.clear()
    regions.wire("us-west-2").faults["ec2.PurchaseCapacityBlock"] = [ReadTimeoutError(endpoint_url="https://ec2")]
    assert buy("--json", "report.json")[0] == 1
    assert [each["outcome"] for each in report()["left"]] == ["unsure"]
