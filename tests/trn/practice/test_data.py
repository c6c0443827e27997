"""`trn data` on a practice account: the program's link, and an export to its end."""

from pathlib import Path

from facts.resources.fsx import DATA_REPOSITORY, FILE_SYSTEM
from simulator.recording import Registration
from tests.trn.practice.commands import trn
from trn.practice.account import PracticeAccount
from trn.practice.engine.project import practice_folder

EVENTS = {"events": ["NEW", "CHANGED", "DELETED"]}


def link() -> None:
    """The file system in the account on disk has the link that the program makes."""
    account = PracticeAccount(practice_folder("dev")).open()
    (file_system,) = [item for item in account.world.state.registrations() if item.type == FILE_SYSTEM.token]
    inputs = {
        "fileSystemId": file_system.id, "fileSystemPath": "/data", "dataRepositoryPath": "s3://my-bucket/set",
        "s3": {"autoImportPolicy": EVENTS, "autoExportPolicy": EVENTS},
    }  # fmt: skip
    urn = f"urn:pulumi:dev::trn::{DATA_REPOSITORY.token}::lustre-s3"
    made = Registration(
        urn, DATA_REPOSITORY.token, "lustre-s3", custom=True, remote=False, parent=file_system.urn, inputs=inputs, id=f"dra-{1:0>17}"
    )
    account.world.state.put(made)
    account.save()
    account.close()


def test_an_export_is_practised_from_begin_to_end(up: Path):
    """Each command is a process of its own: the task is kept in the account on disk."""
    link()
    code, out, err = trn("--practice data export /fsx/data/checkpoints --yes")
    assert (code, "`trn --practice data status dev` follows it" in out) == (0, True), err
    seen = [trn("--practice data status") for _ in range(3)]
    assert [state in out for state, (_, out, _) in zip(("PENDING", "EXECUTING", "SUCCEEDED"), seen, strict=True)] == [True] * 3, seen
    assert "/fsx/data of fs-" in seen[0][1]
    assert "is linked to s3://my-bucket/set; FSx exports what is new or changed by itself" in seen[0][1]


def test_a_stack_without_a_link_says_what_makes_one(up: Path):
    """As the shipped one is."""
    code, _, err = trn("--practice data status")
    assert (code, "is linked to no S3 prefix" in err, "then `trn practice up dev`" in err) == (1, True, True)
