"""A stack's life in practice: the commands of AWS, against an account on disk."""

import json
import re
import tarfile
from pathlib import Path

import pytest
import yaml

from simulator.account.disk import held
from simulator.engine.disk import StateFolder
from tests.support import ROOT
from tests.trn.practice.commands import UP, leftovers, trn
from tools.pages.practice_page import nights, page
from trn.practice.access import ADDRESS, LINE
from trn.practice.engine.project import practice_folder

KILLED = f"{UP} --fault 'killed@Cluster/*'"


def test_a_stack_comes_up_is_well_and_goes_without_a_trace(project: Path):
    """Up, status, destroy with its drain and sweep: the account is empty, and no engine has the stack any more."""
    assert trn(UP)[0] == 0
    code, out, _ = trn("--practice status dev")
    assert (code, "trainium-dev is as it should be" in out) == (0, True)
    code, out, _ = trn("--practice destroy dev --yes")
    assert (code, "sweep    0 deleted, 0 left" in out) == (0, True)
    assert leftovers() == []
    assert not StateFolder(practice_folder("dev").rehearsal).exists


@pytest.mark.parametrize("brought_up", [False, True])
def test_a_check_finds_nothing_wrong_but_the_tools_of_the_machine(project: Path, brought_up: bool):
    """What is up belongs to the stack, whose state is practice's own, and is no leftover of an earlier cluster."""
    if brought_up:
        assert trn(UP)[0] == 0
    _, out, _ = trn("--practice check dev --json -")
    findings = json.loads(out)["findings"]
    wrong = {item["check"] for item in findings if item["verdict"] != "pass"}
    assert wrong <= {"pulumi", "aws", "kubectl"}
    assert {"add-on", "leftovers", "quota"} <= {item["check"] for item in findings}


def test_a_run_that_was_killed_is_recovered_and_destroyed(project: Path):
    """What the killed run was making is found in the account, imported, and deleted with the rest."""
    code, out, _ = trn(KILLED)
    assert (code, "creating Cluster control-plane-eksCluster: its outcome is unknown" in out) == (1, True)
    assert [item.registration.name for item in StateFolder(practice_folder("dev").rehearsal).load().pending]
    code, out, err = trn("--practice recover dev --yes")
    assert (code, "import     Cluster control-plane-eksCluster trainium-dev" in err) == (0, True)
    assert StateFolder(practice_folder("dev").rehearsal).load().pending == []
    assert trn("--practice destroy dev --yes")[0] == 0
    assert leftovers() == []


def test_what_a_killed_run_left_is_not_swept_while_the_stack_knows_of_it(project: Path):
    """A cluster that the state does not hold lives, and so does its stack: recovered first, then destroyed."""
    assert trn(KILLED)[0] == 1
    assert trn("practice down dev --quiet")[0] != 2
    for command in ("sweep dev --delete --yes --name trainium-dev", "destroy dev --yes"):
        code, _, err = trn(f"--practice {command}")
        assert (code, "recover dev`" in err) == (1, True)
    assert trn("--practice recover dev --yes")[0] == 0
    assert trn("--practice destroy dev --yes")[0] == 0
    assert leftovers() == []


def test_the_address_that_practice_offers_is_taken(project: Path, monkeypatch: pytest.MonkeyPatch):
    """It is one of documentation, which `init` refuses elsewhere: Enter to every question must end in a stack file."""
    monkeypatch.setenv("XDG_STATE_HOME", str(project / "state"))
    code, out, err = trn("--practice init night", answer="\n" * 30)
    assert (code, "wrote Pulumi.night.yaml" in out + err) == (0, True)
    assert f"{ADDRESS}/32" in Path("Pulumi.night.yaml").read_text()


def test_a_bundle_holds_all_that_the_account_shows(up: Path):
    """Quotas, status, jobs and logs by the same ways as on AWS; it says that it is practice."""
    assert trn("practice job dev bert")[0] == 0
    code, out, _ = trn("--practice bundle dev")
    assert (code, "missing" in out, LINE in out) == (0, False, True)
    (path,) = Path("build/bundle").iterdir()
    with tarfile.open(path) as archive:
        files = {entry.name.partition("/")[2]: archive.extractfile(entry).read().decode() for entry in archive}  # type: ignore[union-attr]
    assert "**Of a practice account: none of it is AWS**" in files["index.md"]
    assert "needs 256 vCPU (2 x trn1.32xlarge, 0 x trn1n.32xlarge)" in files["aws/quotas.txt"]
    assert json.loads(files["cluster/objects/jobs.batch.volcano.sh.json"])["count"] == 1
    assert (
        "cluster control-plane-eksCluster" in files["pulumi/resources.json"].lower() or '"trainium-dev"' in files["pulumi/resources.json"]
    )
    assert [name for name in files if name.startswith("logs/controllers/")]


def test_a_job_holds_its_nodes_until_it_is_drained(up: Path):
    """Its pods are placed, shown by logs and top, and keep `down` from deleting the file system's claim."""
    assert trn("practice job dev bert")[0] == 0
    code, out, _ = trn("--practice top dev --json -")
    assert (code, [row["pods"] for row in json.loads(out)["nodes"]]) == (0, [["training/bert-worker-0"], ["training/bert-worker-1"]])
    assert "bert-worker-1" in trn("--practice logs bert")[1]
    code, out, _ = trn("practice down dev --quiet")
    assert (code, "fsx-claim is used by a pod of bert that mounts fsx-claim" in out) == (1, True)
    code, out, _ = trn("--practice drain dev --yes")
    assert (code, out.endswith("drained: the cluster is idle\n")) == (0, True)
    assert trn("practice down dev --quiet")[0] == 0
    assert leftovers() == []


@pytest.mark.parametrize("what", ["load-balancer", "claim-in-use", "karpenter-node"])
def test_what_pulumi_does_not_know_of_goes_with_trn_destroy(up: Path, what: str):
    """Drained where Kubernetes has it; where only AWS does, swept between two tries: it holds a subnet that Pulumi deletes."""
    before = len(leftovers())
    assert trn(f"practice event dev {what}")[0] == 0
    assert len(leftovers()) > before
    code, out, err = trn("--practice destroy dev --yes")
    assert (code, leftovers()) == (0, []), out + err
    assert ("deleting instance" in err) == (what == "karpenter-node")
    code, _, err = trn("--practice destroy dev --yes")
    assert (code, "`trn --practice sweep dev --delete` ends what is left of it" in err) == (2, True)


def test_a_group_is_scaled_and_status_agrees(up: Path):
    """EKS's own size is what counts, and the nodes follow it."""
    assert trn("--practice scale trn1-32xl 0")[0] == 0
    assert "nodes ready      trn1-32xl: 0 of 0" in trn("--practice status dev")[1]


@pytest.mark.parametrize(
    ("command", "stream"),
    [
        ("status dev", 1), ("status dev --json -", 2), ("sweep dev", 1), ("sweep dev --json -", 2), ("drain dev --yes --json -", 2),
        ("kubeconfig dev", 2), ("top dev", 1), ("check dev", 1), ("cost dev", 1), ("iam dev --operator", 2), ("verify dev", 1),
    ],
)  # fmt: skip
def test_every_command_says_that_it_is_practice(up: Path, command: str, stream: int):
    """On standard output; on standard error where standard output is data."""
    _, *streams = trn(f"--practice {command}")
    assert streams[stream - 1].count(LINE) == 1
    assert LINE not in streams[2 - stream]


def test_what_no_container_can_show_is_refused_or_skipped(up: Path):
    """A shell needs a container; verify says which trials it did not make."""
    code, _, err = trn("--practice shell dev")
    assert (code, "no container runs in it" in err) == (2, True)
    code, out, _ = trn("--practice verify dev")
    assert (code, "not tried: driver" in out) == (0, True)


def test_a_second_command_is_refused_while_one_runs(up: Path):
    """With the process that has the account, and what to do."""
    with held(practice_folder("dev").account):
        code, _, err = trn("--practice status dev")
    assert (code, "another run has the simulated account" in err) == (1, True)
    assert trn("--practice status dev")[0] == 0


def test_a_damaged_file_is_named(up: Path):
    """And nothing is written over it."""
    broken = sorted(practice_folder("dev").account.glob("aws.ec2.Vpc/*.json"))[0]
    broken.write_text("{")
    code, _, err = trn("--practice status dev")
    assert (code, str(broken) in err) == (1, True)
    assert broken.read_text() == "{"


def test_nothing_is_up_and_unknown_stacks_are_reported(project: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    """Each with what to do; so is a folder without a project."""
    for command in ("practice down dev", "--practice recover dev"):
        code, _, err = trn(command)
        assert (code, "`trn practice up dev` brings it up" in err) == (2, True)
    assert "there is no Pulumi.prod.yaml" in trn("practice up prod")[2]
    assert "there is no cluster `trainium-dev`" in trn("--practice status dev")[2]
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "Pulumi.yaml").unlink()
    monkeypatch.chdir(tmp_path / "elsewhere")
    assert "no Pulumi.yaml in" in trn("--practice status dev")[2]


def test_the_other_engine_does_not_take_a_stack(up: Path):
    """Two states of one stack would each know half."""
    code, _, err = trn(f"{UP} --engine pulumi")
    assert (code, "was brought up by the other engine, rehearsal" in err) == (2, True)


@pytest.mark.long
def test_a_second_night_in_the_same_folder_reads_like_the_first():
    """But for the ids that AWS draws anew."""
    first, second = ([re.sub("-[0-9a-f]{8,}", "-ID", text) for text in night] for night in nights(2))
    assert second == first


def test_every_round_ends_with_nothing_to_do(project: Path):
    """The second life of a stack has other ids than the first: a plan that used those would roll nodes that train."""
    for _ in range(2):
        assert trn(UP)[0] == 0
        assert "up       0 resources created or changed" in trn(UP)[1]
        assert "plan     nothing" in trn("--practice plan dev")[1]
        assert trn("--practice destroy dev --yes")[0] == 0
    assert leftovers() == []


def test_progress_names_what_is_no_longer_in_the_file(up: Path):
    """A node group that goes is in the state, not in the program."""
    file = Path("Pulumi.dev.yaml")
    document = yaml.safe_load(file.read_text())
    del document["config"]["trn:nodeGroups"]["trn1n-32xl"]
    file.write_text(yaml.safe_dump(document))
    code, _, err = trn("practice up dev")
    assert (code, "deleted NodeGroup trn1n-32xl in " in err) == (0, True)


def test_a_replacement_that_was_killed_is_recovered(up: Path):
    """The new file system takes the place of the old one, which goes with the next `up`: neither is forgotten."""
    file = Path("Pulumi.dev.yaml")
    document = yaml.safe_load(file.read_text())
    document["config"]["trn:storage"]["lustre"]["zoneId"] = "usw2-az1"
    file.write_text(yaml.safe_dump(document))
    assert trn(f"{UP} --fault 'killed@LustreFileSystem/*'")[0] == 1
    code, _, err = trn("--practice recover dev --yes")
    assert (code, "takes its place in the state" in err) == (0, True)
    state = json.loads(trn("practice export dev")[1])["deployment"]
    assert [entry["type"] for entry in state["resources"] if entry.get("delete")] == ["aws:fsx/lustreFileSystem:LustreFileSystem"]
    assert trn(UP)[0] == 0
    assert "plan     nothing" in trn("--practice plan dev")[1]
    assert trn("--practice destroy dev --yes")[0] == 0
    assert leftovers() == []


def test_the_page_is_what_the_commands_print():
    """Every command of the bad night, run again."""
    assert page() == (ROOT / "docs/practice.md").read_text()
