"""Starts and watches the workers of one node: `python3 entry.py -- COMMAND...`.

It finds where the node stands in the job (launcher_variables.py), starts the workers as torchrun, `jax.distributed` or TensorFlow expect
them (worker_commands.py), turns SIGTERM into a checkpoint, and keeps a heartbeat. Images differ, so the files of this folder need the
standard library of Python 3.9 or later and nothing else; they lie side by side under /trn. Before it starts anything it looks whether
the command's file is there (own_source.py): without it all nodes would wait for each other first.

Exit codes: that of the first worker that failed (128 + the signal for one that was killed); 75 when the workers saved a checkpoint
because they were asked to stop, or another node of the job is gone: start the job again and it resumes; 124 for a hung job; 127 when the
command's file is not there; 2 when the variables are wrong.
Environment of every pod: TRN_JOB, TRN_NODES, TRN_WORKERS_PER_NODE, TRN_CORES_PER_NODE (logical NeuronCores), TRN_START, TRN_PORT,
TRN_HEARTBEAT, TRN_RENDEZVOUS, TRN_ETCD_ENDPOINT; of launchers that do not say it themselves TRN_ADDRESS (of node 0) and TRN_NODE_RANK.
By keys of the job file TRN_SOURCE (folder of the image with the job's own files), TRN_HANG_AFTER_S (end a job that makes no step for so long; without it, never) and TRN_PARAMETER_SERVERS.
"""

from __future__ import annotations

import contextlib
import json
import math
import os
import signal
import subprocess
import sys
import threading
import time
from typing import Any, NamedTuple

import figures
import gang_id
from kept import Kept
from launcher_variables import EntryError, Place, read
from own_source import NO_FILE, SourceError, leave_message, missing_file, working_folder
from peers import Peers
from worker_commands import Process, Settings, plan, settings

STOPPED = 75
"""Stopped after a checkpoint, start again (sysexits.h, EX_TEMPFAIL)."""
HUNG = 124
POLL_S = 0.05
ABORT_S = 10
PATIENCE_S = 5
"""For workers to fail by themselves where a peer is gone, and to say why; most wait in a collective and never do."""
EXEC_TIMEOUT, EXEC_TIMEOUT_S, STEPS_PATIENT = "NEURON_RT_EXEC_TIMEOUT", 30, 4
"""The runtime's variable, its own value in seconds, and how many of the longest step it gets."""
RESOURCE_CONFIG = "/opt/ml/input/config/resourceconfig.json"
"""Where SageMaker describes the cluster to a container (SageMaker guide, how SageMaker provides training information)."""


def outcome(codes: list[int | None], saved: bool, told: bool, hung: bool) -> int:
    """Exit code of the node. `codes` of the processes, None for one that served; `saved`: a worker said it stopped after a checkpoint."""
    if hung:
        return HUNG
    failed = [code for code in codes if code not in (0, None, STOPPED)]
    # torchrun ends with 1 whatever its workers end with.
    if (saved and all(code == 1 for code in failed)) or (STOPPED in codes and not failed):
        return STOPPED
    if not failed:
        return 0
    code = 128 - failed[0] if failed[0] < 0 else failed[0]
    return 128 + signal.SIGTERM if told and code == 1 else code


class Others(NamedTuple):
    """What there is beside the processes of this start."""

    peers: Peers | None = None
    """The job's other nodes; None where there are none, or their launcher sees to them."""
    kept: Kept | None = None
    """What outlives the pod; None where the job has no place for it."""
    history: dict[str, Any] | None = None
    """What the starts before this one have done, on the first node."""


def others(place: Place, asked: Settings, checkpoints: str) -> Others:
    """Links this node to the job's others, and opens what is kept of it."""
    # mpirun and Ray see to their own workers.
    linked = place.node_count > 1 and place.worker is None and place.launcher != "ray"
    peers = Peers(asked.job, place.rank, place.node_count, place.address, place.port) if linked else None
    if not checkpoints or place.worker:
        return Others(peers)
    first = place.rank == 0
    return Others(peers, Kept(checkpoints, place.rank, first), figures.history(figures.read(checkpoints)) if first else None)


def exec_timeout(environment: dict[str, str], asked: Settings) -> dict[str, str]:
    """NEURON_RT_EXEC_TIMEOUT by the steps that were seen: a collective whose peer is gone ends in an error, and a long step does not.

    The runtime's own is 30 seconds (Neuron Runtime configuration, 2026-09-10), which stays for a job that has done no step, and for short
    ones. A step is one execution or several, so none takes longer.
    """
    seen = figures.longest_step_s(figures.read(environment.get("TRN_CHECKPOINTS", ""), figures.TAIL_BYTES)) if asked.cores else None
    if seen is None or EXEC_TIMEOUT in environment or seen * STEPS_PATIENT <= EXEC_TIMEOUT_S:
        return {}
    return {EXEC_TIMEOUT: str(math.ceil(seen * STEPS_PATIENT))}


class Node:
    """The processes of this node while they run."""

    def __init__(self, asked: Settings, processes: list[Process], about: dict[str, Any], others: Others) -> None:
        """Starts them. `about`: what every line of this script's own says."""
        self.asked, self.about, self.peers, self.kept, self.history = asked, about, others.peers, others.kept, others.history
        self.told = self.saved = self.hung = self.lost = False
        self.step: int | None = None
        self.moved = time.time()
        self.beaten = 0.0
        self.lock = threading.Lock()
        signal.signal(signal.SIGTERM, self.stop)
        signal.signal(signal.SIGINT, self.stop)
        self.say("starting", processes=len(processes))
        if self.kept is not None and self.kept.previous:
            self.say("previous", kept=False, lines=self.kept.previous)
        if self.history is not None:
            self.say("history", kept=False, **self.history)
        self.serves = [process.serves for process in processes]
        self.running = []
        for process in processes:
            self.running.append(subprocess.Popen(process.argv, env=dict(process.environment), stdout=subprocess.PIPE))
        self.readers = [threading.Thread(target=self.pass_on, args=(process,), daemon=True) for process in self.running]
        for reader in self.readers:
            reader.start()

    def write(self, line: bytes, kept: bool = True) -> None:
        """One whole line on standard output, which outlives the pod unless it is not to be `kept`."""
        with self.lock:
            sys.stdout.buffer.write(line)
            sys.stdout.buffer.flush()
        if kept and self.kept is not None:
            self.kept.take(line)

    def say(self, event: str, kept: bool = True, **more: Any) -> None:
        """A line of this script's own."""
        line = {"trn": "event", "event": event, "time": round(time.time(), 3), **self.about, **more}
        self.write(json.dumps(line).encode() + b"\n", kept)

    def pass_on(self, process: subprocess.Popen[bytes]) -> None:
        """Writes each line of a process on, and notes progress: steps, or any line until there is a step."""
        assert process.stdout is not None
        for line in process.stdout:
            self.write(line)
            said = figures.said_by(line)
            if said is not None:
                if said.get("trn") == "step" and self.history is not None:
                    self.compare(said)
                self.step = said.get("step", self.step)
                self.saved = self.saved or said.get("event") == "stopped"
            if said is not None or self.step is None:
                self.moved = time.time()

    def compare(self, first: dict[str, Any]) -> None:
        """Says, at the first step of this start, how many steps are done again."""
        assert self.history is not None
        reached, self.history = self.history["step"], None
        if type(first.get("step")) is int and first["step"] <= reached:
            self.say("lost", again=reached - first["step"] + 1, reached=reached)

    def stop(self, _number: int, _frame: object) -> None:
        """Notes that the node is to stop; `wait` acts on it, since a handler may not write."""
        self.told = True

    def send(self, number: int) -> None:
        """A signal to the workers: to torchrun's children and not to itself, which would end them after its own 30 seconds."""
        for process in self.running:
            if process.poll() is None:
                workers = children(process.pid) if self.asked.start == "torchrun" else []
                for pid in workers or [process.pid]:
                    with contextlib.suppress(ProcessLookupError):
                        os.kill(pid, number)

    def kill(self) -> None:
        """Ends what still runs."""
        self.send(signal.SIGKILL)
        for process in self.running:
            process.kill()

    def beat(self, state: str) -> None:
        """Writes the heartbeat file in one piece; its time is that of the last progress seen."""
        self.beaten = self.moved
        if self.asked.heartbeat:
            temporary = f"{self.asked.heartbeat}.{os.getpid()}"
            with open(temporary, "w") as file:
                json.dump({"time": round(self.moved, 3), "state": state, "step": self.step}, file)
            os.replace(temporary, self.asked.heartbeat)

    def wait(self) -> int:
        """Exit code of the node, when all of it has ended."""
        announced, patience = False, 0.0
        while True:
            codes = [process.poll() for process in self.running]
            working = [code for code, serves in zip(codes, self.serves) if not serves] or codes
            if any(code not in (None, 0, STOPPED) for code in codes) or None not in working:
                break
            if self.told and not announced:
                # A checkpoint is what they make of it. How long they may take is the launcher's grace period.
                announced = True
                self.say("stopping", step=self.step)
                self.send(signal.SIGTERM)
            if self.peers is not None and self.peers.gone >= 0 and not self.lost:
                self.lost, patience = True, time.time() + PATIENCE_S
                self.say("peer-lost", step=self.step, peer=self.peers.gone)
            if self.lost and time.time() > patience:
                break
            if self.moved > self.beaten:
                self.beat("stopping" if self.told else "running")
            if self.asked.hang_after_s and time.time() - self.moved > self.asked.hang_after_s:
                self.hung = True
                self.say("hung", step=self.step, seconds=round(time.time() - self.moved))
                self.send(signal.SIGABRT)  # each Python worker prints where its threads stand, which takes a moment
                until = time.time() + ABORT_S
                while time.time() < until and None in [process.poll() for process in self.running]:
                    time.sleep(POLL_S)
                break
            time.sleep(POLL_S)
        # The others would wait for ever for a worker that is gone; a parameter server never ends by itself.
        self.kill()
        for reader in self.readers:
            reader.join(timeout=10)
        ended = [process.wait() for process in self.running]
        failed: list[int | None] = [code for code in codes if code not in (None, 0, STOPPED)]
        code = outcome(failed or [None if serves else code for code, serves in zip(ended, self.serves)], self.saved, self.told, self.hung)
        if self.lost and code:
            code = STOPPED
        if self.peers is not None:
            self.peers.leave(well=code in (0, STOPPED) and not self.lost)
        self.say("ended", code=code, step=self.step)
        self.beat("ended")
        if self.kept is not None:
            self.kept.close()
        return code


def children(parent: int) -> list[int]:
    """Workers that a torchrun agent started; empty where /proc is missing."""
    found = []
    for name in os.listdir("/proc") if os.path.isdir("/proc") else []:
        if name.isdigit():
            try:
                with open(f"/proc/{name}/stat") as stat, open(f"/proc/{name}/environ", "rb") as environ:
                    # The command in brackets may contain blanks and brackets; state and parent come behind the last one.
                    if int(stat.read().rpartition(")")[2].split()[1]) == parent and b"\0LOCAL_RANK=" in b"\0" + environ.read():
                        found.append(int(name))
            except OSError:
                continue
    return found


def refused(why: str, code: int) -> int:
    """The exit code, after it is said why nothing starts: in the log, and in the status of the pod."""
    print(f"entry: {why}", file=sys.stderr)
    leave_message(why)
    return code


def main(arguments: list[str]) -> int:
    """Runs the node; returns its exit code."""
    if "--" not in arguments or not arguments[arguments.index("--") + 1 :]:
        print("usage: entry.py -- COMMAND...", file=sys.stderr)
        return 2
    environment = dict(os.environ)
    if os.path.exists(RESOURCE_CONFIG) and "SM_HOSTS" not in environment:
        with open(RESOURCE_CONFIG) as file:
            config = json.load(file)
        environment.update(SM_HOSTS=json.dumps(config["hosts"]), SM_CURRENT_HOST=config["current_host"])
    command = arguments[arguments.index("--") + 1 :]
    try:
        asked, place = settings(environment), read(environment)
        environment["TRN_SOURCE"] = folder = working_folder(environment, os.path.dirname(os.path.abspath(__file__)))
        if wrong := missing_file(command, folder):
            return refused(wrong, NO_FILE)
        if asked.rendezvous == "etcd" and asked.start == "torchrun":
            asked = asked._replace(run_id=gang_id.agree(asked.etcd, asked.job, place.rank, place.node_count))
        environment.update(exec_timeout(environment, asked))
        processes = plan(place, asked, command, environment, sys.executable)
    except (EntryError, SourceError) as error:
        return refused(str(error), 2)
    os.chdir(folder)
    about = {"job": asked.job, "launcher": place.launcher, "node": place.rank, "nodes": place.node_count, "start": asked.start}
    return Node(asked, processes, about, others(place, asked, environment.get("TRN_CHECKPOINTS", ""))).wait()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
