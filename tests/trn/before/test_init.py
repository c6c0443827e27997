"""`trn init`: a file that `pulumi up` takes, the same for the same answers, and no zone that is a guess."""

import json
import re
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
import yaml

from facts.catalogue import NEURON_TYPES
from facts.toolchains import running_on
from stacks.config import parse_settings
from stacks.stack_yaml import read_yaml
from tests.trn.aws.healthy import HealthyAccount, block
from tests.trn.before.init_project import empty_project, trn
from tests.trn.given import Given
from trn.aws.api import BotoApi
from trn.before.init.answers import Answers, quoted, stack_file_text
from trn.before.init.offers import REGIONS, Catalogue, capacity_kinds, regions_offering, second_zone, types_in
from trn.before.init.questions import ADDONS
from trn.engine.program import settings_of
from trn.engine.stack_file import read_stack_file

GOLDEN = Path(__file__).parent / "golden_init.yaml"
ADDRESS = ("--allow", "198.18.0.7/32")


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, given: Given) -> Path:
    """The project without a stack file, and with a caller whose address cannot be learned."""
    return empty_project(tmp_path, monkeypatch, given)


def written(project: Path, stack: str = "night") -> dict[str, Any]:
    """The configuration of a file, without its namespace."""
    return read_stack_file(stack, project).configuration


def test_the_file_is_the_golden_one_and_pulumi_takes_it(project: Path):
    """Byte for byte, with its comments; a change of the file must be meant."""
    code, out, _ = trn("night", "--yes", *ADDRESS)
    assert code == 0
    assert (project / "Pulumi.night.yaml").read_text() == GOLDEN.read_text()
    assert settings_of(read_stack_file("night", project), rehearsal=False).node_groups["trn1-32xl"].size == 2
    assert "43.82 USD an hour now" in out
    assert "next: trn rehearse night" in out


def test_questions_and_options_that_say_the_same_write_the_same(project: Path):
    """What was asked once can be scripted."""
    said = "us-east-2\ntrn1.32xlarge\nuse2-az3\nmine\n4\ncapacity-block\ncr-0123456789abcdef0\n2400\n198.18.0.7/32, 198.19.0.0/16\nneuron,efa\n"
    code, _, err = trn("night", answers=said)
    assert code == 0, err
    asked = (project / "Pulumi.night.yaml").read_bytes()
    flags = [
        "--region",
        "us-east-2",
        "--instance-type",
        "trn1.32xlarge",
        "--zone",
        "use2-az3",
        "--name",
        "mine",
        "--capacity",
        "capacity-block",
    ]
    flags += ["--reservation", "cr-0123456789abcdef0", "--count", "4", "--fsx-gib", "2400", "--addons", "efa,neuron"]
    code, _, _ = trn("night", *flags, *ADDRESS, "--allow", "198.19.0.0/16", "--yes", "--force")
    assert code == 0
    assert (project / "Pulumi.night.yaml").read_bytes() == asked
    assert "so far 0.56 USD an hour now" in err


def test_the_cost_is_shown_as_it_goes(project: Path):
    """After each answer that changes it."""
    _, _, err = trn("night", answers="\n" * 7 + "later\n\n")
    assert re.findall(r"so far ([\d.]+) USD", err) == ["0.56", "43.58", "43.82"]


def test_every_answer_reaches_the_file(project: Path):
    """And what is left out is off."""
    flags = ["--region", "us-east-1", "--instance-type", "trn1n.32xlarge", "--count", "0", "--capacity", "spot", "--fsx-gib", "0"]
    assert trn("night", *flags, "--allow", "private", "--addons", "none", "--name", "mine", "--yes", "--json", "made.json")[0] == 0
    found = written(project)
    assert found["network"]["zones"] == ["use1-az6", "use1-az1"]
    group = found["nodeGroups"]["trn1n-32xl"]
    assert (group["size"], group["maxSize"], group["capacityType"]) == (0, 1, "SPOT")
    assert found["storage"]["lustre"] == {"enabled": False}
    assert found["controlPlane"]["publicAccessCidrs"] == []
    assert {addon: section["enabled"] for addon, section in found["addons"].items()} == dict.fromkeys(
        ("neuron", "efa", "volcano", "etcd"), False
    )
    assert json.loads(Path("made.json").read_text())["answers"]["name"] == "mine"


def test_any_add_on_may_be_asked_for_and_brings_what_it_needs(project: Path):
    """Grafana without Prometheus would stop the program; what is not named keeps the program's own default."""
    assert trn("night", "--yes", "--addons", "grafana, kueue", *ADDRESS)[0] == 0
    addons = written(project)["addons"]
    assert [addon for addon, section in addons.items() if section["enabled"]] == ["prometheus", "grafana", "kueue"]
    assert addons.keys() == {"neuron", "efa", "volcano", "etcd", "prometheus", "grafana", "kueue"}


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--region", "us-wset-2"], "did you mean us-west-2?"),
        (["--region", "eu-west-1"], "no Neuron instance type was seen in eu-west-1"),
        (["--instance-type", "trn3.48xlarge"], "did you mean trn2.48xlarge? it was seen in us-east-2, ap-south-2, not in us-west-2"),
        (["--instance-type", "trn2.48xlarge"], "seen in us-east-2, ap-south-2"),
        (["--instance-type", "trn2.48xlarge"], "`--region us-east-2`"),
        (["--capacity", "barter"], "allowed: on-demand, spot, capacity-block"),
        (["--capacity", "capacity-block"], "--reservation cr-"),
        (["--reservation", "cr-1"], "17 characters"),
        (["--addons", "volcano,slurms"], "unknown add-on: slurms"),
        (["--addons", "volcano,slurms"], "did you mean slurm?"),
        (["--fsx-gib", "1300"], "the nearest are 1200 and 2400"),
        (["--name", "Mine_1"], "for example mine-1"),
        (["--count", "1001"], "0 to 1000"),
        (["--allow", "203.0.113.7/32"], "reserved for documentation"),
        (["--allow", "198.18.0.7"], "write `198.18.0.7/32` for this one address"),
        (["--allow", "10.0.0.1/32"], "not a public address"),
        (["--allow", "0.0.0.0/0"], "the whole internet"),
        (["--allow", ""], "no address is named"),
        (["--zone", "use1-az4"], "did you mean usw2-az4?"),
        (["--zone", "usw2-az9"], "did you mean usw2-az4?"),
        (["--zone", "us-west-2d"], "zone names such as us-west-2d mean another zone in each account"),
        (["--region", "us-east-1", "--zone", "use1-az3"], "EKS places no control plane in `use1-az3`"),
        (["--instance-type", "trn1.2xlarge"], "add --live"),
        (["--from", "lern"], "did you mean learn?"),
        (["--from", "learn", "--region", "us-east-1"], "--region cannot change the sample learn"),
    ],
)
def test_a_slip_exits_with_2_and_writes_nothing(project: Path, arguments: list[str], says: str):
    """With what may be said instead."""
    code, _, err = trn("night", "--yes", *arguments)
    assert (code, says in err) == (2, True)
    assert list(project.glob("Pulumi.*.yaml")) == []


def test_a_file_that_is_there_is_not_written_over(project: Path):
    """It holds somebody's work."""
    (project / "Pulumi.night.yaml").write_text("config: {}\n")
    code, _, err = trn("night", "--yes")
    assert (code, "--force" in err) == (2, True)
    assert (project / "Pulumi.night.yaml").read_text() == "config: {}\n"
    assert trn("../night", "--yes")[0] == 2


def test_a_zone_that_was_not_seen_to_offer_the_type_is_noted(project: Path):
    """The table may be behind, so it is no error."""
    code, out, _ = trn("night", "--yes", "--zone", "usw2-az2", *ADDRESS)
    assert (code, "trn1.32xlarge was seen in usw2-az1, usw2-az4, not in usw2-az2" in out) == (0, True)


def test_live_takes_the_zones_that_the_account_is_offered(project: Path, given: Given):
    """Then no table is needed."""
    aws = HealthyAccount()
    aws.around.offered["trn1.2xlarge"] = ["usw2-az2", "usw2-az3"]
    aws.around.zones["usw2-az1"] = ("available", "not-opted-in")
    given.api = lambda region: BotoApi(region, aws.wire.session())
    assert trn("night", "--live", "--yes", "--instance-type", "trn1.2xlarge", *ADDRESS)[0] == 0
    assert written(project)["network"]["zones"] == ["usw2-az3", "usw2-az2"]
    code, _, err = trn("night", "--live", "--yes", "--force", "--zone", "usw2-az4", "--instance-type", "trn1.2xlarge")
    assert (code, "take one of usw2-az3, usw2-az2" in err) == (2, True)
    code, _, err = trn("night", "--live", "--yes", "--force", "--instance-type", "inf2.xlarge")
    assert (code, "inf2.xlarge is not offered in us-west-2" in err) == (2, True)


def test_live_lists_the_blocks_on_offer_before_it_asks_for_one(project: Path, given: Given):
    """With the command that buys each: its id is what is asked for next."""
    aws = HealthyAccount()
    sold = f"{datetime.now(UTC).date() + timedelta(days=1)}"
    aws.around.blocks = [block("cb-1", "us-west-24", sold, "1032.00"), block("cb-2", "us-west-21", sold, "900.00")]
    given.api = lambda region: BotoApi(region, aws.wire.session())
    said = "us-west-2\ntrn1.32xlarge\nusw2-az4\nmine\n2\ncapacity-block\ncr-0123456789abcdef0\n0\n198.18.0.7/32\nnone\n"
    code, _, err = trn("night", "--live", answers=said)
    assert code == 0
    listed, _, rest = err.partition("Id of the capacity block")
    assert ("for 1032.00 USD" in listed, "--capacity-block-offering-id cb-1 " in listed, "cb-2" in listed) == (True, True, False)
    assert (rest != "", written(project)["nodeGroups"]["trn1-32xl"]["capacityReservationId"]) == (True, "cr-0123456789abcdef0")
    words = ("night", "--yes", "--force", "--live", "--capacity", "capacity-block")
    code, _, err = trn(*words)
    assert (code, "buys the first one on offer; then add --reservation" in err, "cb-1" in err) == (2, True, True)
    aws.around.blocks.pop(0)
    code, _, err = trn(*words)
    assert (code, "no block of 24 h is on offer in usw2-az4, but in usw2-az1" in err) == (2, True)
    assert trn(*words, "--block-hours", "25")[0] == 2


def test_what_may_be_answered_follows_from_the_catalogue():
    """A type is offered where it was seen, a block only of types that are sold so, and no zone is invented for the nodes."""
    assert {region for name in NEURON_TYPES for region in regions_offering(name)} == set(REGIONS)
    assert "trn2.48xlarge" in types_in("us-east-2")
    assert "trn2.48xlarge" not in types_in("us-west-2")
    assert types_in("eu-west-1") == list(NEURON_TYPES)
    assert capacity_kinds("trn1n.32xlarge") == ["on-demand", "spot"]
    assert Catalogue().zones("trn1.32xlarge", "us-west-2") == ["usw2-az4", "usw2-az1"]
    assert Catalogue().zones("trn1.2xlarge", "us-west-2") == []
    assert second_zone("use1-az1", "us-east-1") == "use1-az2"
    assert second_zone("usw1-az1", "us-west-1") == "usw1-az3"


def test_the_golden_file_is_yaml_with_comments():
    """The file explains itself to its next editor."""
    assert GOLDEN.read_text().count("#") > 5
    assert yaml.safe_load(GOLDEN.read_text())["config"]["trn:name"] == "trainium-night"


@pytest.mark.parametrize("instance_type", NEURON_TYPES)
def test_the_file_of_any_type_is_accepted(instance_type: str):
    """Its toolchain runs on the type, and its AMI release starts the toolchain."""
    region, zone = ("us-east-2", "use2-az1")
    is_block = capacity_kinds(instance_type)[-1] == "capacity-block"
    answers = Answers(
        stack="x", name="trainium", region=region, instance_type=instance_type, count=1, zone=zone, second_zone="use2-az2", fsx_gib=1200,
        capacity="capacity-block" if is_block else "on-demand", reservation="cr-0123456789abcdef0" if is_block else None,
        allow=("198.51.100.7/32",), addons=ADDONS,
    )  # fmt: skip
    pairs = read_yaml(stack_file_text(answers))["config"]
    settings = parse_settings({key.removeprefix("trn:"): value for key, value in pairs.items()}, "x", rehearsal=True)
    assert settings.training.toolchain in running_on(NEURON_TYPES[instance_type])


def test_all_that_is_wrong_is_said_at_once(project: Path):
    """One slip after the other would be as many runs."""
    flags = ("--region", "us-wset-2", "--fsx-gib", "1300", "--allow", "1.2.3.4", "--addons", "volcno", "--name", "A b")
    code, _, err = trn("night", "--yes", *flags)
    assert (code, err.count("error: "), err.count("hint: ")) == (2, 5, 5)
    assert list(project.glob("Pulumi.*.yaml")) == []


def test_a_wrong_option_needs_no_program(project: Path):
    """Whoever mistypes a region waits for no SDK."""
    script = "import sys\nfrom trn.app import main\ntry: main()\nexcept SystemExit as end: code = end.code\n"
    script += "print(code, [name for name in ('pulumi', 'boto3', 'addons', 'simulator') if name in sys.modules])"
    ran = subprocess.run(
        [sys.executable, "-c", script, "init", "night", "--region", "us-wset-2", "--yes"], capture_output=True, text=True, check=True
    )
    assert ran.stdout.strip() == "2 []", ran.stderr


def test_the_own_address_is_the_default_of_who_may_reach_the_api(project: Path, given: Given):
    """Without it the API is closed to the machine that runs `pulumi up`."""
    given.address = lambda: "198.18.0.9\n"
    assert trn("night", "--yes")[0] == 0
    assert written(project)["controlPlane"]["publicAccessCidrs"] == ["198.18.0.9/32"]
    code, _, err = trn("day", answers="\n" * 9)
    assert (code, "your address is offered" in err, "[198.18.0.9/32]" in err) == (0, True, True)
    assert written(project, "day")["controlPlane"]["publicAccessCidrs"] == ["198.18.0.9/32"]


@pytest.mark.parametrize("answer", ["10.0.0.1", "2001:db8::1", "<html>", ""])
def test_an_address_that_eks_does_not_take_is_not_offered(project: Path, given: Given, answer: str):
    """A proxy's page, an IPv6 address, or one behind a VPN: the file then holds an example, and says what to do before `pulumi up`."""
    given.address = lambda: answer
    code, out, _ = trn("night", "--yes")
    assert (code, "before `pulumi up`: pulumi config set --stack night" in out) == (0, True)
    assert written(project)["controlPlane"]["publicAccessCidrs"] == ["203.0.113.0/24"]


def test_private_says_plainly_what_it_takes(project: Path):
    """The VPC that `pulumi up` must run in is one that it is about to make."""
    code, _, err = trn("night", answers="\n" * 7 + "private\n\n")
    assert (code, "must run inside the VPC, which the stack itself makes; docs/private.md" in err) == (0, True)
    assert written(project)["controlPlane"]["publicAccessCidrs"] == []
    assert "docs/private.md" in (project / "Pulumi.night.yaml").read_text()


@pytest.mark.parametrize("name", ["no", "true", "null", "on", "y1", "ab"])
def test_a_value_that_yaml_would_read_as_another_is_quoted(name: str):
    """A cluster called `no` is not `false`."""
    assert yaml.safe_load(f"x: {quoted(name)}") == {"x": name}


def test_a_name_that_is_a_word_of_yaml_reaches_the_program(project: Path):
    """Through the whole command."""
    assert trn("night", "--yes", "--name", "no", *ADDRESS)[0] == 0
    assert written(project)["name"] == "no"
