"""Figures of the project, printed; nothing here fails on time. `make bench`."""

import gzip
import json
import os
import platform
import resource
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from addons.registry import SWITCHED
from report.page import page_html
from report.timeline import timeline_svg
from simulator import bounds
from simulator.account.world import World
from simulator.comparisons import comparisons
from simulator.engine.crash import cases
from simulator.engine.run import Engine, Kill
from simulator.engine.schedule import run_destroy, run_up
from simulator.engine.state import State
from simulator.recorder.recorder import program_at, record
from simulator.recording import Recording
from simulator.rehearsal import Rehearsal, Stack, rehearse
from stacks.config import REHEARSAL_VARIABLE
from tests.frameworks.packer import packer
from tests.simulator.account.standing import recording
from tests.support import ROOT, dev_configuration, with_groups
from tests.trn.ending.random_accounts import RANDOM_ACCOUNTS, touched
from tests.trn.ending.stopped import Died, whole, wrong_after
from tests.trn.ending.story import Story, told
from tools.frameworks import interpreter, ready
from tools.train_demo.runs import START, lay_out, run
from training.check import problems
from training.launchers import launchers
from training.metrics_line import Event, parse
from trn.engine.job_site import site_of
from trn.engine.program import settings_of
from trn.engine.stack_file import as_pulumi, read_stack_file
from trn.jobs.rendering import read_job
from trn.jobs.watch.progress import read
from trn.rehearsal.chaos.runs import chaotic
from trn.rehearsal.crash.matrix import matrix

SEEDS, CHAOS_RUNS = 200, 500
EVERY = int(os.environ.get("EVERY", "1"))
"""Of the long loops only every so many cases: CI has no time for all."""
COMMANDS = ("sweep", "destroy", "drain")


def main() -> None:
    """Print all figures."""
    os.environ[REHEARSAL_VARIABLE] = "1"
    print(f"machine: {os.cpu_count()} cores, Python {platform.python_version()}")
    if EVERY > 1:
        print(f"of kill points, stops, chaos and random accounts every {EVERY}th only")
    _import_everything()
    before = _peak_mb()
    first, recording = _timed(lambda: _record(dev_configuration()))
    again, _ = _timed(lambda: _record(dev_configuration()))
    print(
        f"record dev stack: {first:.2f} s first, {again:.2f} s again, {_peak_mb() - before:.0f} MB beyond imports ({before:.0f} MB), {len(recording)} resources"
    )
    many, large = _timed(lambda: _record(with_groups(40)))
    print(f"record 40 node groups: {many:.2f} s, {len(large)} resources")
    rehearsed, _ = _timed(lambda: _life(recording, 0))
    print(f"schedule up and destroy: {1000 * rehearsed:.0f} ms")
    _growth()
    _against_the_bound(recording)
    _against_others(recording)
    killed, report = _timed(lambda: matrix("dev"))
    print(f"crash matrix of the dev stack: {killed:.1f} s, {report.converged} of {report.cases} kills converged")
    story, (points, empty) = _timed(_every_kill)
    print(f"killed anywhere, recovered, killed again, destroyed, swept: {points} kill points, {empty} ended empty, {story:.0f} s")
    broken, report = _timed(lambda: chaotic(CHAOS_RUNS // EVERY, 0))
    print(f"chaos: {broken:.0f} s, {report.ended_well} of {report.runs} runs ended well, {report.leftovers} things left behind")
    accounts = RANDOM_ACCOUNTS // EVERY
    neighbours, wrong = _timed(lambda: [what for seed in range(accounts) for what in touched(seed, COMMANDS[seed % len(COMMANDS)])[0]])
    print(f"sweep, destroy, drain in {accounts:,} random accounts: {len(wrong)} things of a neighbour touched, {neighbours:.0f} s")
    stopping, (stops, ended) = _timed(_every_stop)
    print(f"drain and destroy, Ctrl-C and death after every changing call: {ended} of {stops} ended as an unbroken run, {stopping:.0f} s")
    _packing()
    _training()
    sample = site_of(settings_of(read_stack_file("dev", ROOT)), "dev")
    job = read_job(ROOT / "docs/samples/jobs/bert.yaml")
    everywhere = replace(sample, addons=frozenset(SWITCHED))
    for launcher in launchers():
        asked = job.model_copy(update={"launcher": launcher.name})
        if problems(asked, everywhere):
            continue  # it has no nodes of its own on this stack
        rendering, _ = _timed(lambda launcher=launcher, asked=asked: [launcher.render(asked, everywhere) for _ in range(1000)])
        print(f"render 1,000 jobs by {launcher.name}: {rendering:.2f} s")
    commands = [
        ["trn", "--help"],
        ["python", "-c", "import kubernetes.client"],
        ["trn", "submit", "docs/samples/jobs/bert.yaml", "--dry-run"],
        ["trn", "rehearse", "dev", "--quiet", "--output", "build/bench"],
        ["trn", "rehearse", "change", "dev", "--set", "nodeGroups.trn1-32xl.size=4", "--output", "build/bench"],
    ]
    if shutil.which("pulumi"):
        engine = ["trn", "engine", "--folder", "build/bench/engine", "--"]
        commands += [[*engine, *step] for step in (["preview"], ["up", "--yes", "--skip-preview"], ["destroy", "--yes", "--skip-preview"])]
    for command in (["trn", "check", "nosuch"], ["trn", "why", "--bogus"], ["trn", "scale", "dev", "nosuch", "0"]):
        seconds, _ = _timed(lambda command=command: _run(command, code=2))
        print(f"{' '.join(command)}, refused: {seconds:.2f} s")
    for command in commands:
        seconds, _ = _timed(lambda command=command: _run(command))
        print(f"{' '.join(command)}: {seconds:.2f} s")


def _training() -> None:
    """What checkpoints, a kill and the start after it cost the tiny BERT: where a framework's environment was made before."""
    framework = next((name for name in START if ready(name, os.environ)), None)
    if framework is None:
        print("training: not measured, `make train-demo` makes the environment that it needs")
        return
    with TemporaryDirectory() as place:
        folder = Path(place)
        lay_out(folder / "trn")
        for name, kill in (("first", True), ("second", False)):
            run(interpreter(framework, os.environ), framework, folder / "trn", folder / "work", name, kill, lambda _: None)
        first, second = ((folder / "work" / f"{name}.log").read_text().splitlines() for name in ("first", "second"))
    print(f"training: BERT, tiny, {framework}, two workers: {restart_cost(first, second)}")


def restart_cost(first: list[str], second: list[str]) -> str:
    """Share of the steps' time that training waited for checkpoints, steps that a kill cost, and the time to the first step after it, from two logs."""
    events = [said for said in map(parse, second) if isinstance(said, Event)]
    progress = read(first)
    stalled = [float(said.more.get("stalled_s", 0)) for said in progress.events if said.event == "saved"]
    worked = sum(progress.intervals)
    lost = next((int(said.more["again"]) for said in events if said.event == "lost"), 0)
    began = min(said.time for said in events)
    again = min(step.time for step in read(second).steps if step.time >= began)
    share = sum(stalled) / worked if worked else 0.0
    return f"checkpoints stall {share:.1%} of the steps' time, a kill costs {lost} steps, the first step comes {again - began:.1f} s after the start"


def _packing() -> None:
    """Tokens that the packer writes in a second, of 8 MB of JSON lines: where PyTorch's environment was made before, which has the tokenizers library."""
    if not ready("torch", os.environ):
        print("packing: not measured, `make test-frameworks` makes the environment that has the tokenizers library")
        return
    with TemporaryDirectory() as place:
        folder = Path(place)
        for name in ("script", "text", "many"):
            (folder / name).mkdir()
        made = packer(interpreter("torch", os.environ), folder / "script", folder / "text")
        texts = json.loads((made.text / "texts.json").read_text())
        with (folder / "many" / "a.jsonl").open("w") as file:
            for number in range(8_000_000 // sum(map(len, texts))):
                file.writelines(json.dumps({"text": f"{number} {text}"}) + "\n" for text in texts)
        for tokenizer in ("wordpiece", "pairs"):
            asked = {
                "options": {},
                "from": str(folder / "many"),
                "tokenizer": {"name": tokenizer, "path": str(made.text / f"{tokenizer}.json")},
            }
            (folder / "request.json.gz").write_bytes(gzip.compress(json.dumps(asked).encode()))
            words = [
                str(made.python),
                str(made.place / "pack.py"),
                "--request",
                str(folder / "request.json.gz"),
                "--into",
                str(folder / tokenizer),
            ]
            done = subprocess.run(words, capture_output=True, text=True, check=True)
            said = json.loads(done.stdout.splitlines()[-1])
            print(f"pack 8 MB of text by a {tokenizer} tokenizer: {said['tokens_per_s']:,} tokens per second on {os.cpu_count()} cores")


def _record(configuration: dict[str, Any]) -> Recording:
    return record(program_at(ROOT), project="trn", stack="bench", configuration=as_pulumi(configuration))


def _growth() -> None:
    """Rehearsals of larger and larger stacks: time, and memory beyond what there was; and what a resource costs in a small and a large one."""
    each: dict[int, float] = {}
    for groups in (20, 60, 170, 400, 1000):
        before = _peak_mb()
        seconds, made = _timed(lambda groups=groups: _rehearsed(groups))
        count = made.report.program.resources
        each[groups] = 1000 * seconds / count
        print(f"rehearse {groups} node groups, {count} resources: {seconds:.1f} s, peak {_peak_mb() - before:.0f} MB more")
    print(f"per resource: {each[60]:.2f} ms of 60 node groups, {each[1000]:.2f} ms of 1,000, ratio {each[1000] / each[60]:.2f}")


def _rehearsed(groups: int) -> Rehearsal:
    """A rehearsal and its files, as `trn rehearse` makes them."""
    made = rehearse(_stack(with_groups(groups, "trn1.2xlarge")))
    assert all((made.report.as_json(), timeline_svg(made.report), page_html(made.report, made.recording)))
    return made


def _stack(configuration: dict[str, Any]) -> Stack:
    return Stack(program_at(ROOT), "trn", "bench", as_pulumi(configuration))


def _against_others(recording: Recording) -> None:
    """The same cluster, with the same latencies, in the order that others make it."""
    ours = sorted(run_up(recording, World(), seed=seed).seconds for seed in range(SEEDS))[SEEDS // 2]
    print(f"time to ready, median of {SEEDS} seeds: ours {ours / 60:.1f} min")
    for other in comparisons():
        theirs = sorted(other.seconds(recording, seed) for seed in range(SEEDS))[SEEDS // 2]
        print(f"  {other.name}: {theirs / 60:.1f} min, {100 * (theirs / ours - 1):+.0f} %")


def _against_the_bound(recording: Recording) -> None:
    lives = [_life(recording, seed) for seed in range(SEEDS)]
    over = sorted(100 * (up / bounds.lower_bound_s(recording, seed) - 1) for seed, (up, _) in enumerate(lives))
    ready, gone = sorted(up for up, _ in lives), sorted(down for _, down in lives)
    print(f"time to ready over the lower bound, {SEEDS} seeds: median {over[SEEDS // 2]:.1f} %, largest {over[-1]:.1f} %")
    print(f"time to ready, {SEEDS} seeds: {ready[0] / 60:.1f} to {ready[-1] / 60:.1f} min, median {ready[SEEDS // 2] / 60:.1f}")
    print(f"time to destroy, {SEEDS} seeds: {gone[0] / 60:.1f} to {gone[-1] / 60:.1f} min, median {gone[SEEDS // 2] / 60:.1f}")


def _life(recording: Recording, seed: int) -> tuple[float, float]:
    """Virtual seconds of up and of destroy, in one account."""
    world = World()
    up = run_up(recording, world, seed=seed).seconds
    return up, run_destroy(recording, world, seed=seed).seconds


def _every_kill() -> tuple[int, int]:
    """Kill points of the shipped stack, and after how many of them nothing of ours was left, and all of the neighbours'."""
    stack, points = recording(), cases(recording())[::EVERY]
    standing = Engine(World(), State())
    standing.up(stack)
    empty = 0
    for seed, case in enumerate(points):
        engine = standing.copy() if case.operation == "delete" else Engine(World(), State())
        try:
            left = told(Story(stack, "trainium-dev", "us-west-2", engine), Kill(case.urn, case.operation, case.at), seed)
        except AssertionError as error:
            left = [str(error)]
        empty += not left
        if left:
            print(f"  {case}: {left[0]}")
    return len(points), empty


def _every_stop() -> tuple[int, int]:
    """Runs of drain and destroy that were stopped, and after how many of them the next run ended as one that nothing stops."""
    stops = ended = 0
    for command in ("drain", "destroy"):
        for number in range(1, whole(command)[0] + 1, EVERY):
            for error in (KeyboardInterrupt, Died):
                wrong = list(wrong_after(command, number, error))
                stops, ended = stops + 1, ended + (not wrong)
                if wrong:
                    print(f"  {command}, call {number}, {error.__name__}: {wrong[0]}")
    return stops, ended


def _import_everything() -> None:
    import pulumi_aws
    import pulumi_eks
    import pulumi_kubernetes

    # Submodules load on first use of an attribute.
    loaded: list[Any] = [
        pulumi_aws.ec2.Vpc,
        pulumi_aws.eks.NodeGroup,
        pulumi_aws.iam.Role,
        pulumi_aws.fsx.LustreFileSystem,
        pulumi_aws.kms.Key,
    ]
    loaded += [pulumi_aws.vpc.SecurityGroupIngressRule, pulumi_aws.cloudwatch.LogGroup, pulumi_aws.autoscaling.Tag, pulumi_eks.Cluster]
    loaded += [pulumi_kubernetes.helm.v3.Release, pulumi_kubernetes.core.v1.Service, pulumi_kubernetes.apps.v1.StatefulSet]
    loaded += [pulumi_kubernetes.storage.v1.StorageClass, pulumi_kubernetes.apiextensions.CustomResource]
    assert all(loaded)


def _timed(work: Callable[[], Any]) -> tuple[float, Any]:
    start = time.perf_counter()
    result = work()
    return time.perf_counter() - start, result


def _run(command: list[str], code: int = 0) -> None:
    path = os.path.join(os.path.dirname(sys.executable), command[0])
    done = subprocess.run([path, *command[1:]], cwd=ROOT, check=False, capture_output=True)
    assert done.returncode == code, done.stderr


def _peak_mb() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


if __name__ == "__main__":
    main()
