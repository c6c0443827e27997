"""Environments for training frameworks: which one, where, and when it cannot be."""

import re
import subprocess

import pytest

from tools import frameworks
from tools.frameworks import FRAMEWORKS, REQUIREMENTS, Framework, NoEnvironmentError, folder, home, interpreter, refusal

SMALL = Framework("small", "Small", 0.5, newest_python=(3, 13))


def test_each_framework_has_its_requirements_and_no_others_are_there():
    assert {path.stem for path in REQUIREMENTS.glob("*.txt")} == set(FRAMEWORKS)


@pytest.mark.parametrize("name", FRAMEWORKS)
def test_every_version_is_exact(name):
    """Another version is another environment: a run of last month must be repeatable."""
    lines = [line for line in (REQUIREMENTS / f"{name}.txt").read_text().splitlines() if not line.startswith("#")]
    assert all(re.fullmatch(r"[A-Za-z0-9_.-]+==[0-9][A-Za-z0-9.+]*( ; .+)?", line) for line in lines), lines


@pytest.mark.parametrize(
    ("environment", "place"),
    [
        ({"HOME": "/home/a"}, "/home/a/.cache/trn/frameworks"),
        ({"HOME": "/home/a", "XDG_CACHE_HOME": "/var/c"}, "/var/c/trn/frameworks"),
        ({"HOME": "/home/a", "TRN_FRAMEWORKS": "/big"}, "/big"),
    ],
)
def test_environments_are_in_the_users_cache(environment, place):
    assert str(home(environment)) == place


@pytest.mark.parametrize(
    ("python", "free_gb", "reason"),
    [
        ((3, 11), 2.0, None),
        ((3, 13), 2.0, None),
        ((3, 14), 2.0, "Small of training/requirements is published for Python 3.11 to 3.13, this is 3.14"),
        ((3, 11), 1.5, "Small needs 2 GB while it is installed, 2 GB are free"),
    ],
)
def test_an_environment_needs_its_python_and_the_room(python, free_gb, reason):
    assert refusal(SMALL, python, free_gb) == reason


def test_what_pip_says_is_the_reason(monkeypatch, tmp_path):
    """A test that needs it then skips with it."""
    monkeypatch.setattr(
        frameworks.subprocess, "run", lambda *_, **__: subprocess.CompletedProcess([], 1, "", "noise\nERROR: no such version\n")
    )
    with pytest.raises(NoEnvironmentError, match=r"pip could not install jax\.txt: ERROR: no such version"):
        interpreter("jax", {"TRN_FRAMEWORKS": str(tmp_path)})
    assert not frameworks.ready("jax", {"TRN_FRAMEWORKS": str(tmp_path)})


def test_a_whole_environment_is_taken_as_it_is(monkeypatch, tmp_path):
    environment = {"TRN_FRAMEWORKS": str(tmp_path)}
    place = folder("jax", environment)
    place.mkdir(parents=True)
    (place / "ready").touch()
    monkeypatch.setattr(frameworks.subprocess, "run", lambda *_, **__: pytest.fail("nothing is to be installed"))
    assert interpreter("jax", environment) == place / "bin" / "python"


def test_an_installation_ends_with_the_run_that_it_is_part_of():
    """CI has an end, after which it would be cut off without a word."""
    assert [frameworks.limit_s({"TRN_UNTIL": until}, 1000) for until in ("", "1060", "900", "99999")] == [1800, 60, 0, 1800]
