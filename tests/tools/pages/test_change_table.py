"""docs/changes.md says of every key what a rehearsal of its change says today."""

import re

import pytest

from tests.sharing import mostly_long
from tests.support import ROOT
from tools.pages.change_samples import sample_of
from tools.pages.change_table import frame, rows
from tools.pages.configuration_keys import Key, keys

EVERY = 17
PAGE = (ROOT / "docs" / "changes.md").read_text().splitlines()


@pytest.fixture(autouse=True)
def rehearsing(monkeypatch: pytest.MonkeyPatch):
    """Documentation addresses are accepted, as in `trn rehearse`."""
    monkeypatch.setenv("TRN_REHEARSAL", "1")


@pytest.mark.parametrize("place", mostly_long(range(0, len(keys()), EVERY), of_default=range(0, 11, 3)))
def test_rows_are_up_to_date(place: int):
    """`make docs` writes them all, and CI makes them all again; here every so many, to keep the tests short."""
    assert PAGE[len(frame()) + place] == next(iter(rows(keys()[place : place + 1])))


def test_there_is_a_row_for_every_key_and_no_other():
    """A key without one is an untried change."""
    assert PAGE[: len(frame())] == frame()
    assert [line.split("`")[1] for line in PAGE[len(frame()) :]] == [key.path for key in keys()]


def test_a_key_without_a_value_to_try_needs_a_sample():
    """A new key must not stay out of the page in silence."""
    with pytest.raises(KeyError, match=r"storage\.newKey"):
        sample_of(Key("storage.newKey", None, ()))


def test_of_an_add_on_that_is_off_the_running_cluster_has_it_and_what_it_needs():
    """Otherwise every change below it would come to nothing."""
    sample = sample_of(Key("addons.slurm.sshKeys", (), ()))
    assert {"addons.slurm.enabled=true", "addons.certManager.enabled=true", "addons.slurm.nodeGroups=[trn1-32xl]"} <= set(sample.before)
    assert sample_of(Key("addons.volcano.replicas", 2, ())).before == ()
    assert sample_of(Key("addons.volcano.enabled", True, ())).settings == ("addons.volcano.enabled=false",)
    assert sample_of(Key("addons.slurm.enabled", False, ())).settings == ("addons.slurm.enabled=true",)


def test_every_row_has_three_cells():
    """A command's pipe would begin another."""
    rows_of_page = [re.split(r"(?<!\\)\|", line)[1:-1] for line in PAGE[len(frame()) :]]
    assert {len(cells) for cells in rows_of_page} == {3}
    assert any("kubectl get crd" in cells[2] for cells in rows_of_page)
