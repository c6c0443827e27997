"""One start of the demonstration's job: two workers behind the entry script, as in a pod."""

import os
import signal
import socket
import subprocess
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TextIO

from training import payload
from training.metrics_line import Event, Step, parse

STEPS, EVERY, KILLED_AFTER = 60, 20, 33
"""Steps of the training, steps between checkpoints, and the step after which a worker is killed."""
START = {"jax": "jax", "torch": "torchrun"}
"""How the entry script starts the workers of each framework."""


@dataclass(frozen=True)
class Run:
    """What one start of the job did."""

    losses: Mapping[int, float]
    """By step."""
    resumed_from: int | None
    code: int
    """Exit code of the entry script."""


def lay_out(folder: Path) -> None:
    """Puts the files into a folder that a pod has under /trn."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in payload.files("bert").items():
        (folder / name).write_text(text)


def run(python: Path, framework: str, scripts: Path, work: Path, name: str, kill: bool, show: Callable[[Step], None]) -> Run:
    """Starts the job once and follows it to its end; `work` has its checkpoints and logs.

    `kill`: send SIGKILL to a worker after step KILLED_AFTER.
    """
    environment = {
        **{key: value for key, value in os.environ.items() if not key.startswith(("TRN_", "PET_", "SLURM_", "OMPI_"))},
        "TRN_JOB": "train-demo",
        "TRN_NODES": "1",
        "TRN_WORKERS_PER_NODE": "2",
        "TRN_START": START[framework],
        "TRN_PORT": str(_free_port()),
        "TRN_CHECKPOINTS": str(work / "checkpoints"),
        "TRN_HEARTBEAT": str(work / "heartbeat"),
        "JAX_PLATFORMS": "cpu",
        # Two starts compile the same functions; on Trainium the compile cache of the job does this.
        "JAX_COMPILATION_CACHE_DIR": str(work.parent / "compiled"),
        "OMP_NUM_THREADS": "1",
    }
    command = [
        python,
        scripts / "entry.py",
        "--",
        python,
        scripts / "train.py",
        "--data",
        "generated",
        "--size",
        "tiny",
        "--steps",
        STEPS,
        "--checkpoint-steps",
        EVERY,
    ]
    losses, resumed, worker = dict[int, float](), None, 0
    work.mkdir(parents=True, exist_ok=True)
    with (
        (work / f"{name}.log").open("w") as log,
        (work / f"{name}.errors.log").open("w") as errors,
        _started(list(map(str, command)), environment, errors) as process,
    ):
        assert process.stdout is not None
        for line in process.stdout:
            log.write(line)
            said = parse(line)
            if isinstance(said, Event) and said.event == "started":
                worker = int(said.more["pid"])
            if isinstance(said, Event) and said.event == "resumed":
                resumed = said.step
            if isinstance(said, Step):
                losses[said.step] = said.loss
                show(said)
                if kill and said.step == KILLED_AFTER:
                    os.kill(worker, signal.SIGKILL)
        return Run(losses, resumed, process.wait())


@contextmanager
def _started(command: list[str], environment: Mapping[str, str], errors: TextIO) -> Iterator["subprocess.Popen[str]"]:
    """The entry script, in a process group of its own; whatever ends the block, nothing of the group is left."""
    process = subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=errors, text=True, start_new_session=True)
    try:
        yield process
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def _free_port() -> int:
    """A port that nothing listens on now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
