"""Jobs as they run in pods, as processes of this machine: the entry script, the recipe's files beside it, and the variables of a pod."""

import os
import random
import signal
import socket
import subprocess
import threading
import time
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path

from training import payload
from training.metrics_line import Event, Step, parse
from trn.jobs.data.safety import saves

LIMIT_S = 900
"""A start that takes longer hangs. Most take 5 to 20 s on a machine that does nothing else; Ray's took 160 s on one with a load of 18."""
PORTS = range(-2, 8)
"""What a job may listen on, counted from TRN_PORT: two below for the link to the other nodes, one for a repair of the cache, one for each TensorFlow worker above."""
FAKE_CORE = Path(__file__).with_name("fake_core.py")
_OTHERS = ("TRN_", "PET_", "SLURM_", "OMPI_", "VC_", "JAX_", "PYTHON")


@dataclass
class Node:
    """One running entry script."""

    process: subprocess.Popen[str]
    lines: list[str] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)
    changed: threading.Condition = field(default_factory=threading.Condition)

    def __post_init__(self) -> None:
        self.readers = [
            threading.Thread(target=self._read, args=(stream, kept), daemon=True)
            for stream, kept in ((self.process.stdout, self.lines), (self.process.stderr, self.errors))
        ]
        for reader in self.readers:
            reader.start()

    def _read(self, stream, kept: list[str]) -> None:
        with stream:
            for line in stream:
                with self.changed:
                    kept.append(line)
                    self.changed.notify_all()

    def said(self) -> list[Step | Event]:
        """Lines of progress so far."""
        return [found for found in map(parse, list(self.lines)) if found is not None]

    @property
    def losses(self) -> dict[int, float]:
        """By step, so far."""
        return {said.step: said.loss for said in self.said() if isinstance(said, Step)}

    def checkpoints(self) -> list[int]:
        """Steps of the checkpoints as `trn data status` knows them from the log. Those that are still there have the bytes that were said."""
        found = saves(list(self.lines))
        for one in found:
            path = Path(one.path)
            files = [each for each in (path, *path.rglob("*"), *path.parent.glob(f"{path.name}.*")) if each.is_file()]
            assert one.size > 0, one
            assert sum(each.stat().st_size for each in files) in (one.size, 0 if one is not found[-1] else one.size), one
        return [one.step for one in found]

    def event(self, name: str) -> Event:
        """The last event of a name so far, which must be there."""
        found = next((said for said in reversed(self.said()) if isinstance(said, Event) and said.event == name), None)
        assert found is not None, f"no {name}: {self.story()}"
        return found

    def after(self, step: int, saved: int = 0) -> Event:
        """Waits for a step, and for a checkpoint to be on disk, which is written beside the steps; gives the event with which training started."""
        until = time.monotonic() + LIMIT_S

        def there() -> bool:
            kept = {said.step for said in self.said() if isinstance(said, Event) and said.event == "saved"}
            return step in self.losses and (not saved or saved in kept)

        with self.changed:
            # The end of the process is no line: it is looked for now and then.
            while not there() and self.process.poll() is None and time.monotonic() < until:
                self.changed.wait(1)
        assert step in self.losses, f"no step {step}: {self.story()}"
        return self.event("started")

    def end(self) -> int:
        """Waits for the end; gives the exit code."""
        try:
            code = self.process.wait(LIMIT_S)
        except subprocess.TimeoutExpired:
            self.process.send_signal(signal.SIGTERM)
            raise AssertionError(f"not ended within {LIMIT_S} s: {self.story()}") from None
        for reader in self.readers:
            reader.join(10)
        return code

    def story(self) -> str:
        """What it wrote at the end, for a test that fails."""
        return "".join([*self.lines[-20:], "--- errors ---\n", *self.errors[-40:]])


@dataclass(frozen=True)
class Job:
    """One job: its recipe, its environment, and where it leaves its files."""

    python: Path
    folder: Path
    recipe: str
    start: str
    """How the entry script starts the workers."""
    workers: int = 2
    nodes: int = 1
    variables: tuple[tuple[str, str], ...] = ()
    on_fake_core: bool = False
    """Whether workers run on a device that refuses what Neuron refuses (fake_core.py)."""

    def lay_out(self) -> Path:
        """Writes the files that the pod has under /trn; gives their folder."""
        scripts = self.folder / "trn"
        scripts.mkdir(parents=True, exist_ok=True)
        for name, text in payload.files(self.recipe).items():
            (scripts / name).write_text(text)
        return scripts

    def launch(self, *arguments: object) -> list[Node]:
        """Starts the entry script of each node, all on this machine."""
        scripts = self.lay_out()
        common = {name: value for name, value in os.environ.items() if not name.startswith(_OTHERS)} | {
            "TRN_JOB": self.recipe,
            "TRN_NODES": str(self.nodes),
            "TRN_WORKERS_PER_NODE": str(self.workers),
            "TRN_START": self.start,
            "TRN_PORT": str(free_port()),
            "TRN_ADDRESS": "127.0.0.1",
            "TRN_CHECKPOINTS": str(self.folder / "checkpoints"),
            "JAX_PLATFORMS": "cpu",
            "OMP_NUM_THREADS": "1",
            **dict(self.variables),
        }
        command = [str(self.python), str(scripts / "entry.py"), "--", str(self.python)]
        command += [*([str(FAKE_CORE)] if self.on_fake_core else []), str(scripts / "train.py"), *map(str, arguments)]
        nodes = []
        for rank in range(self.nodes):
            environment = {**common, "TRN_NODE_RANK": str(rank), "TRN_HEARTBEAT": str(self.folder / f"heartbeat-{rank}")}
            nodes.append(Node(subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)))
        return nodes

    def run(self, *arguments: object) -> Node:
        """Runs the job to its end, which must be a good one; gives its first node."""
        nodes = self.launch(*arguments)
        for node in nodes:
            code = node.end()
            assert code == 0, f"exit code {code}: {node.story()}"
        return nodes[0]


def free_port() -> int:
    """A port with free neighbours, below those that the kernel draws for connections: one of these may be taken between this look and the job's own."""
    while True:
        first = random.SystemRandom().randrange(20_000, 30_000)
        with ExitStack() as held:
            try:
                for offset in PORTS:
                    held.enter_context(socket.socket()).bind(("0.0.0.0", first + offset))
            except OSError:
                continue
            return first
