"""A file is written only where it holds what it held when it was looked at."""

from pathlib import Path

import pytest

from trn.change.action import written
from trn.change.identity import file_id
from trn.cli.errors import CommandError


@pytest.mark.parametrize("before", ["one\n", None])
@pytest.mark.parametrize("meanwhile", ["two\n", ""])
def test_an_edit_of_somebody_else_stays(tmp_path: Path, before: str | None, meanwhile: str) -> None:
    path = tmp_path / "file"
    if before is not None:
        path.write_text(before)
    seen = file_id(path)
    path.write_text(meanwhile)
    assert (written(seen, "ours\n").kind, path.read_text()) == ("moved", meanwhile)
    assert (written(file_id(path), "ours\n").kind, path.read_text()) == ("done", "ours\n")


def test_a_file_that_is_gone_is_not_made_again(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_text("one\n")
    seen = file_id(path)
    path.unlink()
    assert written(seen, "ours\n").kind == "moved"
    assert not path.exists()


def test_identities_of_files(tmp_path: Path) -> None:
    one, other = tmp_path / "one", tmp_path / "other"
    one.write_text("same\n")
    other.write_text("same\n")
    assert not file_id(one).within(file_id(other))
    assert file_id(one).within(file_id(one))
    assert file_id(one).which.startswith(f"{one}@sha256:")
    assert file_id(tmp_path / "none").which == str(tmp_path / "none")


def test_a_folder_is_no_file(tmp_path: Path) -> None:
    with pytest.raises(CommandError, match="cannot read"):
        file_id(tmp_path)
