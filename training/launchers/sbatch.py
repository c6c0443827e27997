"""A job as a script for sbatch: one task for each node, which is the entry script. It carries its files, so that nothing else is needed.

Options as in SchedMD's manual pages of sbatch, srun, sbcast and scontrol, Slurm 26.05.
"""

import shlex
from collections.abc import Mapping, Sequence
from typing import Any

from training.duration import seconds
from training.environment import HEARTBEAT_VARIABLE, environment
from training.job import RESUME_EXIT_CODE
from training.payload import ENTRY_SCRIPT, job_files
from training.phase import Phase
from training.plan import SCRIPTS, Plan

END_OF_FILE = "TRN_END_OF_FILE"
SIGNAL_SLACK_S = 60
"""Slurm may send the signal before the time limit as much earlier (sbatch manual, --signal)."""
PHASES = {
    "PENDING": Phase.WAITING, "CONFIGURING": Phase.WAITING, "REQUEUED": Phase.RESTARTING, "REQUEUE_HOLD": Phase.STOPPED, "RUNNING": Phase.RUNNING,
    "COMPLETING": Phase.STOPPING, "COMPLETED": Phase.SUCCEEDED, "CANCELLED": Phase.STOPPED, "SUSPENDED": Phase.STOPPED, "PREEMPTED": Phase.STOPPED,
    "FAILED": Phase.FAILED, "TIMEOUT": Phase.FAILED, "DEADLINE": Phase.FAILED, "NODE_FAIL": Phase.FAILED, "BOOT_FAIL": Phase.FAILED,
    "OUT_OF_MEMORY": Phase.FAILED,
}  # fmt: skip
"""By job state (squeue manual, job state codes)."""


def script(plan: Plan, about: str, options: Mapping[str, str | None]) -> str:
    """The whole script. `about`: its first comment; `options`: further ones of sbatch, with None for those without a value."""
    job = plan.job
    limit_s = seconds(job.time_limit) if job.time_limit is not None else None
    grace_s = seconds(job.grace)
    folder = next((mount.path for mount in plan.mounts if not mount.read_only), None)
    all_options: dict[str, str | None] = {
        "job-name": job.name,
        "nodes": str(job.nodes),
        "ntasks-per-node": "1",
        "exclusive": None,
        "mem": "0",
        **options,
        **({"time": str(-(-limit_s // 60)), "signal": f"TERM@{grace_s}"} if limit_s is not None else {}),
        **({"requeue": None} if job.restarts.max else {"no-requeue": None}),
        "open-mode": "append",
        "output": f"{folder}/%x-%j.log" if folder else "%x-%j.log",
    }
    lines = [
        "#!/bin/bash",
        f"# {about}",
        *(f"#SBATCH --{name}" + (f"={value}" if value is not None else "") for name, value in all_options.items()),
        "set -eu",
        "",
        *(f"export {name}={shlex.quote(value)}" for name, value in environment(plan).items() if name != HEARTBEAT_VARIABLE),
        "# This runs on the first node, which is where the others meet.",
        "TRN_ADDRESS=$(hostname -i)",
        "export TRN_ADDRESS=${TRN_ADDRESS%% *}",
        "",
        "# /tmp is the node's, with what other users' jobs left there.",
        "files=/tmp/trn-$SLURM_JOB_ID",
        f'export {HEARTBEAT_VARIABLE}="$files.heartbeat"',
        'mkdir -p "$files"',
        *(line for name, text in job_files(job.recipe, plan.site.source).items() for line in _written(name, text)),
        'tar -C "$files" -cf "$files.tar" .',
        # To another name: on this node the copy would otherwise be written over what is read.
        'sbcast --force "$files.tar" "$files.copy.tar"',
        """srun sh -c 'mkdir -p "$1" && tar -C "$1" -xf "$1.copy.tar"' unpack "$files\"""",
        "",
        "code=0",
        f'srun --kill-on-bad-exit=1 python3 "$files/{ENTRY_SCRIPT}" -- {_command(plan.command)} || code=$?',
        *(_again(plan, limit_s, grace_s) if job.restarts.max else ()),
        'exit "$code"',
    ]
    return "\n".join(lines) + "\n"


def _written(name: str, text: str) -> list[str]:
    """Lines that write one file."""
    assert END_OF_FILE not in text, name
    return [f"cat >\"$files/{name}\" <<'{END_OF_FILE}'", *text.removesuffix("\n").split("\n"), END_OF_FILE]


def _command(command: Sequence[str]) -> str:
    """The workers' command; scripts that pods have under /trn are in the job's own folder."""
    own = f"{SCRIPTS}/"
    return " ".join(f'"$files"/{shlex.quote(word.removeprefix(own))}' if word.startswith(own) else shlex.quote(word) for word in command)


def _again(plan: Plan, limit_s: int | None, grace_s: int) -> list[str]:
    """Lines that put the job back into its queue: not for a time limit that has passed, nor for an exit code that ends it."""
    restarts = plan.job.restarts
    tests = ['"$code" -ne 0', f'"${{SLURM_RESTART_COUNT:-0}}" -lt {restarts.max}']
    if limit_s is not None:
        tests.append(f'"$SECONDS" -lt {max(0, limit_s - grace_s - SIGNAL_SLACK_S)}')
    codes = " ".join(map(str, sorted({RESUME_EXIT_CODE, *restarts.exit_codes}))) if restarts.exit_codes else ""
    also = f" && [[ ' {codes} ' == *\" $code \"* ]]" if codes else ""
    return [f"if {' && '.join(f'[ {test} ]' for test in tests)}{also}; then", '    scontrol requeue "$SLURM_JOB_ID"', "fi"]


def phase(status: Any) -> Phase:
    """State of a job as `squeue --json` or `scontrol show job --json` has it."""
    states = (status or {}).get("job_state") or []
    return next((PHASES[state] for state in ([states] if isinstance(states, str) else states) if state in PHASES), Phase.WAITING)
