"""Makes docs/practice.md: a bad night in the practice account, with what each command really printed."""

import contextlib
import os
import shlex
import shutil
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from typer.testing import CliRunner

from trn.app import app

ROOT = Path(__file__).parent.parent.parent
_WIDTH = 160
"""Columns of a printed line, so that a table stays readable on the page."""


@dataclass(frozen=True)
class Step:
    """One command of the night."""

    why: str
    command: str
    code: int = 0
    """Exit code that it must end with."""
    shown: int = 12
    """Lines of its output that the page shows, from the end; the rest is counted."""


NIGHT = (
    Step("Bring the cluster up. In the middle of it the connection breaks: the fault kills the run while EKS makes the control plane.",
         "practice up dev --engine rehearsal --quiet --fault 'killed@Cluster/*'", 1),
    Step("The state now holds operations with an unknown outcome. `trn recover` looks in the account for what they made, and imports it.",
         "--practice recover dev --yes"),
    Step("Run `up` again: it goes on where the first run stopped.", "practice up dev --quiet"),
    Step("Is the cluster as it should be?", "--practice status dev", shown=20),
    Step("A training job takes all Neuron nodes.", "practice job dev bert"),
    Step("Somebody asks for a load balancer, which Pulumi does not know of.", "practice event dev load-balancer"),
    Step("Who holds which devices? No container runs, so nothing is computed.", "--practice top dev"),
    Step("It is late, and a colleague destroys the stack without a look: the job still mounts the file system.", "practice down dev --quiet", 1),
    Step("Drain first: it deletes what users started, in the right order.", "--practice drain dev --yes", shown=14),
    Step("Destroy the rest. `trn destroy` drains, destroys, and sweeps what is left.", "--practice destroy dev --yes"),
    Step("Nothing is left, and nothing bills.", "--practice sweep dev"),
)  # fmt: skip
_BEFORE = """# Practice

`trn practice up NAME` brings a stack up in a simulated account that is kept on disk, in `build/practice/NAME`. `trn --practice COMMAND` then runs
any other command against that account instead of AWS: the same code, the same plans and questions. No credentials are read, and nothing is sent
over the network. Each command says in a line of its output that it is practice.

Where the Pulumi CLI is on PATH, `up` and `down` run it, with simulated providers; `trn engine` works in the same account. Elsewhere the engine of
`trn rehearse` takes its place. `--engine` chooses; a stack stays with the engine that brought it up until it is down.

What practice cannot do: no container runs, so `trn verify` skips what starts pods, `trn shell` refuses, logs say only that nothing runs, and the
kubeconfig leads nowhere. One command at a time may use an account. A command that is stopped, by Ctrl-C or a kill, leaves the account as a stopped
command leaves AWS: `trn --practice recover NAME`, then go on. What `trn` prints names the commands that work here; what the Pulumi CLI and its
providers print names their own.

With `trn practice up NAME --kubernetes` the Kubernetes half is a real API server with fake nodes, on this machine:
[practice with a real API server](practice-kubernetes.md). It needs Go, or kind, k3d or kwokctl.

Each stack has an account of its own. What two stacks do to each other in one account of AWS (names of roles, quotas) is therefore not to be
seen in practice; that a sweep leaves neighbours alone is tested with accounts that hold both.

Each object is a file: delete one in `build/practice/NAME/account` to lose it, delete `build/practice/NAME` to begin again.
`trn practice export NAME` prints the state, for `trn --practice sweep --state`.

## A bad night

Made by `make docs`: every command below was run, and this is what it printed.
"""


def page() -> str:
    """The page. Raises AssertionError where a command ends with another exit code than the night expects."""
    return "\n".join([_BEFORE, *nights(1)[0]])


def nights(count: int) -> list[list[str]]:
    """What the page tells of each of several such nights in one folder. Raises as the page."""
    with tempfile.TemporaryDirectory(prefix="trn-") as folder, _project(Path(folder)):
        return [[_told(step) for step in NIGHT] for _ in range(count)]


def _told(step: Step) -> str:
    code, printed = run(step.command)
    assert code == step.code, f"trn {step.command} ended with {code}:\n{printed}"
    lines = [line.rstrip()[:_WIDTH] for line in printed.rstrip().splitlines()]
    left_out = len(lines) - step.shown
    shown = lines if left_out <= 1 else [lines[0], f"... {left_out} lines", *lines[-step.shown + 1 :]]
    return "\n".join([step.why, "", "```console", f"$ trn {step.command}", *shown, "```", ""])


def run(command: str) -> tuple[int, str]:
    """Run `trn` in this process; exit code and all that it printed."""
    result = CliRunner().invoke(app, shlex.split(command), catch_exceptions=False)
    return result.exit_code, result.output


@contextlib.contextmanager
def _project(folder: Path) -> Iterator[None]:
    """A copy of the project's own files, and the working folder in it."""
    for name in ("Pulumi.yaml", "Pulumi.dev.yaml", "__main__.py"):
        shutil.copy(ROOT / name, folder / name)
    before = Path.cwd()
    os.chdir(folder)
    try:
        yield
    finally:
        os.chdir(before)
