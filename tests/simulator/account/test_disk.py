"""An account on disk: each save writes what has changed since the one before, and nothing else."""

from pathlib import Path

from simulator.account import kinds
from simulator.account.disk import AccountFolder, path_of
from simulator.account.state import AccountState
from tests.simulator.account.standing import only, standing


def files(folder: Path) -> dict[Path, int]:
    """Every file, and which one it is: a file that is written again is another one."""
    return {path: path.stat().st_ino for path in folder.rglob("*.json")}


def test_only_what_has_changed_is_written(tmp_path: Path):
    """An object's status; at each step of an engine all others stay as they are."""
    state, folder = standing().state, AccountFolder(tmp_path)
    folder.save(state)
    before = files(tmp_path)
    assert len(before) > 100
    folder.save(state)
    assert files(tmp_path) == before
    vpc = state.existing(kinds.VPC)[0]
    vpc.status = "deleting"
    folder.save(state)
    after = files(tmp_path)
    assert {path for path in after if after[path] != before.get(path)} == {path_of(tmp_path, kinds.VPC, vpc.registration.id)}


def test_what_went_and_came_back_is_there(tmp_path: Path):
    """Equal to what was written once, and yet deleted since."""
    state, folder = AccountState(), AccountFolder(tmp_path)
    vpc = only(kinds.VPC)
    path = path_of(tmp_path, kinds.VPC, vpc.id)
    for is_there in (True, False, True):
        if is_there:
            state.add(vpc, "ready")
        else:
            state.remove(vpc)
        folder.save(state)
        assert path.exists() == is_there
