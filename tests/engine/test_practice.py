"""`trn practice` and `trn --practice` with the real Pulumi CLI, as a user runs them; stopped and killed in the middle."""

import os
import signal
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.engine.cli import LOOK_S, PATIENCE_S, TRN, Engine, needs_cli
from trn.practice.account import PracticeAccount
from trn.practice.engine.project import EngineFolder, practice_folder

pytestmark = [pytest.mark.engine, needs_cli]


@dataclass
class Practising:
    """The shipped stack with few add-ons, in a project of its own."""

    root: Path

    @property
    def folder(self) -> EngineFolder:
        """What practice keeps of it."""
        return practice_folder("dev", self.root)

    def trn(self, command: str) -> tuple[int, str]:
        """Exit code, and all that was printed."""
        done = subprocess.run(
            [*TRN, *command.split()], cwd=self.root, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False
        )
        return done.returncode, done.stdout + done.stderr

    def leftovers(self) -> list[str]:
        """What is in the account."""
        account = PracticeAccount(self.folder).open()
        try:
            return [what for _, what in account.world.state.leftovers()]
        finally:
            account.close()

    def stop(self, command: str, number: signal.Signals, *, whole: bool) -> tuple[int, str]:
        """A command that gets a signal once it has made something; `whole`: its Pulumi CLI gets it too, as on a terminal."""
        with subprocess.Popen(
            [*TRN, *command.split()], cwd=self.root, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        ) as process:
            deadline = time.monotonic() + PATIENCE_S
            while not list(self.folder.account.glob("aws.ec2.Subnet/*.json")):
                assert time.monotonic() < deadline, "it made nothing"
                assert process.poll() is None, process.communicate()[0]
                time.sleep(LOOK_S)
            if whole:
                found = subprocess.run(["pgrep", "-x", "-P", str(process.pid), "pulumi"], capture_output=True, text=True, check=True)
                os.kill(int(found.stdout), number)
            process.send_signal(number)
            printed = process.communicate()[0]
        return process.returncode, printed


@pytest.fixture
def practising(tmp_path: Path) -> Practising:
    """Nothing brought up."""
    return Practising(Engine.lean(tmp_path).project)


def test_a_stack_is_practised_with_the_real_cli(practising: Practising):
    """Up, a job, something that Pulumi does not know of, status, recover, a destroy that stops, drain, and down without a trace."""
    code, said = practising.trn("practice up dev")
    assert (code, "next     trn --practice status dev" in said) == (0, True), said
    assert practising.trn("practice job dev bert")[0] == 0
    assert practising.trn("practice event dev load-balancer")[0] == 0
    code, said = practising.trn("--practice status dev")
    assert (code, "trainium-dev is as it should be" in said) == (0, True), said
    code, said = practising.trn("--practice recover dev --yes")
    assert (code, "nothing to recover" in said) == (0, True), said
    code, said = practising.trn("practice down dev")
    assert (code, "fsx-claim is used by a pod of bert" in said, "next     trn practice down dev" in said) == (1, True, True), said
    assert practising.trn("--practice drain dev --yes")[0] == 0
    code, said = practising.trn("practice down dev")
    assert (code, "left     0 objects in the account" in said) == (0, True), said
    code, said = practising.trn("practice down dev")
    assert (code, "`trn practice up dev` brings it up" in said) == (2, True), said


def test_an_up_that_was_killed_is_recovered_with_the_real_cli(practising: Practising):
    """trn and the CLI die at once: the lock that they left is removed, what was made is imported, and all of it is destroyed."""
    practising.stop("practice up dev", signal.SIGKILL, whole=True)
    code, said = practising.trn("--practice recover dev --yes")
    assert (code, "removed the lock of a run that was killed" in said) == (0, True), said
    code, said = practising.trn("practice up dev")
    assert code == 0, said
    assert practising.trn("--practice status dev")[0] == 0
    code, said = practising.trn("--practice destroy dev --yes")
    assert (code, practising.leftovers()) == (0, []), said
    # No engine has the stack any more: the other one may take it.
    code, said = practising.trn("practice down dev")
    assert (code, "`trn practice up dev` brings it up" in said) == (2, True), said


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
def test_a_command_that_is_stopped_leaves_a_folder_to_go_on_with(practising: Practising, number: signal.Signals):
    """The signal meets trn alone: Ctrl-C is passed on, and the CLI ends by itself when its providers are gone."""
    code, said = practising.stop("practice up dev", number, whole=False)
    assert code != 0, said
    deadline = time.monotonic() + PATIENCE_S
    while (ended := practising.trn("practice up dev"))[0] and time.monotonic() < deadline:
        assert "Traceback" not in ended[1], ended[1]
        code, said = practising.trn("--practice recover dev --yes")
        assert "Traceback" not in said, said
    assert ended[0] == 0, ended[1]
    assert practising.trn("--practice destroy dev --yes")[0] == 0
    assert practising.leftovers() == []
