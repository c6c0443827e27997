"""The provider process, as `trn engine` starts and ends it."""

import os
import signal
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from trn.engine.stack_file import StackFile
from trn.practice.engine import process as engine_process
from trn.practice.engine.process import Providers, ProvidersFailed, run_cli
from trn.practice.engine.project import EngineFolder


@pytest.fixture
def providers(tmp_path: Path) -> Iterator[Providers]:
    """Started in a folder of their own."""
    started = Providers(EngineFolder(tmp_path), time_scale=0, faults=())
    yield started
    started.stop()


def process_of(folder: Path) -> int:
    """Who holds the world."""
    return int((folder / "account" / "lock").read_text())


def test_providers_serve_until_they_are_stopped(providers: Providers, tmp_path: Path):
    """And end well; a second stop asks nothing new."""
    assert [item.split(":")[0] for item in providers.attach().split(",")] == ["aws", "eks", "kubernetes"]
    assert providers.stop() == 0
    with pytest.raises(ProcessLookupError):
        os.kill(process_of(tmp_path), 0)


def test_ctrl_c_does_not_reach_the_providers(providers: Providers, tmp_path: Path):
    """A terminal sends it to its whole session: they have one of their own."""
    providers.attach()
    assert os.getsid(process_of(tmp_path)) != os.getsid(0)


def test_providers_that_do_not_end_are_killed(providers: Providers, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """The command does not wait for them without end."""
    providers.attach()
    os.kill(process_of(tmp_path), signal.SIGSTOP)
    monkeypatch.setattr(engine_process, "STOPPING_S", 0.1)
    assert providers.stop() == -signal.SIGKILL


def test_providers_that_cannot_start_say_why(providers: Providers, tmp_path: Path):
    """In their own words."""
    providers.attach()
    second = Providers(EngineFolder(tmp_path), time_scale=0, faults=())
    with pytest.raises(ProvidersFailed, match="another run has the simulated account"):
        second.attach()


def test_a_folder_of_the_same_name_is_not_taken_for_ours(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """People run trn where their own modules are."""
    (tmp_path / "simulator").mkdir()
    (tmp_path / "simulator" / "__init__.py").write_text("raise SystemExit('theirs')")
    monkeypatch.chdir(tmp_path)
    started = Providers(EngineFolder(tmp_path / "engine"), time_scale=0, faults=())
    assert started.attach()
    assert started.stop() == 0


def test_signals_are_ours_again_afterwards(tmp_path: Path):
    """Ctrl-C after the CLI has ended must end trn."""
    before = [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)]
    assert run_cli([sys.executable, "-c", "pass"], os.environ, tmp_path) == 0
    assert [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)] == before


@pytest.mark.parametrize(("name", "there"), [("dev.json", True), ("dev.json.gz", True), ("dev.json.bak", False), ("prod.json", False)])
def test_a_stack_is_there_if_its_state_is(tmp_path: Path, name: str, there: bool):
    """A backup is left when a stack is removed."""
    folder = EngineFolder(tmp_path)
    file = folder.state / ".pulumi" / "stacks" / "trn" / name
    file.parent.mkdir(parents=True)
    file.touch()
    assert folder.has_stack(StackFile(tmp_path, "trn", "dev", {})) is there
